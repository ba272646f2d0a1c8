package net2net

import (
	"graft/model"
	"graft/torch"
	"graft/tracing"
)

// branches adds a residual branch of two layers; the second begins at zero.
var branches = operation{
	kind:    "branch",
	usage:   "branch:BLOCK[:KERNEL]",
	about:   "add a residual branch of two layers to the output of a block",
	apply:   addBranch,
	revert:  removeInserted,
	propose: func(t *tracing.Trace) []Action { return behindBlocks("branch", t) },
}

func addBranch(e *edit, a Action) error {
	b, err := e.target(a)
	if err != nil {
		return err
	}
	main := b.Main().Leaf
	layers := []model.Module{e.grow(passing(b, a.Size), "random", main)}
	if norm, ok := normOf(b); ok {
		layers = append(layers, e.grow(norm, "plain", b.Norm().Leaf))
	}
	act, ok := b.Activation()
	if !ok {
		act = model.Activate(torch.ReLU)
	}
	layers = append(layers, &model.Leaf{Layer: act}, e.grow(passing(b, a.Size), "zero", main))
	return e.insert(b, branch(layers...))
}
