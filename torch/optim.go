package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"graft/internal/validate"
)

// Rule is the update rule of an optimizer. The zero Rule means no rule.
type Rule int

// The update rules, each with the formula of PyTorch.
const (
	SGD   Rule = C.GRAFT_SGD
	Adam  Rule = C.GRAFT_ADAM
	AdamW Rule = C.GRAFT_ADAMW
)

// rules are the names of the rules in files.
var rules = enum[Rule]{"rule", []string{"", SGD: "sgd", Adam: "adam", AdamW: "adamw"}}

// RuleNames lists the names that UnmarshalText accepts.
func RuleNames() []string { return rules.list() }

// String returns the name of the rule; the zero Rule has the name "none".
func (r Rule) String() string { return rules.text(r) }

// MarshalText writes the rule's name, which is empty for the zero Rule.
func (r Rule) MarshalText() ([]byte, error) { return rules.marshal(r) }

// UnmarshalText parses a rule's name; the empty name means the zero Rule.
func (r *Rule) UnmarshalText(text []byte) error { return rules.unmarshal(r, text) }

// Group is a set of parameters that share an update rule and its options.
type Group struct {
	Params []*Tensor // leaf tensors that require gradients
	State  []State   // initial state of each parameter; nil starts without state
	OptimizerOptions
}

// OptimizerOptions holds the options of a group of parameters.
type OptimizerOptions struct {
	Rule        Rule    // Update rule of the parameters. Required.
	LR          float64 // Learning rate. Zero keeps the parameters unchanged.
	Beta1       float64 // Decay rate of Adam's first moment. Zero means 0.9.
	Beta2       float64 // Decay rate of Adam's second moment. Zero means 0.999.
	Eps         float64 // Epsilon of Adam, added to the denominator of the update. Zero means 1e-8.
	WeightDecay float64 // Weight decay coefficient. Zero means no weight decay.
	Momentum    float64 // Momentum of SGD. Zero means no momentum.
	Dampening   float64 // Dampening of SGD's momentum. Zero means no dampening.
	// Uses SGD's Nesterov momentum instead of plain momentum. Requires momentum above 0 and no dampening. Default
	// false.
	Nesterov bool
	// Maximum global norm of the gradients of a step; larger gradients are scaled down to it. Zero means no limit.
	// Cannot be combined with clip_value.
	ClipNorm float64 `json:",omitempty"`
	// Maximum magnitude of each gradient value; larger values are clipped. Zero means no limit. Cannot be combined
	// with clip_norm.
	ClipValue float64 `json:",omitempty"`
	// Fused updates each parameter in one pass over memory instead of with PyTorch's operators. Results are equal up to
	// rounding.
	Fused bool
}

// EnsureDefaults fills unset options.
func (o *OptimizerOptions) EnsureDefaults() {
	for _, d := range []struct {
		value *float64
		zero  float64
	}{{&o.Beta1, 0.9}, {&o.Beta2, 0.999}, {&o.Eps, 1e-8}} {
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
}

// Validate returns an error that lists every invalid option.
func (o OptimizerOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Rule < SGD || o.Rule > AdamW, "rule is %v; unknown update rule", int(o.Rule))
	faults.When(o.LR < 0, "lr is %v; must not be negative", o.LR)
	faults.When(o.Beta1 < 0 || o.Beta1 >= 1, "beta1 is %v; must be in [0, 1)", o.Beta1)
	faults.When(o.Beta2 < 0 || o.Beta2 >= 1, "beta2 is %v; must be in [0, 1)", o.Beta2)
	faults.When(o.Eps < 0, "eps is %v; must not be negative", o.Eps)
	faults.When(o.WeightDecay < 0, "weight_decay is %v; must not be negative", o.WeightDecay)
	faults.When(o.Momentum < 0, "momentum is %v; must not be negative", o.Momentum)
	faults.Unless(o.ClipNorm >= 0, "clip_norm is %v; must not be negative", o.ClipNorm)
	faults.Unless(o.ClipValue >= 0, "clip_value is %v; must not be negative", o.ClipValue)
	faults.When(o.ClipNorm > 0 && o.ClipValue > 0,
		"clip_norm is %v and clip_value is set too; remove one of them", o.ClipNorm)
	faults.When(o.Nesterov && (o.Momentum <= 0 || o.Dampening != 0),
		"nesterov: requires momentum above 0 and dampening 0, got momentum %v and dampening %v", o.Momentum,
		o.Dampening)
	return errors.Join(faults...)
}

