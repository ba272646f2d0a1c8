package node

import (
	"slices"

	"graft/cluster"
	"graft/cluster/execute"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// profileOutcome summarizes measurements over their repeats.
func profileOutcome(jobs []execute.Job, rows []runs.NodeProfileRow) *runs.NodeProfileOutcome {
	o := &runs.NodeProfileOutcome{Tasks: []runs.NodeProfileTask{}, Pairs: []runs.NodeProfilePair{}}
	for k, j := range jobs {
		if alone := rowsOf(rows, j.Name, ""); len(alone) > 0 {
			o.Tasks = append(o.Tasks, profileTask(j.Name, alone))
		}
		for _, other := range jobs[k:] {
			if pair := rowsOf(rows, j.Name, other.Name); len(pair) > 0 {
				o.Pairs = append(o.Pairs, profilePair(pair))
			}
		}
	}
	for k := range o.Tasks {
		o.Tasks[k].Label = label(o.Tasks[k].Task, o.Pairs)
	}
	for _, r := range rows {
		o.Repeats = max(o.Repeats, r.Repeat)
	}
	return o
}

func rowsOf(rows []runs.NodeProfileRow, first, second string) []runs.NodeProfileRow {
	return slices.DeleteFunc(slices.Clone(rows),
		func(r runs.NodeProfileRow) bool { return r.Tasks != [2]string{first, second} })
}

func profileTask(name string, rows []runs.NodeProfileRow) runs.NodeProfileTask {
	t := runs.NodeProfileTask{Task: name,
		Seconds: spread(rows, func(r *runs.NodeProfileRow) float64 { return r.Times[0] }), NodeUse: meanUse(rows)}
	for _, r := range rows {
		t.Runs += r.Runs[0]
	}
	return t
}

func profilePair(rows []runs.NodeProfileRow) runs.NodeProfilePair {
	p := runs.NodeProfilePair{First: rows[0].Tasks[0], Second: rows[0].Tasks[1], NodeUse: meanUse(rows),
		Speed1: spread(rows, func(r *runs.NodeProfileRow) float64 { return r.Speeds[0] }),
		Speed2: spread(rows, func(r *runs.NodeProfileRow) float64 { return r.Speeds[1] })}
	for _, r := range rows {
		p.Runs1, p.Runs2 = p.Runs1+r.Runs[0], p.Runs2+r.Runs[1]
	}
	return p
}

func spread(rows []runs.NodeProfileRow, of func(r *runs.NodeProfileRow) float64) runs.NodeSpread {
	var values []float64
	for k := range rows {
		values = append(values, of(&rows[k]))
	}
	return runs.NewNodeSpread(values)
}

// meanUse returns the mean use of the device, and the peak memory; unknown if unknown for a repeat.
func meanUse(rows []runs.NodeProfileRow) (use runs.NodeUse) {
	mean := func(of func(u *runs.NodeUse) *float64, sum func([]float64) float64) *float64 {
		var values []float64
		for k := range rows {
			v := of(&rows[k].Use)
			if v == nil {
				return nil
			}
			values = append(values, *v)
		}
		v := sum(values)
		return &v
	}
	use.Utilization = mean(func(u *runs.NodeUse) *float64 { return u.Utilization }, stat.Mean)
	use.Memory = mean(func(u *runs.NodeUse) *float64 { return u.Memory }, slices.Max)
	use.Watts = mean(func(u *runs.NodeUse) *float64 { return u.Watts }, stat.Mean)
	return use
}

// label returns the score of a task by the mean speed of its partners; nil without pairs.
func label(task string, pairs []runs.NodeProfilePair) *int {
	var left []float64
	for _, p := range pairs {
		if p.First == task {
			left = append(left, p.Speed2.Mean)
		}
		if p.Second == task {
			left = append(left, p.Speed1.Mean)
		}
	}
	if len(left) == 0 {
		return nil
	}
	score := cluster.ScoreOf(stat.Mean(left))
	return &score
}

// writeProfiles writes the tables that other commands read.
func writeProfiles(env *app.Env, run *results.Run, o *runs.NodeProfileOutcome) error {
	p := &cluster.Profiles{Scores: map[cluster.Config]int{}, Pairs: map[[2]cluster.Config][2]float64{}}
	for _, t := range o.Tasks {
		if t.Label != nil {
			p.Scores[cluster.Config{Model: t.Task}] = *t.Label
		}
	}
	for _, pair := range o.Pairs {
		p.Pairs[[2]cluster.Config{{Model: pair.First}, {Model: pair.Second}}] = [2]float64{pair.Speed1.Mean,
			pair.Speed2.Mean}
	}
	return p.Write(env.Files, run.Path(runs.NodeAloneFile), run.Path(runs.NodePairsFile))
}
