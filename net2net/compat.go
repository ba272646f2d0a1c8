package net2net

import (
	"fmt"
	"strings"

	"graft/model"
	"graft/torch"
	"graft/tracing"
)

// Compat selects compatibility with the original system's deepening. The zero Compat is Off.
type Compat string

// Values of Compat.
const (
	Off Compat = ""
	// Original deepens like the original system. It deepens only blocks marked by hand, by their number in the first
	// network. It always adds a bias, an uncalibrated batch normalisation and ReLU, which do not keep the function in
	// train mode. The number that follows the last block's number does nothing.
	Original Compat = "original"
	// WithoutNorm deepens like Original without the batch normalisation, an option of the original system.
	WithoutNorm Compat = "original-without-norm"
)

// compat deepens as the original did.
func compat(e *edit, a Action) error {
	if a.Kind != deepening.kind {
		return fmt.Errorf("the original system supports only deepen, got %s", a.Kind)
	}
	b, err := e.originalBlock(a.Target)
	if err != nil || b == nil {
		return err
	}
	layers, err := e.originalLayers(b)
	if err != nil {
		return err
	}
	return e.insert(b, chain(layers...))
}

// originalBlock finds a block by the original's number or by name; nil means the number after the last block, which
// does nothing.
func (e *edit) originalBlock(target string) (*tracing.Block, error) {
	paths := OriginalBlocks(e.net)
	for k, path := range paths {
		if target == fmt.Sprint(k) || target == path {
			return e.trace.Block(path)
		}
	}
	if target == fmt.Sprint(len(paths)) {
		e.note("no layers were added: block %s is one past the last block", target)
		return nil, nil
	}
	return nil, fmt.Errorf("marked block %q not found; %s has %d marked blocks: %s", target, e.net.Name(), len(paths),
		strings.Join(paths, ", "))
}

func (e *edit) originalLayers(b *tracing.Block) ([]model.Module, error) {
	relu := &model.Leaf{Layer: model.Activate(torch.ReLU)}
	switch main := b.Layers[0].Leaf.Layer.(type) {
	case model.Linear:
		same := model.NewLinear(main.Out, main.Out)
		return []model.Module{e.grow(same, "identity", b.Layers[0].Leaf), relu}, nil
	case model.Conv2d:
		if main.Kernel.H%2 == 0 || main.Kernel.W%2 == 0 {
			return nil, fmt.Errorf("block %s has an even kernel, %v; the original system supports only odd kernels",
				b.Name, main.Kernel)
		}
		same := model.NewConv2d(main.Out, main.Out, 1)
		same.Kernel, same.Padding = main.Kernel, model.Pair{H: main.Kernel.H / 2, W: main.Kernel.W / 2}
		layers := []model.Module{e.grow(same, "identity", b.Layers[0].Leaf)}
		if e.Compat == Original {
			layers = append(layers, e.grow(model.NewBatchNorm2d(main.Out), "plain", nil))
		}
		return append(layers, relu), nil
	default:
		return nil, fmt.Errorf("block %s begins with %s; the original system expects a convolution or a linear "+
			"layer", b.Name, main)
	}
}

// OriginalBlocks returns the paths of the blocks that the network had before any surgery, without blocks inside other
// blocks. They are in the order of registration, as the original system numbered them.
func OriginalBlocks(n *model.Network) []string {
	var paths []string
	n.Walk(func(path string, m model.Module) bool {
		c, ok := m.(*model.Container)
		if !ok || c.Mark == model.Unmarked {
			return true
		}
		if c.Mark == model.Original {
			paths = append(paths, path)
		}
		return false
	})
	return paths
}
