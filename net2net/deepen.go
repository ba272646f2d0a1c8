package net2net

import (
	"errors"
	"fmt"

	"graft/model"
	"graft/tracing"
)

// deepening inserts an identity block after another block.
var deepening = operation{
	kind:    "deepen",
	usage:   "deepen:BLOCK[:KERNEL]",
	about:   "insert a new block after a block, with the block's kernel size by default",
	apply:   deepen,
	revert:  removeInserted,
	propose: func(t *tracing.Trace) []Action { return behindBlocks("deepen", t) },
}

// removeInserted removes a grown block.
func removeInserted(e *edit, c *Change) error { return e.remove(c.Insert) }

// behindBlocks proposes an action for each block that another block can follow.
func behindBlocks(kind Kind, t *tracing.Trace) []Action {
	var actions []Action
	for _, b := range t.Blocks {
		if a := (Action{Kind: kind, Target: b.Name}); check(b, a) == nil {
			actions = append(actions, a)
		}
	}
	return actions
}

// target is the block that an action inserts another block after.
func (e *edit) target(a Action) (*tracing.Block, error) {
	b, err := e.trace.Block(a.Target)
	if err != nil {
		return nil, err
	}
	return b, check(b, a)
}

func deepen(e *edit, a Action) error {
	b, err := e.target(a)
	if err != nil {
		return err
	}
	form, err := e.form(b)
	if err != nil {
		return err
	}
	if form == Residual {
		return e.insert(b, e.preactivation(b, a.Size))
	}
	layers, norm := e.identity(b, a.Size)
	if err := e.insert(b, chain(layers...)); err != nil || norm == nil {
		return err
	}
	return e.calibrate(b, norm)
}

// check rejects blocks that no block can follow.
func check(b *tracing.Block, a Action) error {
	main := b.Main()
	if main == nil {
		return fmt.Errorf("block %s has no convolution or linear layer to use as a template for the new block", b.Name)
	}
	kernel, err := kernelOf(b, a.Size)
	if err != nil {
		return err
	}
	if len(b.Out.Shape) == 3 && (kernel.H%2 == 0 || kernel.W%2 == 0) {
		return fmt.Errorf("block %s has an even kernel, %v, but the new convolution needs an odd kernel; "+
			"use an odd kernel, such as %s:%s:3", b.Name, kernel, a.Kind, b.Name)
	}
	return nil
}

// kernelOf returns the kernel of a new convolution after a block.
func kernelOf(b *tracing.Block, size int) (model.Pair, error) {
	conv, ok := b.Main().Leaf.Layer.(model.Conv2d)
	if size > 0 && len(b.Out.Shape) != 3 {
		return model.Pair{}, fmt.Errorf("block %s outputs features, not images, so the new layer is linear and has "+
			"no kernel size; remove the kernel size %d", b.Name, size)
	}
	switch {
	case size > 0:
		return model.Both(size), nil
	case ok:
		return conv.Kernel, nil
	default:
		return model.Both(1), nil
	}
}

// form chooses how the new block keeps the function, or rejects the requested form.
func (e *edit) form(b *tracing.Block) (Form, error) {
	why := ""
	if act, ok := b.Activation(); ok && !act.Idempotent() {
		why = fmt.Sprintf("%s is not idempotent", act)
	}
	if norm := b.Norm(); norm != nil {
		if _, batch := norm.Leaf.Layer.(model.BatchNorm); !batch {
			why = fmt.Sprintf("%s cannot be calibrated, because it normalises each example separately", norm.Leaf.Layer)
		}
	}
	switch {
	case e.Form == Opposite || e.Form == Stacked:
		return "", fmt.Errorf("form is %q, which requires a network that runs as a graph; use %q or %q, "+
			"or remove the option form", e.Form, Identity, Residual)
	case e.Form == Identity && why != "":
		return "", fmt.Errorf("an identity layer after block %s would change the network's function: %s; remove the "+
			"option form, or use %q", b.Name, why, Residual)
	case e.Form == Auto && why != "":
		e.note("inserted a residual branch that starts at zero, because %s", why)
		return Residual, nil
	case e.Form == Auto:
		return Identity, nil
	}
	return e.Form, nil
}

// identity makes an identity layer followed by the block's normalisation and activation. It also returns the
// normalisation, for calibration.
func (e *edit) identity(b *tracing.Block, size int) ([]model.Module, *model.Leaf) {
	main := b.Main().Leaf
	norm, _ := normOf(b)
	layers := []model.Module{e.grow(passing(b, size), "identity", main)}
	var fresh *model.Leaf
	if norm != nil {
		fresh = e.grow(norm, "calibrated", b.Norm().Leaf)
		layers = append(layers, fresh)
	}
	if act, ok := b.Activation(); ok {
		layers = append(layers, &model.Leaf{Layer: act})
	}
	return layers, fresh
}

