package plot

import (
	"maps"
	"slices"

	"graft/report/figure"
	"graft/report/runs"
)

// plotNodeEnergy draws the energy of the first workload by groups of tasks, under each scheduler.
func plotNodeEnergy(r *runs.Run, o *runs.NodeOutcome) ([]drawing, error) {
	if len(o.Cells) == 0 {
		return nil, nil
	}
	totals, err := runs.NodeTable(r)
	if err != nil {
		return nil, err
	}
	each := make([]map[string]float64, len(o.Cells)) // joules by group
	sums := map[string]float64{}
	for k, c := range o.Cells {
		if each[k], err = groupJoules(r, c.Scheduler); err != nil {
			return nil, err
		}
		for name, joules := range each[k] {
			sums[name] += joules
		}
	}
	names, kinds := largest(sums)
	b := &figure.Bars{Title: "Energy of tasks of " + r.Base(), X: figure.Axis{Name: "energy", Unit: "kJ", Zero: true},
		Names: append(names, "idle GPUs, switches"), Stacked: true, Values: true,
		Note: "By the file's model of power. Tasks on one GPU share its energy."}
	if o.Workloads > 1 {
		b.Note = "The first workload. " + b.Note
	}
	for k, c := range o.Cells {
		total := slices.IndexFunc(totals,
			func(t runs.NodeTotals) bool { return t.Scheduler == c.Scheduler && t.Workload == 1 && t.Seed == 1 })
		b.Groups = append(b.Groups, figure.Group{Name: c.Scheduler, Bars: energyBars(each[k], kinds, len(names))})
		if total >= 0 {
			g := &b.Groups[k]
			rest := totals[total].Joules / 1000
			for _, bar := range g.Bars[:len(names)] {
				rest -= bar.Value
			}
			g.Bars[len(names)].Value = max(0, rest)
		}
	}
	return []drawing{{Figure: b}}, nil
}

// energyBars sums joules by kind, in kJ, with a bar for the rest.
func energyBars(joules map[string]float64, kinds map[string]int, count int) []figure.Bar {
	bars := make([]figure.Bar, count+1)
	for _, name := range slices.Sorted(maps.Keys(joules)) { // sums do not depend on the order of a map
		bars[kinds[name]].Value += joules[name] / 1000
	}
	return bars
}

// groupJoules sums the joules of the first workload by group; tasks without one are their own.
func groupJoules(r *runs.Run, scheduler string) (map[string]float64, error) {
	spans, err := runs.NodeSpans(r, scheduler)
	if err != nil {
		return nil, err
	}
	tasks, err := runs.NodeTasks(r, scheduler)
	if err != nil {
		return nil, err
	}
	groups, sums := map[string]string{}, map[string]float64{}
	for _, s := range spans {
		if s.Group != "" {
			groups[s.Task] = s.Group
		}
	}
	for _, t := range tasks {
		if t.Workload != 1 || t.Seed != 1 {
			continue
		}
		group, has := groups[t.Task]
		if !has {
			group = t.Task
		}
		sums[group] += t.Joules
	}
	return sums, nil
}
