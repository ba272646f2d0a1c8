package node

import (
	"slices"
	"time"

	"graft/internal/stat"
)

// Result is the outcome of tasks under a scheduler.
type Result struct {
	Scheduler string
	Tasks     []Outcome // by place
	Spans     []Span
	Summary   Summary
}

// Outcome is that of a task. Times count from the beginning of the study; those that did not come are -1.
type Outcome struct {
	Name                  string
	Device                int // on which it ran last; -1 if on none
	Arrival, Began, Ended time.Duration
	Run                   time.Duration // on a device
	Starts                int           // after a pause or on another device; one that was never stopped has one
	Joules                float64       // of its share of the devices' energy while it ran
	Failed                bool
}

// Turnaround is the time from arrival to the end.
func (o *Outcome) Turnaround() time.Duration { return o.Ended - o.Arrival }

// Summary has the figures of a study.
type Summary struct {
	Tasks, Completed int
	Turnaround       float64 // mean time from arrival to completion, s
	Tail             float64 // its 95th percentile, s
	Wait             float64 // mean part of it on no device, s
	Slowdown         float64 // mean turnaround over work alone
	Makespan         float64 // end of the last task, s
	Busy             float64 // mean share of cores in use until then
	Joules           float64 // of all devices until then
	Stops            int     // of tasks that went on later
}

// Delay is the product of energy and mean turnaround, in joule seconds (Gonzalez and Horowitz, Energy
// Dissipation in General Purpose Microprocessors, JSSC 31, 1996).
func (s *Summary) Delay() float64 { return s.Joules * s.Turnaround }

// Result returns the outcome of a simulation that has ended.
func (w *World) Result(scheduler string) *Result {
	r := &Result{Scheduler: scheduler, Spans: w.Spans}
	for _, t := range w.All {
		r.Tasks = append(r.Tasks, Outcome{
			Name: t.Name, Device: t.Device, Arrival: t.Arrival, Began: t.Began, Ended: t.Ended, Run: t.Ran,
			Joules: t.pace.joules, Failed: t.State == Failed,
		})
	}
	for _, s := range w.Spans {
		r.Tasks[s.Task].Starts++
	}
	cores := 0.0
	for k := range w.boards {
		w.settle(k)
		cores += w.boards[k].cores
	}
	r.Summary = Summarize(r.Tasks, w.All)
	if r.Summary.Joules = w.Energy(); r.Summary.Makespan > 0 {
		r.Summary.Busy = cores / r.Summary.Makespan / float64(len(w.Devices))
	}
	return r
}

// Summarize returns the figures that follow from the outcomes of tasks.
func Summarize(outcomes []Outcome, tasks []*Task) Summary {
	s := Summary{Tasks: len(outcomes)}
	var turnarounds, waits, slowdowns []float64
	for k := range outcomes {
		o := &outcomes[k]
		s.Makespan = max(s.Makespan, o.Ended.Seconds())
		if s.Stops += max(0, o.Starts-1); o.Failed || o.Ended < 0 {
			continue
		}
		s.Completed++
		turnaround := o.Turnaround().Seconds()
		turnarounds, waits = append(turnarounds, turnaround), append(waits, turnaround-o.Run.Seconds())
		if work := tasks[k].Work.Seconds(); work > 0 {
			slowdowns = append(slowdowns, turnaround/work)
		}
	}
	if s.Completed > 0 {
		s.Turnaround, s.Wait, s.Tail = stat.Mean(turnarounds), stat.Mean(waits),
			stat.Quantile(slices.Sorted(slices.Values(turnarounds)), 0.95)
	}
	if len(slowdowns) > 0 {
		s.Slowdown = stat.Mean(slowdowns)
	}
	return s
}
