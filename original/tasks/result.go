package tasks

import (
	"fmt"
	"slices"
)

// Result is an episode of an [Env] up to now.
type Result struct {
	Makespan int         // steps, one more than the last end
	Reward   float64     // sum over steps, not discounted
	Tasks    int         // of the episode
	Placed   int         // tasks that got a GPU
	Lost     []int       // IDs of tasks that did not fit and never run, in the order of the queue
	Waited   int         // sum, over steps, of all counters of waiting; lost tasks count to the end
	Schedule []Placement // of tasks that have ended, in that order, then of running ones
	Usage    [][]int     // of compute, in percent, of each GPU after each step
}

// Result returns a copy of the episode.
func (e *Env) Result() Result {
	r := Result{
		Makespan: e.steps, Reward: e.reward, Tasks: len(e.tasks), Placed: len(e.ended) + len(e.running),
		Lost: slices.Clone(e.lost), Waited: e.waited, Schedule: slices.Concat(e.ended, e.running),
	}
	for gpu := range e.o.GPUs {
		line := make([]int, 0, e.steps)
		for at := gpu; at < len(e.history); at += e.o.GPUs {
			line = append(line, e.history[at])
		}
		r.Usage = append(r.Usage, line)
	}
	return r
}

// AverageWaiting is the sum of waiting over a number of tasks, which need not be that of the episode: the
// published evaluation divides by 200.
func (r Result) AverageWaiting(tasks int) float64 { return float64(r.Waited) / float64(tasks) }

// MeanStart is the mean step at which placed tasks start; 0 without one.
func (r Result) MeanStart() float64 {
	sum := 0
	for _, p := range r.Schedule {
		sum += p.Start
	}
	return float64(sum) / float64(max(1, len(r.Schedule)))
}

// MeanUsage is the mean usage of compute of each GPU, in percent.
func (r Result) MeanUsage() (means []float64) {
	for _, line := range r.Usage {
		sum := 0
		for _, v := range line {
			sum += v
		}
		means = append(means, float64(sum)/float64(max(1, len(line))))
	}
	return means
}

// Bar is a task in the published Gantt chart.
type Bar struct {
	Row    int     // GPU
	Left   int     // step at which the task starts
	Width  int     // its duration in steps
	Color  string  // of the GPU, as #rrggbb
	Text   string  // in the middle of the bar
	Middle float64 // place of the text, in steps
}

// colors are the ten colours of Tableau, in Matplotlib's order.
var colors = [...]string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
	"#bcbd22", "#17becf"}

// Gantt returns the bars of the chart, in the order in which they are drawn. Tasks that share a GPU lie
// above each other, and lost ones have no bar.
func (r Result) Gantt() (bars []Bar) {
	for _, p := range r.Schedule {
		bars = append(bars, Bar{
			Row: p.On, Left: p.Start, Width: p.Duration, Color: colors[p.On%len(colors)],
			Text: fmt.Sprintf("Task %d", p.ID), Middle: float64(p.Start) + float64(p.Duration)/2,
		})
	}
	return bars
}
