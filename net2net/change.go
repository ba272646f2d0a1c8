package net2net

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"graft/model"
	"graft/net2net/rewrite"
)

// Fate names the effect of a change on a tensor.
type Fate string

// Effects of a change on a tensor.
const (
	Kept    Fate = "kept"    // the tensor is the same, possibly under another name
	Copied  Fate = "copied"  // some channels of the tensor are copied
	Split   Fate = "split"   // the weights of copied inputs are divided among the copies
	Merged  Fate = "merged"  // copies are merged
	Padded  Fate = "padded"  // zeros are added around the kernel
	Cropped Fate = "cropped" // the border of the kernel is removed
	New     Fate = "new"
)

// Move describes a tensor of the changed network and the tensor from which it was made.
type Move struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"` // name of the tensor before the change; empty for a new tensor
	Fate Fate   `json:"fate"`
	// How names the initialisation of a new tensor: identity, zero, random, calibrated or plain.
	How string `json:"how,omitempty"`
	// Donor is the name of the existing tensor from which a new tensor takes the optimizer's second moment; empty if no
	// tensor is similar.
	Donor string `json:"donor,omitempty"`
	// Rows and Columns map each channel of the wider tensor to its channel in the narrower tensor; nil if the dimension
	// did not change.
	Rows    []int `json:"rows,omitempty"`
	Columns []int `json:"columns,omitempty"`
	// Partition reports that each weight of the columns went to one copy; see [SplitPartition]. In a graph, the plan
	// states it instead.
	Partition bool `json:"partition,omitempty"`
	// Added holds the weights of new units, which are added to their slices. New units have the index -1 in Rows and
	// Columns.
	Added []rewrite.Added `json:"added,omitempty"`
	Pad   [2]int          `json:"pad,omitzero"` // pixels added on each side, height and width
}

// Insertion describes the place of a new block.
type Insertion struct {
	Parent string `json:"parent"` // path of the container that has the block
	Child  string `json:"child"`  // name of the child that was wrapped, or of the new child
	// Wrapped reports whether the child was replaced by a sequence of itself and the new block. If Wrapped is false,
	// the new block is a separate child after the existing child.
	Wrapped bool `json:"wrapped"`
}

// Change records a surgery operation, so that it can be replayed or reverted.
type Change struct {
	Action Action  `json:"action"`
	Seed   uint64  `json:"seed,omitempty"`
	Noise  float64 `json:"noise,omitempty"`
	// Split is the rule of a widening for copies; empty for other changes, and if new units are not copies.
	Split  SplitRule `json:"split,omitempty"`
	Compat Compat    `json:"compat,omitempty"`
	Form   Form      `json:"form,omitempty"`
	// Start is the start of new units, and Amplitude their size; see Options.
	Start     Start   `json:"start,omitempty"`
	Amplitude float64 `json:"amplitude,omitempty"`
	// Before and After are the fingerprints of the network before and after the change.
	Before string `json:"before"`
	After  string `json:"after"`
	// Moves describes the origin of every tensor of the changed network, in the order of the state dict. Gone names the
	// tensors that were removed.
	Moves []Move   `json:"moves"`
	Gone  []string `json:"gone,omitempty"`
	// Units holds, for each unit after widening, the index of the original unit that it copies, or -1 for a new unit.
	Units  []int      `json:"units,omitempty"`
	Insert *Insertion `json:"insert,omitempty"`
	Pad    [2]int     `json:"pad,omitzero"`
	// Calibration holds the mean and variance of new batch normalisations. Remember sets this field.
	Calibration *Calibration `json:"calibration,omitempty"`
	Notes       []string     `json:"notes,omitempty"` // remarks to display
	// Equal reports equal shares in records of earlier versions, which lack Split.
	Equal bool `json:"equal,omitempty"`
	// Graph is the plan of a change of a network that runs as a graph.
	Graph *rewrite.Plan `json:"graph,omitempty"`
}

// Calibration holds the statistics of a batch, per channel, for a batch normalisation.
type Calibration struct {
	Path string    `json:"path"` // path of the batch normalisation
	Mean []float64 `json:"mean,omitempty"`
	Var  []float64 `json:"var,omitempty"`
}

// Fingerprint returns a digest of an architecture: two networks with the same fingerprint have the same layers and
// tensors with the same names and sizes.
func Fingerprint(n *model.Network) string {
	return digest(n, n.GraphText()+strings.Join(n.Unprinted(), "\n"))
}

func digest(n *model.Network, text string) string {
	sum := sha256.Sum256([]byte(n.Input.String() + "\n" + n.String() + text))
	return hex.EncodeToString(sum[:8])
}

// grew reports whether the operation changed anything.
func (c *Change) grew() bool { return c.Before != c.After || c.Graph != nil }

// expect returns an error if a network does not match the record. Records of earlier versions have fingerprints without
// the sizes of tensors that the network does not print.
func expect(n *model.Network, want, record string) error {
	got := Fingerprint(n)
	if got == want || digest(n, n.GraphText()) == want {
		return nil
	}
	return fmt.Errorf("the network %s does not match the record of %s: the network's fingerprint is %s, expected %s",
		n.Name(), record, got, want)
}
