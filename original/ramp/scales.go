package ramp

import (
	"math"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// NewScales returns the minimum and the maximum of each quantity over the episode's job pool. The episode must draw
// time limits at random. As in the published simulator, some maxima are upper bounds for jobs that are split into
// parts. MaxOps and MaxDeps are multiplied by the maximum number of parts, MaxDeps also by 3, and MaxTransfer is
// multiplied by the number of pairs of operations.
func (e *Episode) NewScales(d *Draws, profiles []*graph.Profile) Scales {
	split := float64(max(e.Config.Jobs.Observed, 1))
	s := Scales{MinSteps: float64(e.Config.Jobs.Steps), MaxSteps: float64(e.Config.Jobs.Steps)}
	extremes := func(v float64, low, high *float64) { *low, *high = min(*low, v), max(*high, v) }
	for _, low := range []*float64{&s.MinSequential, &s.MinLimit, &s.MinShare, &s.MinMemory, &s.MinTransfer, &s.MinOps,
		&s.MinDeps} {
		*low = math.Inf(1)
	}
	var models []fabric.Model
	for _, p := range profiles {
		models = append(models, fabric.NewModel(p.Mirror(fabric.Mirror(Quirks()))))
	}
	for entry, limit := range d.limits {
		m := &models[entry%len(models)]
		time := m.Details.Compute * float64(e.Config.Jobs.Steps)
		extremes(time, &s.MinSequential, &s.MaxSequential)
		extremes(limit*time, &s.MinLimit, &s.MaxLimit)
		extremes(limit, &s.MinShare, &s.MaxShare)
		extremes(m.Details.Memory, &s.MinMemory, &s.MaxMemory)
		extremes(m.Details.Transfer, &s.MinTransfer, &s.MaxTransfer)
		extremes(float64(len(m.Graph.Ops)), &s.MinOps, &s.MaxOps)
		extremes(float64(len(m.Graph.Deps)), &s.MinDeps, &s.MaxDeps)
		s.MaxRate = max(s.MaxRate, m.Details.MaxRate.Value)
	}
	s.MaxOps *= split
	s.MaxDeps *= 3 * split
	s.MaxTransfer *= s.MaxOps * (s.MaxOps - 1) / 2
	return s
}