// Unused lists the keys of the options that differ from their defaults, but that the rule does not use.
func (o OptimizerOptions) Unused() (keys []string) {
	o.EnsureDefaults()
	var defaults OptimizerOptions
	defaults.EnsureDefaults()
	sgd := o.Rule == SGD
	for _, k := range []struct {
		key          string
		used, differ bool
	}{
		{"beta1", !sgd, o.Beta1 != defaults.Beta1}, {"beta2", !sgd, o.Beta2 != defaults.Beta2},
		{"eps", !sgd, o.Eps != defaults.Eps}, {"momentum", sgd, o.Momentum != 0},
		{"dampening", sgd && o.Momentum != 0, o.Dampening != 0}, {"nesterov", sgd, o.Nesterov},
	} {
		if k.differ && !k.used {
			keys = append(keys, k.key)
		}
	}
	return keys
}

func (o OptimizerOptions) code(params int) C.graft_group {
	return C.graft_group{kind: C.int32_t(o.Rule), nparams: C.int32_t(params), nesterov: C.int32_t(flag(o.Nesterov)),
		fused: C.int32_t(flag(o.Fused)), lr: C.double(o.LR), beta1: C.double(o.Beta1), beta2: C.double(o.Beta2),
		eps: C.double(o.Eps), weight_decay: C.double(o.WeightDecay), momentum: C.double(o.Momentum),
		dampening: C.double(o.Dampening), clip_norm: C.double(o.ClipNorm), clip_value: C.double(o.ClipValue)}
}

// State is the initial state of a parameter in an optimizer. Its tensors are used, not copied. A nil tensor means
// zeros. The zero State is the state of a parameter in a new optimizer.
type State struct {
	First, Second *Tensor // moments, as described in Slot
	Steps         int64
}

// Slot holds a parameter and its moments. Its fields are ordinary tensors: writing to them changes the optimizer's
// state.
type Slot struct {
	Param  *Tensor
	First  *Tensor // Adam's first moment, or SGD's momentum; nil if unused
	Second *Tensor // Adam's second moment; nil if unused
}

// Optimizer updates parameters from their gradients. A scope owns the optimizer and its state, but not the parameters.
type Optimizer struct {
	Slots []Slot
	// Steps holds the number of steps of each slot, in one int64 tensor on the host.
	Steps  *Tensor
	groups []Group
	handle C.graft_optimizer
	scope  *Scope
}

// NewOptimizer creates an optimizer for groups of parameters. A parameter without an initial state starts with zero
// moments and zero steps.
func (s *Scope) NewOptimizer(groups ...Group) *Optimizer {
	o := &Optimizer{groups: groups, scope: s}
	var steps []int64
	for g := range groups {
		groups[g].EnsureDefaults()
		if err := groups[g].Validate(); err != nil {
			s.fail(&Error{Op: "make optimizer", Subject: fmt.Sprintf("group %d", g), Cause: err})
		}
		for k, p := range groups[g].Params {
			var state State
			if k < len(groups[g].State) {
				state = groups[g].State[k]
			}
			o.Slots = append(o.Slots, s.slot(p, state, groups[g].OptimizerOptions))
			steps = append(steps, state.Steps)
		}
		groups[g].State = nil
	}
	o.Steps = From(s, steps, len(steps))
	if s.ready("make optimizer", nil) {
		s.start(o)
	}
	return o
}

