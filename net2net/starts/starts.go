// Package starts computes the first weights of the new units of a wider layer: singular vectors of a gradient, selected
// candidates, or a least-squares fit. Each start is a file that cites its source, and a line in the list of kinds.
//
// # Design
//
// All starts work on a [Segment]: a producing layer, which computes the units, layers that work on each unit alone, and
// a consuming layer, which sums over the units. A segment holds the input of the producing layer and the gradient of
// the loss at the output of the consuming layer, both on one batch of training data. All statistics follow from the
// two: the gradient of the loss with respect to the outgoing weights of any candidate unit is a sum of products of the
// candidate's activations and that gradient.
//
// For convolutions, the segment runs the candidates themselves. Borders, strides and pools therefore count exactly. The
// inputs of a linear unit are the patches that the producing layer reads, one input for each channel and tap.
//
// A batch normalisation between the layers is an identity for new units: its scale and bias undo the statistics of the
// batch. The starts therefore ignore it.
package starts

import (
	"graft/internal/registry"
	"graft/torch"
)

// Kind is a way in which new units start.
type Kind struct {
	name, about string
	// start computes the weights of a number of new units; nil for copies, which need no gradient
	start func(s *torch.Scope, g *Segment, r Request) (*Units, error)
}

// Copies is the name of the default kind, which copies existing units.
const Copies = "copies"

// Kinds lists all kinds of starts. A new kind is a new file and a line here.
func Kinds() registry.List[Kind] {
	return registry.List[Kind]{
		{Copies, "new units are copies of existing units, which share their outgoing weights (Net2Net)", nil},
		gradMax, firefly, tiny,
	}
}

// Listing returns the name and the one-line description.
func (k Kind) Listing() (name, about string) { return k.name, k.about }

// NeedsData reports whether the kind needs a batch of training data and its loss.
func (k Kind) NeedsData() bool { return k.start != nil }

// Start computes the weights of new units. Only kinds that are NeedsData have a start.
func (k Kind) Start(s *torch.Scope, g *Segment, r Request) (*Units, error) { return k.start(s, g, r) }

// Request describes the new units.
type Request struct {
	Count     int     // number of new units; at least 1
	Amplitude float64 // size of the new weights; zero is the default of the kind
	Seed      uint64  // seed of random candidates
}

// Units holds the weights of new units. A unit has an input for each input channel and tap of the producing layer, and
// an output for each output channel, position and tap of the consuming layer.
type Units struct {
	In   [][]float64 // incoming weights of each unit
	Bias []float64   // bias of each unit; nil if the producing layer has no bias
	Out  [][]float64 // outgoing weights of each unit
	// Splits holds the existing unit that a new unit splits, or -1. In is then added to the weights of the new copy and
	// subtracted from the weights of the existing unit, and each of the two gets half of the outgoing weights.
	Splits []int
	Notes  []string // remarks to display
}

// blank returns units whose weights are zero.
func (g *Segment) blank(count int) *Units {
	u := &Units{}
	for range count {
		u.In = append(u.In, make([]float64, g.inputs()))
		u.Out = append(u.Out, make([]float64, g.outputs()))
		u.Splits = append(u.Splits, -1)
	}
	if g.Producer.Bias != nil {
		u.Bias = make([]float64, count)
	}
	return u
}
