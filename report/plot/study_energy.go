package plot

import (
	"slices"

	"graft/cluster/study"
	"graft/report/figure"
	"graft/report/runs"
)

// plotStudyEnergy draws the energy of groups of jobs under each scheduler, means over workloads and seeds at the first
// point: one figure per grouping of jobs.
func plotStudyEnergy(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	k := slices.IndexFunc(o.Metrics, func(m study.Metric) bool { return m.Unit == "J" })
	if k < 0 {
		return nil, nil
	}
	m, summaries := &o.Metrics[k], o.SummariesAt(o.Points[0].Name)
	groups := groupsWith(summaries, m)
	for _, group := range groups {
		b := energyBars(summaries, group, m)
		b.Title = "Energy of " + r.Base() + " by " + group
		if len(o.Workloads) > 1 {
			b.Note = "Means over workloads and seeds."
		}
		name := ""
		if len(groups) > 1 {
			name = group
		}
		all = append(all, drawing{name, b})
	}
	return all, nil
}

// groupsWith returns the groupings of jobs that have a metric.
func groupsWith(summaries []study.Summary, m *study.Metric) (groups []string) {
	for _, s := range summaries {
		for _, p := range s.Parts {
			if has(p.Values, m) && !slices.Contains(groups, p.Group) {
				groups = append(groups, p.Group)
			}
		}
	}
	return groups
}

// energyBars has a bar per scheduler, divided among the parts of a grouping.
func energyBars(summaries []study.Summary, group string, m *study.Metric) *figure.Bars {
	sums := map[string]float64{}
	for _, s := range summaries {
		for _, p := range s.Parts {
			if p.Group == group && has(p.Values, m) {
				sums[p.Name] += float64(p.Values[m.Key()])
			}
		}
	}
	names, kinds := largest(sums)
	b := &figure.Bars{X: figure.Axis{Name: m.Title, Unit: "kJ", Zero: true}, Names: names, Stacked: true, Values: true}
	for _, s := range summaries {
		g := figure.Group{Name: s.Scheduler, Bars: make([]figure.Bar, len(names))}
		for _, p := range s.Parts {
			if p.Group == group && has(p.Values, m) {
				g.Bars[kinds[p.Name]].Value += float64(p.Values[m.Key()]) / 1000
			}
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}