// passing makes a layer of the block's kind that keeps the shape of its output.
func passing(b *tracing.Block, size int) model.Layer {
	main, channels := b.Main().Leaf.Layer, b.Out.Shape[0]
	if len(b.Out.Shape) == 1 {
		l, ok := main.(model.Linear)
		return model.Linear{In: channels, Out: channels, Bias: !ok || l.Bias}
	}
	kernel, _ := kernelOf(b, size)
	c := model.NewConv2d(channels, channels, 1)
	c.Kernel, c.Padding = kernel, model.Pair{H: kernel.H / 2, W: kernel.W / 2}
	if like, ok := main.(model.Conv2d); ok {
		c.Bias = like.Bias
		if channels%like.Groups == 0 {
			c.Groups = like.Groups
		}
	}
	return c
}

// normOf makes a normalisation like the block's, for its output; false if the block has none or it does not fit.
func normOf(b *tracing.Block) (model.Layer, bool) {
	if b.Norm() == nil {
		return nil, false
	}
	channels, flat := b.Out.Shape[0], len(b.Out.Shape) == 1
	switch n := b.Norm().Leaf.Layer.(type) {
	case model.BatchNorm:
		return model.BatchNorm{Features: channels, Flat: flat, Eps: n.Eps, Momentum: n.Momentum, Affine: true,
			Track: true}, true
	case model.LayerNorm:
		return model.LayerNorm{Sizes: b.Out.Shape, Eps: n.Eps, Affine: n.Affine}, true
	case model.GroupNorm:
		if channels%n.Groups == 0 {
			return model.GroupNorm{Groups: n.Groups, Features: channels, Eps: n.Eps, Affine: n.Affine}, true
		}
	}
	return nil, false
}

// preactivation makes a branch of normalisation, activation and a layer of zeros, added to
// the block's output (He et al., Identity Mappings, 2016).
func (e *edit) preactivation(b *tracing.Block, size int) *model.Container {
	var layers []model.Module
	if norm, ok := normOf(b); ok {
		layers = append(layers, e.grow(norm, "plain", b.Norm().Leaf))
	}
	if act, ok := b.Activation(); ok {
		layers = append(layers, &model.Leaf{Layer: act})
	}
	return branch(append(layers, e.grow(passing(b, size), "zero", b.Main().Leaf))...)
}

func chain(layers ...model.Module) *model.Container {
	c := &model.Container{}
	for k, m := range layers {
		c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: m})
	}
	return c
}

func branch(layers ...model.Module) *model.Container {
	c := chain(layers...)
	c.Flow.Join = model.Sum
	return c
}

// calibrate makes a new normalisation an identity on the batch: its running statistics are the batch's, and its scale
// and bias undo the normalisation.
func (e *edit) calibrate(b *tracing.Block, leaf *model.Leaf) error {
	path := e.pathOf(leaf)
	e.change.Calibration = &Calibration{Path: path}
	if e.s == nil {
		return nil
	}
	norm := leaf.Layer.(model.BatchNorm).Bind(leaf.Weights)
	recorded := e.replay != nil && e.replay.Calibration != nil &&
		len(e.replay.Calibration.Mean) == len(e.replay.Calibration.Var)
	switch {
	case e.Batch != nil:
		if err := e.measure(b, path, leaf); err != nil {
			return err
		}
	case recorded && len(e.replay.Calibration.Mean) == b.Out.Shape[0]:
		e.restore(norm.Mean, e.replay.Calibration.Mean)
		e.restore(norm.Var, e.replay.Calibration.Var)
	default:
		return errors.New("a new batch normalisation must be calibrated on a batch of inputs; pass a batch, " +
			"or use the residual form")
	}
	e.s.Copy(norm.Weight, e.s.Sqrt(e.s.Scale(norm.Var, 1, norm.Eps)))
	e.s.Copy(norm.Bias, norm.Mean)
	return e.s.Err()
}

// measure sets running statistics to the batch's statistics. LibTorch's running variance is the unbiased one; train
// mode divides by the biased one.
func (e *edit) measure(b *tracing.Block, path string, leaf *model.Leaf) error {
	shape := e.Batch.Shape()
	if len(shape) != len(e.net.Input)+1 || !e.net.Input.Same(shape[1:]) {
		return fmt.Errorf("the calibration batch has shape %v; the network expects %v for each example", shape,
			e.net.Input)
	}
	values := shape[0] * b.Out.Shape.Count() / b.Out.Shape[0]
	if values < 2 {
		return errors.New("a calibration batch must have at least two values per channel; use more examples")
	}
	program, err := e.net.Probe(e.s, path)
	if err != nil {
		return err
	}
	defer program.Close()
	e.s.NoGrad(func() { e.s.Free(program.Forward(e.s, e.Batch, true, nil)) })
	variance := leaf.Layer.(model.BatchNorm).Bind(leaf.Weights).Var
	e.s.Copy(variance, e.s.Scale(variance, float64(values-1)/float64(values), 0))
	return e.s.Err()
}
