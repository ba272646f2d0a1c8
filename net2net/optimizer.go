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
// The state follows the parameters. The state of an unchanged tensor does not change. The moments of a copied parameter
// are scaled in the same way as the parameter's gradient. A new tensor starts with a first moment of zero, and takes
// the mean second moment and the step count of its donor (see Move.Donor), so that both tensors get updates of similar
// size. Without a donor, a new tensor starts with the state of a new optimizer.
func (old *Optimizer) Follow(s *torch.Scope, n *model.Network, c *Change) (*Optimizer, error) {
	if err := expect(n, c.After, c.Action.String()); err != nil {
		return nil, err
	}
	steps, err := torch.Values[int64](old.Steps)
	if err != nil {
		return nil, err
	}
	f := &follower{old: old, steps: steps, moves: map[string]Move{}, carrier: carrier{s, n.Placement().Device}}
	for _, m := range c.Moves {
		f.moves[m.Name] = m
	}
	next := &Optimizer{}
	groups := make([]torch.Group, old.Groups())
	names := make([][]string, len(groups))
	taken := map[*torch.Tensor]bool{} // a parameter and its plain copy need separate moments
	for _, e := range n.Trained() {
		state := f.state
		if c.Graph != nil {
			state = func(e model.Entry) (int, torch.State, error) { return f.followGraph(e, c.Graph) }
		}
		g, carried, err := state(e)
		if err != nil {
			return nil, err
		}
		for _, moment := range []**torch.Tensor{&carried.First, &carried.Second} {
			if *moment != nil && taken[*moment] {
				*moment = s.Clone(*moment)
			}
			taken[*moment] = true
		}
		groups[g].Params = append(groups[g].Params, e.Tensor)
		groups[g].State = append(groups[g].State, carried)
		names[g] = append(names[g], e.Name)
	}
	for g := range groups {
		groups[g].OptimizerOptions = old.Options(g)
	}
	next.Names = slices.Concat(names...)
	next.Optimizer = s.NewOptimizer(groups...)
	f.discard(next.Optimizer)
	return next, s.Err()
}

// follower transfers an optimizer's state.
type follower struct {
	carrier
	old   *Optimizer
	steps []int64
	moves map[string]Move
}

// state is a parameter's group and initial state.
func (f *follower) state(e model.Entry) (int, torch.State, error) {
	m, ok := f.moves[e.Name]
	if !ok {
		return 0, torch.State{}, fmt.Errorf("the surgery record has no tensor %s", e.Name)
	}
	if m.Fate == New {
		return f.begin(e, m)
	}
	k := slices.Index(f.old.Names, m.From)
	if k < 0 {
		return 0, torch.State{}, errors.New("the optimizer has no tensor " + m.From)
	}
	slot := f.old.Slots[k]
	state := torch.State{First: f.part(m, slot.First, first), Second: f.part(m, slot.Second, second), Steps: f.steps[k]}
	return f.old.GroupOf(k), state, nil
}

func (f *follower) part(m Move, t *torch.Tensor, q quantity) *torch.Tensor {
	if t == nil || m.Fate == Kept {
		return t
	}
	return f.move(m, t, q)
}

// begin returns the initial state of a new parameter.
func (f *follower) begin(e model.Entry, m Move) (int, torch.State, error) {
	k := slices.Index(f.old.Names, m.Donor)
	if m.Donor == "" || k < 0 {
		return 0, torch.State{}, nil
	}
	donor := f.old.Slots[k]
	if donor.Second == nil {
		return f.old.GroupOf(k), torch.State{}, nil
	}
	zeros := f.s.Scale(f.s.Detach(e.Tensor), 0, 0)
	return f.old.GroupOf(k), torch.State{Second: f.s.Add(zeros, f.s.Mean(donor.Second)), Steps: f.steps[k]}, f.s.Err()
}

// discard closes the old optimizer and frees the tensors that the new one does not use.
func (f *follower) discard(next *torch.Optimizer) {
	kept := map[*torch.Tensor]bool{}
	for _, slot := range next.Slots {
		kept[slot.First], kept[slot.Second] = true, true
	}
	for _, slot := range f.old.Slots {
		for _, t := range []*torch.Tensor{slot.First, slot.Second} {
			if t != nil && !kept[t] {
				f.s.Free(t)
			}
		}
	}
	f.s.Free(f.old.Steps)
	f.old.Close()
}
