package decider

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"graft/torch"
	"graft/torch/weights"
)

// Pupil is a member of a policy while it learns, on cases that stay the same. Each
// step is Logits, then Step. It is made by NewPupil; its scope owns what it holds.
type Pupil struct {
	Policy *Structural // the first member learns

	scope     *torch.Scope
	member    *member
	board     *board
	optimizer *torch.Optimizer
	step      *torch.Scope  // of the step under way; nil between steps
	logits    *torch.Tensor // of the step under way
}

// NewPupil lets a policy's first member learn by an optimizer.
func NewPupil(s *torch.Scope, p *Structural, c *Cases, o torch.OptimizerOptions) (*Pupil, error) {
	u := &Pupil{Policy: p, scope: s, member: p.member(s, p.Members[0])}
	var err error
	if u.board, err = c.board(s); err != nil {
		return nil, err
	}
	for _, t := range u.member.tensors {
		s.RequireGrad(t, true)
	}
	u.optimizer = s.NewOptimizer(torch.Group{Params: u.member.tensors, OptimizerOptions: o})
	return u, s.Err()
}

// Logits scores all choices of the cases.
func (u *Pupil) Logits() ([]float64, error) {
	u.end()
	u.step = torch.NewScope()
	u.logits = u.member.logits(u.step, u.board)
	if u.step.Err() != nil {
		return nil, fmt.Errorf("score actions: %w", u.step.Err())
	}
	return torch.Values[float64](u.logits)
}

// Step moves the policy up a gradient by the logits of the last call of Logits.
func (u *Pupil) Step(gradient []float64) error {
	defer u.end()
	if u.step == nil || len(gradient) != u.board.count {
		return errors.New("learn: a gradient for each logit is needed, and the logits before it")
	}
	s := u.step
	u.push(s, gradient)
	if s.Err() != nil {
		return fmt.Errorf("learn: %w", s.Err())
	}
	return firstOf(u.optimizer.Step(), u.optimizer.ZeroGrad())
}

// push works the gradient back to the tensors.
func (u *Pupil) push(s *torch.Scope, gradient []float64) {
	s.Backward(s.Neg(s.Sum(s.Mul(u.logits, torch.From(s, gradient, len(gradient))))))
}

// end drops what a step needed.
func (u *Pupil) end() {
	if u.step != nil {
		_ = u.step.Close()
		u.step, u.logits = nil, nil
	}
}

// Values copies out what the pupil is now.
func (u *Pupil) Values() (Member, error) {
	values := make(Member, len(u.member.tensors))
	for k, t := range u.member.tensors {
		var err error
		if values[k], err = torch.Values[float64](t); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// state is all tensors that the pupil's future depends on, by name.
func (u *Pupil) state() map[string]*torch.Tensor {
	all := map[string]*torch.Tensor{"steps": u.optimizer.Steps}
	for k, slot := range u.Policy.slots() {
		all["value."+slot.Name] = u.member.tensors[k]
		all["first."+slot.Name] = u.optimizer.Slots[k].First
		all["second."+slot.Name] = u.optimizer.Slots[k].Second
	}
	return all
}

// Save adds all that the pupil's future depends on to a file.
func (u *Pupil) Save(set *weights.Set) error {
	state := u.state()
	for _, name := range sortedNames(state) {
		w, err := state[name].Weights(name)
		if err != nil {
			return fmt.Errorf("save a pupil: %w", err)
		}
		set.Tensors = append(set.Tensors, w)
	}
	return nil
}

// Restore goes on where Save was called.
func (u *Pupil) Restore(set *weights.Set) error {
	u.end()
	state := u.state()
	return torch.With(func(s *torch.Scope) error {
		for _, name := range sortedNames(state) {
			w, ok := set.Find(name)
			if !ok {
				return fmt.Errorf("restore a pupil: there is no %s", name)
			}
			s.Copy(state[name], torch.FromWeights(s, torch.CPU, w))
			if s.Err() != nil {
				return fmt.Errorf("restore a pupil: %s: %w", name, s.Err())
			}
		}
		return nil
	})
}

func sortedNames(m map[string]*torch.Tensor) []string { return slices.Sorted(maps.Keys(m)) }
