package net2net

import (
	"errors"
	"fmt"
	"slices"

	"graft/model"
	"graft/torch"
	"graft/tracing"
)

// grow makes a layer with new tensors. How is their initialisation. The donor is a layer whose tensors of the same role
// provide the second moments.
func (e *edit) grow(l model.Layer, how string, donor *model.Leaf) *model.Leaf {
	leaf := &model.Leaf{Layer: l}
	place := e.net.Placement()
	if e.s != nil {
		place.Random = e.s.NewGenerator(torch.CPU, int64(e.Seed))
		leaf.Weights = fill(e.s, l, how, place)
	}
	for k, slot := range l.Slots() {
		e.moves[slotKey{leaf, k}] = Move{Fate: New, How: how}
		if at := slotOfRole(donor, slot.Role); at >= 0 {
			e.donors[slotKey{leaf, k}] = slotKey{donor, at}
		}
	}
	return leaf
}

func slotOfRole(donor *model.Leaf, role model.Role) int {
	if donor == nil || !role.Trained() {
		return -1
	}
	return slices.IndexFunc(donor.Layer.Slots(), func(s model.Slot) bool { return s.Role == role })
}

// fill initialises a layer's tensors at random, as an identity or as zero.
func fill(s *torch.Scope, l model.Layer, how string, place model.Placement) []*torch.Tensor {
	if how != "identity" && how != "zero" {
		return model.Fresh(s, l, place)
	}
	var tensors []*torch.Tensor
	for _, slot := range l.Slots() {
		t := s.Zeros(slot.DType(place.DType), place.Device, slot.Shape...)
		if how == "identity" && slot.Role == model.Weight {
			s.Dirac(t)
		}
		tensors = append(tensors, s.RequireGrad(t, slot.Role.Trained()))
	}
	return tensors
}

// insert inserts a grown block after another. After a marked block the new block has the same class, as in the
// original.
func (e *edit) insert(b *tracing.Block, layers *model.Container) error {
	grown := &model.Container{Mark: model.Grown, Children: []model.Child{{Name: "layers", Module: layers}}}
	if b.Marked != model.Unmarked {
		m, _, _ := e.net.Find(b.Name)
		grown.Class = m.(*model.Container).Class
	}
	place := model.Place{Parent: b.Parent, Lane: b.Lane, Step: b.Step}
	name := place.Name()
	e.change.Insert = &Insertion{Parent: e.pathOf(b.Parent), Child: name, Wrapped: true}
	if b.Parent.Uses(name) == 1 {
		b.Parent.Replace(name, chain(b.Parent.Child(name), grown))
		return nil
	}
	e.change.Insert.Wrapped, e.change.Insert.Child = false, b.Parent.Add("grown", grown)
	return b.Parent.Schedule(e.change.Insert.Child, b.Lane, b.Step+1)
}

// remove removes a grown block.
func (e *edit) remove(at *Insertion) error {
	if at == nil {
		return errors.New("the surgery record does not name the inserted block")
	}
	m, _, _ := e.net.Find(at.Parent)
	parent, ok := m.(*model.Container)
	if !ok || parent.Child(at.Child) == nil {
		return fmt.Errorf("the inserted block %s was not found in %q", at.Child, at.Parent)
	}
	if !at.Wrapped {
		parent.Remove(at.Child)
		return nil
	}
	wrapper, ok := parent.Child(at.Child).(*model.Container)
	if !ok || len(wrapper.Children) != 2 {
		return fmt.Errorf("layer %s in %q is not the block that the surgery inserted", at.Child, at.Parent)
	}
	parent.Replace(at.Child, wrapper.Children[0].Module)
	return nil
}

// pathOf is the path of a part of the sketch.
func (e *edit) pathOf(want model.Module) string {
	found := ""
	e.net.Walk(func(path string, m model.Module) bool {
		if m == want {
			found = path
		}
		return true
	})
	return found
}

// restore fills a tensor with the values of a record.
func (e *edit) restore(t *torch.Tensor, values []float64) {
	place := e.net.Placement()
	e.s.Copy(t, e.s.To(torch.From(e.s, values, len(values)), place.DType, place.Device))
}

// Remember stores the statistics of a new batch normalisation in the record, so that the change can be replayed without
// a batch. Call it before the network is trained further.
func (c *Change) Remember(n *model.Network) error {
	if c.Calibration == nil || n.Scope() == nil {
		return nil
	}
	m, _, _ := n.Find(c.Calibration.Path)
	leaf, ok := m.(*model.Leaf)
	if !ok {
		return fmt.Errorf("record %s: layer %s not found", c.Action, c.Calibration.Path)
	}
	norm := leaf.Layer.(model.BatchNorm).Bind(leaf.Weights)
	return torch.With(func(s *torch.Scope) error {
		var err error
		if c.Calibration.Mean, err = torch.Values[float64](s.To(norm.Mean, torch.Float64, torch.CPU)); err != nil {
			return errors.Join(s.Err(), err)
		}
		c.Calibration.Var, err = torch.Values[float64](s.To(norm.Var, torch.Float64, torch.CPU))
		return errors.Join(s.Err(), err)
	})
}
