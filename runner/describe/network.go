package describe

import (
	"slices"
	"strconv"
	"strings"

	"graft/model"
	"graft/tracing"
	"graft/tracing/drawing"
)

// Network describes a network; `graft model show --json` prints it. FLOP is the number of floating-point operations of
// a forward pass for one example; a multiply-add counts as two.
type Network struct {
	Name   string      `json:"name"`   // class name in prints
	Input  model.Shape `json:"input"`  // shape of an example
	Output model.Shape `json:"output"` // shape of an example's output
	Print  string      `json:"print"`  // network as PyTorch prints it
	Layers []Layer     `json:"layers"` // layers in running order
	Blocks []Block     `json:"blocks"` // blocks in the order in which they end
	Spaces []Space     `json:"spaces"` // channel spaces; the first is the input's
	Totals Totals      `json:"totals"` // sums over the whole network
}

// Layer describes one execution of a layer; a layer may run more than once.
type Layer struct {
	// path as in a state dict; flatten() and pool() are steps without a module
	Path   string      `json:"path"`
	Layer  string      `json:"layer"`  // layer as PyTorch prints it
	Input  model.Shape `json:"input"`  // shape of an example's input, without the batch
	Output model.Shape `json:"output"` // shape of an example's output, without the batch
	// number of trained parameters; zero if the layer ran before, so that each parameter is counted once
	Parameters int `json:"parameters"`
	// number of untrained values, such as running means; zero if the layer ran before
	Buffers         int    `json:"buffers"`
	FLOP            int64  `json:"flop"`             // floating-point operations of a forward pass per example
	ActivationBytes int64  `json:"activation_bytes"` // size of the output in float32 in bytes
	Spaces          []Part `json:"spaces"`           // channel spaces of the output's channels, in order
	Block           *int   `json:"block"`            // number of the layer's block; null if it is not in a block

	Caption string `json:"-"`
}

// Part is a range of channels in one [Space].
type Part struct {
	Space    string `json:"space"`    // ID of the channel space
	Channels int    `json:"channels"` // number of channels
}

// Block describes a block of layers, the unit that surgery changes. Actions refer to it by its number.
type Block struct {
	Number int      `json:"number"` // number in actions, from 0
	Name   string   `json:"name"`   // path of the block, or of its first layer
	Origin string   `json:"origin"` // origin of the block: original, grown or found
	Layers []string `json:"layers"` // paths of the block's layers

	Kinds []string `json:"-"`
}

// Space is a set of channels that surgery can only change together, because several layers share them.
type Space struct {
	ID string `json:"id"` // ID of the space, for references
	// number of channels before any flattening, which replaces a channel by one value per pixel
	Channels int      `json:"channels"`
	Units    int      `json:"units"`   // number of runs of channels that can be copied separately
	Makers   []string `json:"makers"`  // paths of the layers that open the space
	Keepers  []string `json:"keepers"` // paths of the layers with weights or groups that pass the space on
	Users    []string `json:"users"`   // paths of the layers that sum over the space
	Ties     []string `json:"ties"`    // paths of the layers that combine several channels
	Fixed    []string `json:"fixed"`   // reasons why the space cannot be widened; empty if it can
}

// Totals holds the sums over all layers.
type Totals struct {
	Parameters      int   `json:"parameters"`       // number of trained parameters
	Buffers         int   `json:"buffers"`          // number of other values, such as running means
	FLOP            int64 `json:"flop"`             // floating-point operations of a forward pass per example
	ActivationBytes int64 `json:"activation_bytes"` // total size of all outputs in float32 in bytes
}

// Describe returns the description of a network from its trace.
func Describe(t *tracing.Trace) (Network, error) {
	sheet, err := t.Network.Sheet()
	if err != nil {
		return Network{}, err
	}
	r := Network{Name: t.Network.Name(), Input: t.Network.Input, Output: t.Network.Input, Print: t.Network.String(),
		Layers: []Layer{}, Blocks: []Block{}}
	block := map[*tracing.Layer]*int{}
	for number, b := range t.Blocks {
		r.Blocks = append(r.Blocks, reportBlock(number, b))
		for _, l := range b.Layers {
			block[l] = &number
		}
	}
	for k, l := range t.Layers { // the output has the same order
		r.Layers = append(r.Layers, reportLayer(l, sheet[k], block[l]))
		r.Totals.add(sheet[k])
	}
	for _, s := range t.Spaces {
		r.Spaces = append(r.Spaces, reportSpace(t, s))
	}
	if r.Output, err = t.Network.Output(); err != nil {
		return Network{}, err
	}
	return r, nil
}

func (t *Totals) add(row model.Row) {
	t.Parameters += row.Parameters
	t.Buffers += row.Buffers
	t.FLOP += row.Operations
	t.ActivationBytes += row.ActivationBytes
}

func reportLayer(l *tracing.Layer, row model.Row, block *int) Layer {
	r := Layer{Path: row.Path, Layer: row.Leaf.Layer.String(), Input: row.In, Output: row.Out,
		Parameters: row.Parameters, Buffers: row.Buffers, FLOP: row.Operations, ActivationBytes: row.ActivationBytes,
		Block: block, Caption: captionText(row.Leaf.Layer)}
	for _, part := range l.Out.Parts {
		r.Spaces = append(r.Spaces, Part{spaceID(part.Space), part.Channels})
	}
	return r
}

// captionText describes a layer briefly in ASCII.
func captionText(l model.Layer) string {
	kind, sizes := drawing.Caption(l)
	return strings.TrimSpace(kind + " " + strings.NewReplacer("×", "x", "→", "->").Replace(sizes))
}

func reportBlock(number int, b *tracing.Block) Block {
	r := Block{Number: number, Name: b.Name, Origin: "found"}
	if b.Marked != model.Unmarked {
		r.Origin = b.Marked.String()
	}
	for _, l := range b.Layers {
		kind, _ := drawing.Caption(l.Leaf.Layer)
		r.Layers, r.Kinds = append(r.Layers, l.At.Path), append(r.Kinds, kind)
	}
	return r
}

func reportSpace(t *tracing.Trace, s *tracing.Space) Space {
	r := Space{ID: spaceID(s), Channels: opening(t, s), Units: s.Units, Makers: paths(t, s.Makers),
		Keepers: paths(t, s.Keepers), Users: paths(t, s.Users), Fixed: append([]string{}, s.Fixed...)}
	var ties []*tracing.Layer
	for _, tie := range s.Ties {
		if tie.Runs < r.Channels {
			ties = append(ties, tie.Layer)
		}
	}
	r.Ties = paths(t, ties)
	return r
}

// opening returns the number of channels of a space where it first occurs.
func opening(t *tracing.Trace, s *tracing.Space) int {
	if s == t.Spaces[0] {
		return t.Network.Input[0]
	}
	for _, l := range t.Layers {
		for _, part := range l.Out.Parts {
			if part.Space == s {
				return part.Channels
			}
		}
	}
	return s.Units
}

func spaceID(s *tracing.Space) string { return "s" + strconv.Itoa(s.Index) }

// paths lists the paths of layers, each once, in running order.
func paths(t *tracing.Trace, layers []*tracing.Layer) []string {
	names := []string{}
	for _, l := range t.Layers {
		if slices.Contains(layers, l) && !slices.Contains(names, l.At.Path) {
			names = append(names, l.At.Path)
		}
	}
	return names
}
