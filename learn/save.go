package learn

import (
	"fmt"

	"graft/learn/dense"
	"graft/torch/weights"
)

// Keeper is a [Model] that can be saved together with the state of its optimizer.
type Keeper interface {
	Model
	networks() []*dense.Network
	adam() *dense.Adam
	changed() // invalidates all values that depend on the parameters
}

func (m *Set) networks() []*dense.Network { return m.nets[:] }
func (m *Set) adam() *dense.Adam          { return m.optimizer }
func (m *Set) changed()                   { *m.changes++ }
func (m *MLP) networks() []*dense.Network { return []*dense.Network{m.policy, m.value} }
func (m *MLP) adam() *dense.Adam          { return m.optimizer }
func (m *MLP) changed()                   {}

// params returns the parameters of networks, one network after the other.
func params(networks []*dense.Network) (all [][]float64) {
	for _, n := range networks {
		all = append(all, n.Params...)
	}
	return all
}

// Parts of a saved model.
var parts = []string{"parameter", "first_moment", "second_moment"}

// SaveParams adds a model's parameters to a set of tensors. The names of the tensors begin with the given prefix.
func SaveParams(m Keeper, set *weights.Set, prefix string) {
	save(set, prefix, parts[0], params(m.networks()))
}

// SaveModel adds a model's parameters and the state of its optimizer to a set of tensors. The names of the tensors
// begin with the given prefix.
func SaveModel(m Keeper, set *weights.Set, prefix string) {
	SaveParams(m, set, prefix)
	first, second := m.adam().Moments(params(m.networks()))
	save(set, prefix, parts[1], first)
	save(set, prefix, parts[2], second)
	set.Tensors = append(set.Tensors, weights.FromFloat64s(prefix+"steps", []float64{float64(m.adam().Steps)}))
}

func save(set *weights.Set, prefix, part string, values [][]float64) {
	for k, v := range values {
		set.Tensors = append(set.Tensors, weights.FromFloat64s(fmt.Sprintf("%s%s.%d", prefix, part, k), v))
	}
}

// RestoreParams sets a model's parameters from the tensors in a set whose names begin with the given prefix. The shapes
// must match.
func RestoreParams(m Keeper, set *weights.Set, prefix string) error {
	m.changed()
	return restore(set, prefix, parts[0], params(m.networks()))
}

// RestoreModel sets a model's parameters and the state of its optimizer from the tensors in a set whose names begin
// with the given prefix.
func RestoreModel(m Keeper, set *weights.Set, prefix string) error {
	if err := RestoreParams(m, set, prefix); err != nil {
		return err
	}
	first, second := m.adam().Moments(params(m.networks()))
	if err := restore(set, prefix, parts[1], first); err != nil {
		return err
	}
	if err := restore(set, prefix, parts[2], second); err != nil {
		return err
	}
	steps := []float64{0}
	if err := restoreOne(set, prefix+"steps", steps); err != nil {
		return err
	}
	m.adam().Steps = int(steps[0])
	return nil
}

func restore(set *weights.Set, prefix, part string, into [][]float64) error {
	for k, values := range into {
		if err := restoreOne(set, fmt.Sprintf("%s%s.%d", prefix, part, k), values); err != nil {
			return err
		}
	}
	return nil
}

func restoreOne(set *weights.Set, name string, into []float64) error {
	t, ok := set.Find(name)
	if !ok {
		return fmt.Errorf("restore an agent: tensor %s is missing; the file contains another kind of agent", name)
	}
	values, err := t.Float64s()
	if err != nil {
		return fmt.Errorf("restore an agent: tensor %s: %w", name, err)
	}
	if len(values) != len(into) {
		return fmt.Errorf("restore an agent: tensor %s has %d values; expected %d; use an agent with the same layer "+
			"sizes",
			name,
			len(values), len(into))
	}
	if err := dense.Finite("restore an agent: tensor "+name, [][]float64{values}); err != nil {
		return err
	}
	copy(into, values)
	return nil
}

// SetRate sets the learning rate of a model's optimizer.
func SetRate(m Keeper, rate float64) { m.adam().Rate = rate }

// BeginAnew resets the state of a model's optimizer and sets its learning rate.
func BeginAnew(m Keeper, rate float64) {
	o := m.adam()
	*o = dense.Adam{Rate: rate, Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps, Corrected: o.Corrected}
}
