package clock

import (
	"fmt"
	"math"
	"slices"

	"graft/internal/stat"
)

// GroupError holds the errors of predicted steps for a group of measured steps, none of which is part of the fit.
type GroupError struct {
	By     string  // what the group has in common: family, batch, growth or processes
	Value  string  // its value, such as a family's name
	Steps  int     // number of measured steps
	Median float64 // median relative error
	Worst  float64 // largest relative error
}

// Errors returns the errors of steps that measured operators predict for the profile's measured networks, by family,
// batch and growth, and the errors for several processes. The ratio of a grown network's step to the step before growth
// is a group too. Errors is empty for a profile without operators of graft.
func (p *Profile) Errors() (all []GroupError) {
	if !p.measuresGraft() {
		return nil
	}
	groups := map[[2]string][]float64{}
	var order [][2]string
	add := func(by, value string, miss float64) {
		key := [2]string{by, value}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], math.Abs(miss))
	}
	before := map[string]float64{} // ratio of predicted to measured time, by family and batch
	for _, m := range p.Measured {
		if len(m.Actions) == 0 && m.StepPredictedSeconds > 0 {
			before[fmt.Sprint(m.class(), m.Batch)] = m.StepPredictedSeconds / m.StepSeconds
		}
	}
	for _, m := range p.Measured {
		if m.StepPredictedSeconds <= 0 {
			continue
		}
		ratio := m.StepPredictedSeconds / m.StepSeconds
		add("family", m.class(), ratio-1)
		add("batch", fmt.Sprint(m.Batch), ratio-1)
		if len(m.Actions) == 0 {
			add("growth", "before", ratio-1)
			continue
		}
		add("growth", "after", ratio-1)
		if first := before[fmt.Sprint(m.class(), m.Batch)]; first > 0 {
			add("growth", "after / before", ratio/first-1)
		}
	}
	for _, key := range order {
		misses := groups[key]
		all = append(all, GroupError{key[0], key[1], len(misses), stat.Median(misses), slices.Max(misses)})
	}
	slices.SortStableFunc(all, func(a, b GroupError) int {
		kinds := []string{"family", "batch", "growth"}
		return slices.Index(kinds, a.By) - slices.Index(kinds, b.By)
	})
	for _, s := range p.Processes {
		if s.Steps > 0 {
			all = append(all, GroupError{"processes", fmt.Sprint(s.Count), s.Steps, s.MedianError, s.WorstError})
		}
	}
	return all
}
