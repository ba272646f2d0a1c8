package tasks_test

import (
	"fmt"

	"graft/original/tasks"
)

// averageWaiting is the sum of waiting divided by count, which may differ from the episode's number of tasks: the
// published evaluation divides by 200.
func averageWaiting(r tasks.Result, count int) float64 { return float64(r.Waited) / float64(count) }

// meanStart is the mean step at which placed tasks start, or 0 without tasks.
func meanStart(r tasks.Result) float64 {
	sum := 0
	for _, p := range r.Schedule {
		sum += p.Start
	}
	return float64(sum) / float64(max(1, len(r.Schedule)))
}

// meanUsage is the mean usage of compute of each GPU, in percent.
func meanUsage(r tasks.Result) (means []float64) {
	for _, line := range r.Usage {
		sum := 0
		for _, v := range line {
			sum += v
		}
		means = append(means, float64(sum)/float64(max(1, len(line))))
	}
	return means
}

// bar is a task in the published Gantt chart, as recorded.
type bar struct {
	Row    int     `json:"y"`      // GPU
	Left   int     `json:"left"`   // step at which the task starts
	Width  int     `json:"width"`  // duration in steps
	Color  string  `json:"color"`  // color of the GPU, as #rrggbb
	Text   string  `json:"text"`   // text in the middle of the bar
	Middle float64 `json:"text_x"` // position of the text in steps
}

// colors holds the ten colours of Tableau, in Matplotlib's order.
var colors = [...]string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
	"#bcbd22", "#17becf"}

// gantt returns the bars of the chart in drawing order. Tasks that share a GPU overlap, and lost tasks have no bar.
func gantt(r tasks.Result) []bar {
	bars := []bar{}
	for _, p := range r.Schedule {
		bars = append(bars, bar{
			Row: p.On, Left: p.Start, Width: p.Duration, Color: colors[p.On%len(colors)],
			Text: fmt.Sprintf("Task %d", p.ID), Middle: float64(p.Start) + float64(p.Duration)/2,
		})
	}
	return bars
}
