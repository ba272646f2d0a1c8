package decider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"graft/torch"
	"graft/torch/weights"
)

// MemberTrainer trains the first member of a policy on a fixed list of [Situation] values. A training step is a call to
// Logits followed by a call to Step.
type MemberTrainer struct {
	Policy *Structural // policy whose first member learns

	scope     *torch.Scope
	member    *member
	inputs    *tensors
	optimizer *torch.Optimizer
	step      *torch.Scope  // scope of the current step; nil between steps
	logits    *torch.Tensor // logits of the current step
}

// NewMemberTrainer creates a trainer for the first member of a policy. The batch c holds the training situations.
func NewMemberTrainer(s *torch.Scope, policy *Structural, c *Batch, o torch.OptimizerOptions) (*MemberTrainer, error) {
	p := &MemberTrainer{Policy: policy, scope: s, member: policy.member(s, policy.Members[0])}
	var err error
	if p.inputs, err = c.tensors(s); err != nil {
		return nil, err
	}
	for _, t := range p.member.tensors {
		s.RequireGrad(t, true)
	}
	p.optimizer = s.NewOptimizer(torch.Group{Params: p.member.tensors, OptimizerOptions: o})
	return p, s.Err()
}

// Logits returns the scores of all choices in the training situations.
func (p *MemberTrainer) Logits() ([]float64, error) {
	p.end()
	p.step = torch.NewScope()
	p.logits = p.member.logits(p.step, p.inputs)
	if p.step.Err() != nil {
		return nil, fmt.Errorf("score actions: %w", p.step.Err())
	}
	return torch.Values[float64](p.logits)
}

// Step takes an optimizer step that increases an objective, given the objective's gradient with respect to the result
// of the last call to Logits.
func (p *MemberTrainer) Step(gradient []float64) error {
	defer p.end()
	if p.step == nil || len(gradient) != p.inputs.count {
		return errors.New("train a policy: the gradient does not match the logits; call Logits first, and pass one " +
			"gradient per logit")
	}
	s := p.step
	s.Backward(s.Neg(s.Sum(s.Mul(p.logits, torch.From(s, gradient, len(gradient))))))
	if s.Err() != nil {
		return fmt.Errorf("train a policy: %w", s.Err())
	}
	return cmp.Or(p.optimizer.Step(), p.optimizer.ZeroGrad())
}

func (p *MemberTrainer) end() {
	if p.step != nil {
		_ = p.step.Close()
		p.step, p.logits = nil, nil
	}
}

// Values returns a copy of the member's tensors.
func (p *MemberTrainer) Values() (Member, error) {
	values := make(Member, len(p.member.tensors))
	for k, t := range p.member.tensors {
		var err error
		if values[k], err = torch.Values[float64](t); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// state returns the tensors of the training state by name.
func (p *MemberTrainer) state() map[string]*torch.Tensor {
	all := map[string]*torch.Tensor{"steps": p.optimizer.Steps}
	for k, slot := range p.Policy.slots() {
		all["value."+slot.Name] = p.member.tensors[k]
		all["first."+slot.Name] = p.optimizer.Slots[k].First
		all["second."+slot.Name] = p.optimizer.Slots[k].Second
	}
	return all
}

// Save adds the training state to a set of tensors.
func (p *MemberTrainer) Save(set *weights.Set) error {
	state := p.state()
	for _, name := range sortedNames(state) {
		w, err := state[name].Weights(name)
		if err != nil {
			return fmt.Errorf("save the training state of a policy: %w", err)
		}
		set.Tensors = append(set.Tensors, w)
	}
	return nil
}

// Restore restores the state written by Save.
func (p *MemberTrainer) Restore(set *weights.Set) error {
	p.end()
	state := p.state()
	return torch.With(func(s *torch.Scope) error {
		for _, name := range sortedNames(state) {
			w, ok := set.Find(name)
			if !ok {
				return fmt.Errorf("restore the training state of a policy: %s is missing", name)
			}
			s.Copy(state[name], torch.FromWeights(s, torch.CPU, w))
			if s.Err() != nil {
				return fmt.Errorf("restore the training state of a policy: %s: %w", name, s.Err())
			}
		}
		return nil
	})
}

func sortedNames(m map[string]*torch.Tensor) []string { return slices.Sorted(maps.Keys(m)) }