func (s *Scope) slot(p *Tensor, state State, o OptimizerOptions) Slot {
	slot := Slot{Param: p, First: state.First, Second: state.Second}
	info, err := p.Info()
	if err != nil {
		s.fail(err)
		return slot
	}
	adam := o.Rule == Adam || o.Rule == AdamW
	if slot.First == nil && (adam || o.Momentum > 0) {
		slot.First = s.Zeros(info.DType, info.Device, info.Shape...)
	}
	if slot.Second == nil && adam {
		slot.Second = s.Zeros(info.DType, info.Device, info.Shape...)
	}
	return slot
}

func (s *Scope) start(o *Optimizer) {
	n := len(o.Slots)
	handles := make([]C.graft_t, 3*n)
	for k, slot := range o.Slots {
		for j, t := range []*Tensor{slot.Param, slot.First, slot.Second} {
			if t != nil {
				handles[j*n+k] = C.graft_t(t.handle)
			}
		}
	}
	groups := make([]C.graft_group, len(o.groups))
	for k, g := range o.groups {
		groups[k] = g.code(len(g.Params))
	}
	first, second, third := handles[:n:n], handles[n:2*n:2*n], handles[2*n:]
	message := C.graft_optimizer_new(unsafe.SliceData(groups), C.int32_t(len(groups)), unsafe.SliceData(first),
		unsafe.SliceData(second), unsafe.SliceData(third), C.graft_t(o.Steps.handle), &o.handle)
	if err := take("make optimizer", message); err != nil {
		s.fail(err)
		return
	}
	s.hold(o)
}

// GroupOf returns the index of a slot's group.
func (o *Optimizer) GroupOf(slot int) int {
	for g := range o.groups {
		if slot -= len(o.groups[g].Params); slot < 0 {
			return g
		}
	}
	return len(o.groups)
}

// Close releases the parameters. Without this call, they are released when the scope closes. The tensors in Slots stay
// valid.
func (o *Optimizer) Close() {
	if o.handle != nil {
		o.scope.drop(o)
	}
}

func (o *Optimizer) release() {
	C.graft_optimizer_close(o.handle)
	o.handle = nil
}

func (o *Optimizer) ready(op string) error {
	if o.handle == nil {
		return &Error{Op: op, Cause: errors.New("the optimizer's scope is closed, or the optimizer was not created"),
			kind: ErrClosed}
	}
	return nil
}

// Groups returns the number of groups.
func (o *Optimizer) Groups() int { return len(o.groups) }

// Options returns the options of the group with the given index.
func (o *Optimizer) Options(group int) OptimizerOptions { return o.groups[group].OptimizerOptions }

// Configure changes the options of a group, such as the learning rate. The rule must stay the same, since the
// optimizer's state depends on it.
func (o *Optimizer) Configure(group int, options OptimizerOptions) error {
	if err := o.ready("configure optimizer"); err != nil {
		return err
	}
	if group < 0 || group >= len(o.groups) || options.Rule != o.groups[group].Rule {
		return &Error{Op: "configure optimizer", Subject: fmt.Sprintf("group %d", group),
			Cause: errors.New("the group does not exist, or has another update rule")}
	}
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return &Error{Op: "configure optimizer", Subject: fmt.Sprintf("group %d", group), Cause: err}
	}
	o.groups[group].OptimizerOptions = options
	code := options.code(len(o.groups[group].Params))
	return take("configure optimizer", C.graft_optimizer_configure(o.handle, C.int32_t(group), &code))
}

// ZeroGrad clears the gradients of all parameters.
func (o *Optimizer) ZeroGrad() error {
	if err := o.ready("zero gradients"); err != nil {
		return err
	}
	return take("zero gradients", C.graft_optimizer_zero_grad(o.handle))
}

// Step updates every parameter that has a gradient.
func (o *Optimizer) Step() error {
	if err := o.ready("optimizer step"); err != nil {
		return err
	}
	return take("optimizer step", C.graft_optimizer_step(o.handle))
}
