package net2net

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"graft/model"
	"graft/net2net/rewrite"
)

// Fate is the effect of a change on a tensor.
type Fate string

// The fates.
const (
	Kept    Fate = "kept"    // the same tensor, possibly under another name
	Copied  Fate = "copied"  // some of its channels are copied
	Split   Fate = "split"   // the weights of copied inputs are divided among them
	Merged  Fate = "merged"  // copies are merged
	Padded  Fate = "padded"  // zeros are added around its kernel
	Cropped Fate = "cropped" // its border is removed
	New     Fate = "new"
)

// Move is the origin of a tensor.
type Move struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"` // its name before the change; empty for a new tensor
	Fate Fate   `json:"fate"`
	// How a new tensor was initialised: identity, zero, random, calibrated or plain.
	How string `json:"how,omitempty"`
	// Donor is the earlier tensor that provides a new tensor's second moment; empty if no tensor is similar.
	Donor string `json:"donor,omitempty"`
	// Rows and Columns map each channel of the wider tensor to its channel in the narrower one; nil if the dimension
	// did not change.
	Rows    []int  `json:"rows,omitempty"`
	Columns []int  `json:"columns,omitempty"`
	Pad     [2]int `json:"pad,omitzero"` // pixels added on each side, height and width
}

// Insertion is the place of a grown block.
type Insertion struct {
	Parent string `json:"parent"` // path of the container
	Child  string `json:"child"`  // the child that was wrapped, or the name of the new child
	// Wrapped means that the child became a sequence of itself and the new block;
	// otherwise the new block is listed after it.
	Wrapped bool `json:"wrapped"`
}

// Change is the record of one operation.
type Change struct {
	Action Action  `json:"action"`
	Seed   uint64  `json:"seed,omitempty"`
	Noise  float64 `json:"noise,omitempty"`
	Compat Compat  `json:"compat,omitempty"`
	Form   Form    `json:"form,omitempty"`
	// Before and After are the networks' fingerprints.
	Before string `json:"before"`
	After  string `json:"after"`
	// Moves has an entry for every tensor after the change, in the order of the state
	// dict; Gone names the tensors that were removed.
	Moves []Move   `json:"moves"`
	Gone  []string `json:"gone,omitempty"`
	// Units maps each unit of a widened space to its original unit.
	Units  []int      `json:"units,omitempty"`
	Insert *Insertion `json:"insert,omitempty"`
	Pad    [2]int     `json:"pad,omitzero"`
	// Calibration holds the mean and variance of new batch normalisations, after
	// Remember.
	Calibration *Calibration `json:"calibration,omitempty"`
	Notes       []string     `json:"notes,omitempty"` // remarks for people
	// Equal and Graph describe a change of a network that runs as a graph: whether copies have equal shares, and the
	// plan.
	Equal bool          `json:"equal,omitempty"`
	Graph *rewrite.Plan `json:"graph,omitempty"`
}

// Calibration holds the statistics of a batch, per channel.
type Calibration struct {
	Path string    `json:"path"` // path of the normalisation
	Mean []float64 `json:"mean,omitempty"`
	Var  []float64 `json:"var,omitempty"`
}

// Fingerprint identifies an architecture: two networks with the same fingerprint have the
// same layers under the same names.
func Fingerprint(n *model.Network) string {
	sum := sha256.Sum256([]byte(n.Input.String() + "\n" + n.String() + n.GraphText()))
	return hex.EncodeToString(sum[:8])
}

// grew reports whether the operation changed anything.
func (c *Change) grew() bool { return c.Before != c.After }

// expect returns an error if a network does not match the record.
func expect(n *model.Network, want, record string) error {
	if got := Fingerprint(n); got != want {
		return fmt.Errorf("this %s does not match the record of %s: fingerprint %s, expected %s", n.Name(),
			record, got, want)
	}
	return nil
}
