package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"graft/cluster/execute"
	"graft/cluster/node"
	"graft/fleet"
	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/report/runs"
	"graft/results"
)

const (
	mostCopies    = 4096    // copies of a task in a measurement
	mostProfiled  = 1 << 20 // bytes of the log of a run
	defaultMemory = 16384.0 // MiB for a device of unknown memory, as in an executor
)

// chains holds the runs of the one or two tasks of a measurement. Each task starts again until the measurement is over.
type chains struct {
	spans   [2][]span
	places  []int // side of each job
	single  [2]time.Duration
	sides   int
	seconds float64
	failure string // failure of a task; empty for none
	enough  bool
	stop    func()
}

// atOnce is a scheduler that starts each task if its memory fits, whatever cores it requests.
type atOnce struct{}

// Decide implements [node.Scheduler].
func (atOnce) Decide(m *node.Machine) node.Decision {
	for _, t := range m.Queue {
		if m.Holds(t, m.Devices[0]) {
			return node.Decision{Start: t, On: m.Devices[0]}
		}
	}
	return node.Decision{}
}

// observe follows the executor, and stops it when there are enough runs.
func (c *chains) observe(e execute.Event) {
	if e.Task < 0 {
		return
	}
	list := &c.spans[c.places[e.Task]]
	switch e.Kind {
	case execute.Started:
		*list = append(*list, span{from: e.At, to: e.At})
		return
	case execute.Ended:
	default:
		return
	}
	if k := len(*list) - 1; k >= 0 {
		(*list)[k].to, (*list)[k].done = e.At, e.End == execute.Done
	}
	if e.End == execute.Failed && c.failure == "" && !c.enough {
		c.failure = e.Name + ": " + e.Reason
	}
	if c.enough = c.enough || e.End == execute.Done && e.At.Seconds() >= c.seconds && c.complete(e.At); c.enough ||
		c.failure != "" {
		c.stop()
	}
}

// complete reports whether at a time each task has a run that counts.
func (c *chains) complete(now time.Duration) bool {
	if c.sides == 1 {
		return true
	}
	for side := range 2 {
		if _, _, n := together(c.spans[side], until(c.spans[1-side], now), c.single[side]); n == 0 {
			return false
		}
	}
	return true
}

// until extends the current run to now.
func until(list []span, now time.Duration) []span {
	list = append([]span{}, list...)
	if k := len(list) - 1; k >= 0 && list[k].to == list[k].from && !list[k].done {
		list[k].to = now
	}
	return list
}

// measure measures one or two tasks into a row. It returns the reason if it cannot; empty if it can. Logs of failed
// tasks stay in the run folder.
func (p *profiler) measure(ctx context.Context, number int, sides []int,
	row *runs.NodeProfileRow) (reason string, err error) {
	folder := p.run.Path(fmt.Sprintf("measurement-%d", number))
	if err := files.RemoveAll(p.env.Files, folder); err != nil { // left by a killed run
		return "", err
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(p.o.Most*float64(time.Second)))
	defer cancel()
	c := &chains{sides: len(sides), seconds: p.o.Seconds, stop: cancel}
	jobs := p.chained(c, row.Repeat, sides)
	run, err := p.env.CreateRun(folder, runs.NodeRunKind, results.CreateOptions{}, results.Manifest{})
	if err != nil {
		return "", err
	}
	o := p.options
	o.Run, o.Clock, o.Observer, o.LogLimit = run, fleet.NewClock(p.env.Now), c.observe, mostProfiled
	o.Rules = node.Rules{Together: len(sides), Keep: true}
	use := p.begin()
	_, err = execute.Run(within, o, jobs)
	row.Use = use()
	switch {
	case ctx.Err() != nil || err != nil && within.Err() == nil:
		return "", errors.Join(err, run.Discard())
	case c.failure != "":
		return fmt.Sprintf("%s; its log is in %s/logs", c.failure, filepath.Base(folder)), run.Close()
	case !c.enough && !c.all(row):
		return fmt.Sprintf("no complete run within %g s; increase option \"most-seconds\"", p.o.Most), run.Close()
	}
	c.all(row)
	return "", run.Discard()
}

// all sets the times and speeds of a measurement, and reports whether all tasks have some.
func (c *chains) all(row *runs.NodeProfileRow) bool {
	for side := range c.sides {
		speed, mean, n := 1.0, time.Duration(0), 0
		if c.sides == 1 {
			mean, n = alone(c.spans[0])
		} else {
			speed, mean, n = together(c.spans[side], c.spans[1-side], c.single[side])
		}
		if n == 0 {
			return false
		}
		row.Speeds[side], row.Times[side], row.Runs[side] = speed, mean.Seconds(), n
	}
	return true
}

// chained returns the jobs of a measurement: copies of each task, one after the other.
func (p *profiler) chained(c *chains, repeat int, sides []int) (jobs []execute.Job) {
	for side, task := range sides {
		copies := mostCopies
		if len(sides) > 1 {
			c.single[side] = p.single(repeat, task)
			copies = int(min(mostCopies, 2+2*p.o.Most/c.single[side].Seconds()))
		}
		for k := range copies {
			j := p.jobs[task]
			if j.Name = fmt.Sprintf("%s.%d.%d", j.Name, side+1, k+1); k > 0 {
				j.After = []int{len(jobs) - 1}
			}
			jobs, c.places = append(jobs, j), append(c.places, side)
		}
	}
	return jobs
}

// begin measures the device until use is called.
func (p *profiler) begin() (use func() runs.NodeUse) {
	var m *telemetry.Meter
	if p.sampler != nil {
		m, _ = p.sampler.Begin(p.at, telemetry.Use{})
	}
	if m == nil {
		return func() runs.NodeUse { return runs.NodeUse{} }
	}
	return func() runs.NodeUse {
		s := p.sampler.End(m)
		return runs.NodeUse{Utilization: pointer(s.MeanUtilizationPercent), Memory: pointer(s.PeakMemoryMiB),
			Watts: pointer(s.Watts())}
	}
}

func pointer(o telemetry.Optional[float64]) *float64 {
	if v, known := o.Get(); known {
		return &v
	}
	return nil
}
