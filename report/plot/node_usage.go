package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/report/figure"
	"graft/report/runs"
)

// plotNodeUsage draws the cores in use and the waiting tasks of the first workload over time.
func plotNodeUsage(r *runs.Run, o *runs.NodeOutcome) ([]drawing, error) {
	few, remark := fewCells(o)
	all, most, last := make([]use, len(few)), 0, 0.0
	for k, c := range few {
		spans, err := runs.NodeSpans(r, c.Scheduler)
		if err != nil {
			return nil, err
		}
		tasks, err := runs.NodeTasks(r, c.Scheduler)
		if err != nil {
			return nil, err
		}
		all[k] = useOf(spans, tasks, o.GPUs)
		if n := len(all[k].at); n > 0 {
			most, last = max(most, n), max(last, all[k].at[n-1])
		}
	}
	if most == 0 {
		return nil, nil
	}
	note := []string{"Cores of all GPUs, as far as tasks ask for them. Tasks wait from their arrival, " +
		"also for other tasks."}
	if o.Workloads > 1 {
		note = append([]string{"The first workload."}, note...)
	}
	used, waiting := figure.Panel{Y: figure.Axis{Name: "cores in use", Unit: "%", Low: 0, High: 100}},
		figure.Panel{Y: figure.Axis{Name: "waiting", Unit: "tasks", Zero: true}}
	if most > mostChanges {
		note = append(note, fmt.Sprintf("Each step is a mean; there are %d.", usageSteps))
	}
	for k, u := range all {
		if most > mostChanges {
			u = u.means(last / usageSteps)
		}
		used.Curves = append(used.Curves, figure.Curve{Name: few[k].Scheduler, X: u.at, Y: u.cores, Steps: true})
		waiting.Curves = append(waiting.Curves, figure.Curve{Name: few[k].Scheduler, X: u.at, Y: u.waiting,
			Steps: true})
	}
	return []drawing{{Figure: &figure.Chart{Title: "Use of " + r.Base() + " over time", X: figure.Axis{
		Name: "time", Unit: "s",
	}, Panels: []figure.Panel{used, waiting}, Note: strings.TrimSpace(strings.Join(append(note, remark), " "))}}}, nil
}

const (
	mostChanges = 600 // of a curve; beyond, steps show means
	usageSteps  = 150
)

// use is that of a machine over time.
type use struct{ at, cores, waiting []float64 }

// change holds a change of a machine's state.
type change struct {
	at, cores float64
	gpu       int // of cores
	waiting   float64
}

// useOf sums the cores up to all of each GPU, and the tasks that have arrived and neither run nor have ended.
func useOf(spans []runs.NodeSpan, tasks []runs.NodeTaskRow, gpus int) use {
	var all []change
	for _, s := range spans {
		all = append(all, change{s.From, s.Cores, s.GPU, -1}, change{s.To, -s.Cores, s.GPU, 1})
	}
	for _, t := range tasks {
		if t.Workload == 1 && t.Seed == 1 {
			all = append(all, change{at: t.Arrival, waiting: 1})
			if t.Ended >= 0 {
				all = append(all, change{at: t.Ended, waiting: -1})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var u use
	asked, sum, waiting := map[int]float64{}, 0.0, 0.0
	for k, c := range all {
		sum -= min(asked[c.gpu], 100)
		asked[c.gpu] += c.cores
		sum += min(asked[c.gpu], 100)
		if waiting += c.waiting; k+1 == len(all) || all[k+1].at > c.at {
			u.at, u.cores, u.waiting = append(u.at, c.at), append(u.cores, max(0, sum)/float64(max(gpus, 1))),
				append(u.waiting, waiting)
		}
	}
	return u
}

// means returns the averages over steps of a width, from zero.
func (u use) means(width float64) use {
	if len(u.at) == 0 {
		return u
	}
	steps := int(math.Ceil(u.at[len(u.at)-1] / width))
	m := use{make([]float64, steps), make([]float64, steps), make([]float64, steps)}
	for k := range steps {
		m.at[k] = width * float64(k)
	}
	for k := range len(u.at) - 1 {
		for step := int(u.at[k] / width); step < steps && m.at[step] < u.at[k+1]; step++ {
			share := max(0, min(u.at[k+1], m.at[step]+width)-max(u.at[k], m.at[step])) / width
			m.cores[step] += u.cores[k] * share
			m.waiting[step] += u.waiting[k] * share
		}
	}
	return m
}
