package node

import (
	"slices"
	"time"

	"graft/internal/stat"
)

// Result is the outcome of tasks under a scheduler.
type Result struct {
	Scheduler string
	Tasks     []Outcome // outcomes in the order of the study's tasks
	Spans     []Span
	Summary   Summary
}

// Outcome is the outcome of a task. Times are relative to the beginning of the study; -1 means that the event did not
// occur.
type Outcome struct {
	Name                  string
	Device                int // position of the last device; -1 for none
	Arrival, Began, Ended time.Duration
	Run                   time.Duration // run time on devices
	Starts                int           // number of starts, including continuations after a stop
	Joules                float64       // task's share of the devices' energy while it ran, in joules
	Failed                bool
}

// Turnaround returns the time from arrival to the end.
func (o *Outcome) Turnaround() time.Duration { return o.Ended - o.Arrival }

// Summary holds the metrics of a study.
type Summary struct {
	Tasks, Completed int
	Turnaround       float64 // mean time from arrival to completion in seconds
	Tail             float64 // 95th percentile of the time from arrival to completion, in seconds
	Wait             float64 // mean time in the queue in seconds
	Slowdown         float64 // mean of turnaround divided by the run time alone
	Makespan         float64 // end of the last task in seconds
	Busy             float64 // mean fraction of cores in use until Makespan
	Joules           float64 // energy of all devices until Makespan, in joules
	Stops            int     // number of stops of tasks that continued later
}

// Delay returns the energy-delay product: energy multiplied by mean turnaround, in joule seconds (Gonzalez and
// Horowitz, Energy Dissipation in General Purpose Microprocessors, JSSC 31, 1996).
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

// Summarize computes metrics from the outcomes of tasks.
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
