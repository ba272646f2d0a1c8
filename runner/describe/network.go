package describe

import (
	"slices"
	"strconv"
	"strings"

	"graft/model"
	"graft/tracing"
	"graft/tracing/drawing"
)

// Network describes a network; `graft model show --json` prints it. FLOP counts the floating-point
// operations of a forward pass for one example, two for a multiply-add.
type Network struct {
	Name   string      `json:"name"`   // the class that it prints as
	Input  model.Shape `json:"input"`  // of one example
	Output model.Shape `json:"output"` // of one example
	Print  string      `json:"print"`  // as PyTorch prints it
	Layers []Layer     `json:"layers"` // in the order in which they run
	Blocks []Block     `json:"blocks"` // in the order in which they end
	Spaces []Space     `json:"spaces"` // the input's is the first
	Totals Totals      `json:"totals"` // of the whole network
}

// Layer describes one use of a layer.
type Layer struct {
	// as in a state dict; flatten() and pool() are steps without a module
	Path       string      `json:"path"`
	Layer      string      `json:"layer"`      // as PyTorch prints it
	Input      model.Shape `json:"input"`      // shape of an example, without the batch
	Output     model.Shape `json:"output"`     // shape of an example, without the batch
	Parameters int         `json:"parameters"` // that an optimizer moves; in the first run only
	// values kept beside them, such as running means; in the first run only
	Buffers         int    `json:"buffers"`
	FLOP            int64  `json:"flop"`             // of an example, forward
	ActivationBytes int64  `json:"activation_bytes"` // of the output, as float32
	Spaces          []Part `json:"spaces"`           // of the output's channels, in their order
	Block           *int   `json:"block"`            // the number of its block; null where it is in none

	Caption string `json:"-"`
}

// Part is a range of channels of one space.
type Part struct {
	Space    string `json:"space"`    // its id
	Channels int    `json:"channels"` // number of channels
}

// Block describes a block, which actions name by its number.
type Block struct {
	Number int      `json:"number"` // that actions name it by, from 0
	Name   string   `json:"name"`   // its path, or that of its first layer
	Origin string   `json:"origin"` // original, grown or found
	Layers []string `json:"layers"` // paths

	Kinds []string `json:"-"`
}

// Space is a set of channels that change together.
type Space struct {
	ID       string   `json:"id"`       // by which others name it
	Channels int      `json:"channels"` // where it opens; a flattening spreads each over its positions
	Units    int      `json:"units"`    // runs of channels that can be copied by themselves
	Makers   []string `json:"makers"`   // paths of the layers that open it
	Keepers  []string `json:"keepers"`  // of those with weights or groups that it passes through
	Users    []string `json:"users"`    // of those that sum over it
	Ties     []string `json:"ties"`     // of those that work on several channels together
	Fixed    []string `json:"fixed"`    // why it cannot be widened; empty where it can
}

// Totals holds the sums over all layers.
type Totals struct {
	Parameters      int   `json:"parameters"`       // that are learned
	Buffers         int   `json:"buffers"`          // numbers that are no parameters, such as running means
	FLOP            int64 `json:"flop"`             // of an example, forward
	ActivationBytes int64 `json:"activation_bytes"` // of all outputs together
}

// Describe describes a network from its trace.
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
	for k, l := range t.Layers { // the sheet has the same order
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

// captionText describes a layer in a few words of plain ASCII.
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

// opening is the number of channels of a space where it first occurs.
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

// paths lists the paths of layers, each once, in the order in which they run.
func paths(t *tracing.Trace, layers []*tracing.Layer) []string {
	names := []string{}
	for _, l := range t.Layers {
		if slices.Contains(layers, l) && !slices.Contains(names, l.At.Path) {
			names = append(names, l.At.Path)
		}
	}
	return names
}
