package net2net

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"graft/model"
)

// Fate is what became of a tensor.
type Fate string

// The fates.
const (
	Kept    Fate = "kept"    // the same tensor, perhaps under another name
	Copied  Fate = "copied"  // some of its channels are there more than once
	Split   Fate = "split"   // channels that it sums over share what one had
	Merged  Fate = "merged"  // copies became one again
	Padded  Fate = "padded"  // zeros were put around its kernel
	Cropped Fate = "cropped" // they were taken off
	New     Fate = "new"
)

// Move is where a tensor comes from.
type Move struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"` // its name before; empty where it is new
	Fate Fate   `json:"fate"`
	// How a new tensor began: identity, zero, random, calibrated or plain.
	How string `json:"how,omitempty"`
	// Donor is the tensor before whose pace of learning a new one takes over;
	// empty where none is alike.
	Donor string `json:"donor,omitempty"`
	// Rows and Columns are, for each channel of the wider tensor, its channel in
	// the narrower one; nil where the dimension did not change.
	Rows    []int  `json:"rows,omitempty"`
	Columns []int  `json:"columns,omitempty"`
	Pad     [2]int `json:"pad,omitzero"` // pixels put on each side, height and width
}

// Insertion is where a grown block went.
type Insertion struct {
	Parent string `json:"parent"` // path of the container
	Child  string `json:"child"`  // its child that was wrapped, or the new child's name
	// Wrapped says that the child became a sequence of itself and the new block;
	// otherwise the new block was listed behind it.
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
	// Moves has an entry for every tensor after the change, in the order of the
	// state dict; Gone names those before it that are left out.
	Moves []Move   `json:"moves"`
	Gone  []string `json:"gone,omitempty"`
	// Units is, for each unit of a widened space, the one that it is a copy of.
	Units  []int      `json:"units,omitempty"`
	Insert *Insertion `json:"insert,omitempty"`
	Pad    [2]int     `json:"pad,omitzero"`
	// Calibration is the mean and the variance that a new batch normalisation was
	// given, once Remember has fetched them.
	Calibration *Calibration `json:"calibration,omitempty"`
	Notes       []string     `json:"notes,omitempty"` // what a person should know
}

// Calibration is the statistics of a batch, for each channel.
type Calibration struct {
	Path string    `json:"path"` // of the normalisation
	Mean []float64 `json:"mean,omitempty"`
	Var  []float64 `json:"var,omitempty"`
}

// Fingerprint tells architectures apart: two networks with the same one have the
// same layers under the same names.
func Fingerprint(n *model.Network) string {
	sum := sha256.Sum256([]byte(n.Input.String() + "\n" + n.String()))
	return hex.EncodeToString(sum[:8])
}

// grew says whether the operation did anything.
func (c *Change) grew() bool { return c.Before != c.After }

// expect is an error where a network is not the one that a record speaks of.
func expect(n *model.Network, want, record string) error {
	if got := Fingerprint(n); got != want {
		return fmt.Errorf("this %s is not the network that the record of %s speaks of: its fingerprint is %s, not %s", n.Name(), record, got, want)
	}
	return nil
}
