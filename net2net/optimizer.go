package net2net

import (
	"errors"
	"fmt"
	"slices"

	"graft/model"
	"graft/torch"
)

// Optimizer is an optimizer that stores the names of its parameters, so that its state can follow them through surgery.
type Optimizer struct {
	*torch.Optimizer
	Names []string // names of the parameters, in order
	// Born holds the births of each parameter's elements, in the order of Names, as torch.WarmUp expects them; nil for
	// a parameter without recorded births. Nil means that there are none.
	Born []*torch.Tensor
}

// NewOptimizer creates an optimizer that uses the same options for all parameters of a network. The scope owns the
// optimizer's state.
func NewOptimizer(s *torch.Scope, n *model.Network, o torch.OptimizerOptions) (*Optimizer, error) {
	opt := &Optimizer{Optimizer: s.NewOptimizer(torch.Group{Params: n.Params(), OptimizerOptions: o})}
	for _, e := range n.Trained() {
		opt.Names = append(opt.Names, e.Name)
	}
	return opt, s.Err()
}

// Follow creates the optimizer for a network after a change, and closes the old optimizer. The scope owns the new
// optimizer. The learning rate and the other options stay unchanged.
//
// Unless o.Moments says otherwise, the state follows the parameters. The state of an unchanged tensor does not change.
// The moments of a copied parameter are scaled in the same way as the parameter's gradient. A new tensor starts with a
// first moment of zero, and takes the mean second moment and the step count of its donor (see Move.Donor), so that both
// tensors get updates of similar size. Without a donor, a new tensor starts with the state of a new optimizer.
func (old *Optimizer) Follow(s *torch.Scope, n *model.Network, c *Change, o Following) (*Optimizer, error) {
	if err := expect(n, c.After, c.Action.String()); err != nil {
		return nil, err
	}
	steps, err := torch.Values[int64](old.Steps)
	if err != nil {
		return nil, err
	}
	f := &follower{Following: o, old: old, steps: steps, change: c, moves: map[string]Move{},
		carrier: carrier{s, n.Placement().Device}}
	for _, m := range c.Moves {
		f.moves[m.Name] = m
	}
	next := &Optimizer{}
	groups := make([]torch.Group, old.Groups())
	names, born := make([][]string, len(groups)), make([][]*torch.Tensor, len(groups))
	taken := map[*torch.Tensor]bool{} // a parameter and its plain copy need separate tensors
	for _, e := range n.Trained() {
		p, err := f.follow(e)
		if err != nil {
			return nil, err
		}
		for _, t := range []**torch.Tensor{&p.First, &p.Second, &p.born} {
			if *t != nil && taken[*t] {
				*t = s.Clone(*t)
			}
			taken[*t] = true
		}
		g := p.group
		groups[g].Params = append(groups[g].Params, e.Tensor)
		groups[g].State = append(groups[g].State, p.State)
		names[g], born[g] = append(names[g], e.Name), append(born[g], p.born)
	}
	for g := range groups {
		groups[g].OptimizerOptions = old.Options(g)
	}
	next.Names, next.Born = slices.Concat(names...), someOf(slices.Concat(born...))
	next.Optimizer = s.NewOptimizer(groups...)
	f.discard(next)
	return next, s.Err()
}

// someOf returns a list, or nil if all of its tensors are nil.
func someOf(list []*torch.Tensor) []*torch.Tensor {
	if slices.ContainsFunc(list, func(t *torch.Tensor) bool { return t != nil }) {
		return list
	}
	return nil
}

// follower transfers an optimizer's state.
type follower struct {
	Following
	carrier
	old    *Optimizer
	steps  []int64
	change *Change
	moves  map[string]Move
}

// followed is a parameter after the change.
type followed struct {
	torch.State
	lineage
	from  string // name before the change; empty for a tensor whose state does not follow from an old one
	group int
	born  *torch.Tensor
	carry func() (torch.State, error)
}

// follow returns a parameter's group, state and births after the change.
func (f *follower) follow(e model.Entry) (followed, error) {
	read := f.read
	if f.change.Graph != nil {
		read = f.readGraph
	}
	p, err := read(e)
	if err != nil {
		return p, err
	}
	if f.Moments != Reset && !(f.Moments == ResetNew && p.whole) {
		if p.State, err = p.carry(); err != nil {
			return p, err
		}
	}
	if f.Moments == ResetNew && !p.whole && p.grows() {
		if err := f.settle(&p); err != nil {
			return p, err
		}
	}
	var old *torch.Tensor
	if k := slices.Index(f.old.Names, p.from); k >= 0 && f.old.Born != nil {
		old = f.old.Born[k]
	}
	p.born, err = f.births(p.lineage, e.Tensor.Shape(), old)
	return p, err
}

// read finds the origin of a parameter.
func (f *follower) read(e model.Entry) (p followed, err error) {
	m, ok := f.moves[e.Name]
	if !ok {
		return p, fmt.Errorf("the surgery record has no tensor %s", e.Name)
	}
	p.lineage = m.lineage(e.Tensor.Shape())
	if m.Fate == New {
		return f.begun(p, e, m.Donor), nil
	}
	return f.carried(p, m.From, func(slot torch.Slot) (*torch.Tensor, *torch.Tensor) {
		return f.part(m, slot.First, first), f.part(m, slot.Second, second)
	})
}

// carried completes a parameter whose state follows from a slot of the old optimizer.
func (f *follower) carried(p followed, from string,
	move func(torch.Slot) (first, second *torch.Tensor)) (followed, error) {
	k := slices.Index(f.old.Names, from)
	if k < 0 {
		return p, errors.New("the optimizer has no tensor " + from)
	}
	p.from, p.group = from, f.old.GroupOf(k)
	p.carry = func() (torch.State, error) {
		first, second := move(f.old.Slots[k])
		return torch.State{First: first, Second: second, Steps: f.steps[k]}, f.s.Err()
	}
	return p, nil
}

func (f *follower) part(m Move, t *torch.Tensor, q quantity) *torch.Tensor {
	if t == nil || m.Fate == Kept {
		return t
	}
	return f.move(m, t, q)
}

// begun completes a new parameter, given the name of its donor.
func (f *follower) begun(p followed, e model.Entry, donor string) followed {
	p.carry = func() (torch.State, error) { return torch.State{}, nil }
	k := slices.Index(f.old.Names, donor)
	if donor == "" || k < 0 {
		return p
	}
	p.group = f.old.GroupOf(k)
	if from := f.old.Slots[k]; from.Second != nil {
		p.carry = func() (torch.State, error) {
			zeros := f.s.Scale(f.s.Detach(e.Tensor), 0, 0)
			return torch.State{Second: f.s.Add(zeros, f.s.Mean(from.Second)), Steps: f.steps[k]}, f.s.Err()
		}
	}
	return p
}

// discard closes the old optimizer and frees the tensors that the new one does not use.
func (f *follower) discard(next *Optimizer) {
	kept := map[*torch.Tensor]bool{}
	for _, t := range next.state() {
		kept[t] = true
	}
	for _, t := range f.old.state() {
		if !kept[t] {
			f.s.Free(t)
		}
	}
	f.s.Free(f.old.Steps)
	f.old.Close()
}

// state lists the moments and births of all parameters.
func (old *Optimizer) state() (all []*torch.Tensor) {
	for _, slot := range old.Slots {
		all = append(all, slot.First, slot.Second)
	}
	all = append(all, old.Born...)
	return slices.DeleteFunc(all, func(t *torch.Tensor) bool { return t == nil })
}
