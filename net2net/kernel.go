package net2net

import (
	"fmt"

	"graft/model"
	"graft/tracing"
)

// kernels adds zeros around a convolution's kernel, and the same amount of padding around its input.
var kernels = operation{
	kind:    "kernel",
	usage:   "kernel:BLOCK:PIXELS",
	about:   "enlarge the kernel of a block's convolution by padding it with zeros",
	apply:   enlarge,
	revert:  crop,
	propose: proposeKernels,
}

func proposeKernels(t *tracing.Trace) []Action {
	var actions []Action
	for _, b := range t.Blocks {
		if b.Main() == nil {
			continue
		}
		if conv, ok := b.Main().Leaf.Layer.(model.Conv2d); ok && conv.Kernel.H == conv.Kernel.W {
			actions = append(actions, Action{Kind: "kernel", Target: b.Name, Size: conv.Kernel.H + 2})
		}
	}
	return actions
}

// convolution is the main convolution of a block.
func (e *edit) convolution(target string) (*model.Leaf, model.Conv2d, error) {
	b, err := e.trace.Block(target)
	if err != nil {
		return nil, model.Conv2d{}, err
	}
	if b.Main() != nil {
		if conv, ok := b.Main().Leaf.Layer.(model.Conv2d); ok {
			return b.Main().Leaf, conv, nil
		}
	}
	return nil, model.Conv2d{}, fmt.Errorf("block %s has no convolution, so it has no kernel", b.Name)
}

func enlarge(e *edit, a Action) error {
	leaf, conv, err := e.convolution(a.Target)
	if err != nil {
		return err
	}
	h, w := a.Size-conv.Kernel.H, a.Size-conv.Kernel.W
	switch {
	case a.Size == 0:
		return fmt.Errorf("the size is missing; use, for example, kernel:%s:%d", a.Target, conv.Kernel.H+2)
	case h < 0 || w < 0 || h == 0 && w == 0:
		return fmt.Errorf("the kernel is already %v; the new size must be larger, got %d", conv.Kernel, a.Size)
	case h%2 != 0 || w%2 != 0:
		return fmt.Errorf("the kernel %v must grow by an even number; use, for example, %d or %d instead of %d",
			conv.Kernel, conv.Kernel.H+2, conv.Kernel.H+4, a.Size)
	}
	e.change.Pad = [2]int{h / 2, w / 2}
	return e.reframe(leaf, conv, e.change.Pad, Padded)
}

func crop(e *edit, c *Change) error {
	leaf, conv, err := e.convolution(c.Action.Target)
	if err != nil {
		return err
	}
	return e.reframe(leaf, conv, [2]int{-c.Pad[0], -c.Pad[1]}, Cropped)
}

// reframe adds pixels around a kernel, or removes them.
func (e *edit) reframe(leaf *model.Leaf, conv model.Conv2d, pad [2]int, fate Fate) error {
	conv.Kernel.H, conv.Kernel.W = conv.Kernel.H+2*pad[0], conv.Kernel.W+2*pad[1]
	conv.Padding.H += conv.Dilation.H * pad[0]
	conv.Padding.W += conv.Dilation.W * pad[1]
	leaf.Layer = conv
	if err := e.net.Check(); err != nil {
		return err
	}
	m := Move{Fate: fate, Pad: pad}
	e.moves[slotKey{leaf, 0}] = m
	if e.s != nil {
		leaf.Weights[0] = e.s.RequireGrad(e.carry(m, e.s.Detach(leaf.Weights[0]), value), true)
	}
	return nil
}
