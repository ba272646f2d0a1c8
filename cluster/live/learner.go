package live

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"graft/cluster"
)

// Trainer trains live jobs while a simulation waits.
type Trainer interface {
	// Work returns the work of a live job that ends by its loss. The times of the timeline are work; its budget is the
	// job's work in the trace. The last devices of the timeline stay until the end. Draw is the number of the
	// simulation, from zero; each has other seeds.
	Work(ctx context.Context, t Timeline, draw int) (Work, error)
}

// Work is the work of a live job that ends by its loss, a mean over seeds.
type Work struct {
	// work until the network has the loss that it would have without a decider after its work in the trace, relative
	// to this work
	Share  float64
	Missed bool // the share exceeds the most work for some seed; then the most work counts
	// part of the work in the trace after which the network first has this loss without a decider; it is less than 1 if
	// the loss rises again
	First float64
	// paths of the trainings in the run folder, with and without the decider; empty for a job that was not trained
	Adaptive, Never string
}

// Learner computes the work of live jobs that end by their losses. It asks for a training each time a job's devices
// change. Other jobs do not adapt.
type Learner struct {
	ctx     context.Context
	trainer Trainer
	draw    int
	jobs    map[*cluster.Job]*progress
}

// progress holds the completed work and the devices of a live job.
type progress struct {
	line Timeline // by work, not by time: repeated work does not train the network
	done float64  // work that trained the network
	debt float64  // repeated work that exceeds the work before it
	left float64  // remaining work when the job last got devices
	work Work
}

// Learners returns the learner of each pool of a simulation, whose live jobs have the given IDs.
func Learners(ctx context.Context, t Trainer, draw int, ids []string) func([]*cluster.Job) cluster.Learner {
	return func(jobs []*cluster.Job) cluster.Learner {
		l := &Learner{ctx: ctx, trainer: t, draw: draw, jobs: map[*cluster.Job]*progress{}}
		for _, j := range jobs {
			if slices.Contains(ids, j.Trace.ID) {
				l.jobs[j] = &progress{line: Timeline{Budget: j.Remaining()}, left: j.Remaining(), work: asTraced}
			}
		}
		return l
	}
}

// Untrained returns the work of a live job that does not adapt.
func Untrained(j *cluster.Job) Work {
	w := Work{Share: 1, First: math.NaN()}
	if j.TimedOut() {
		w.Share, w.Missed = max(0, 1-j.Remaining()/float64(j.Trace.Duration)), true
	}
	return w
}

// asTraced is the work of a job that ends as in the trace.
var asTraced = Work{Share: 1, First: 1}

// Given implements [cluster.Learner].
func (l *Learner) Given(j *cluster.Job, left float64) (float64, error) {
	p := l.jobs[j]
	if p == nil {
		return left, nil
	}
	p.follow(left)
	p.line.give(p.done, j.GPUs)
	var err error
	if p.work, err = l.trainer.Work(l.ctx, p.line.copy(), l.draw); err != nil {
		return 0, fmt.Errorf("train live job %s: %w", j.Trace.ID, err)
	}
	p.left = p.debt + max(1, p.work.Share*p.line.Budget-p.done)
	return p.left, nil
}

// follow counts the work since the job last got devices. A job that lost work continues from an earlier state of its
// network.
func (p *progress) follow(left float64) {
	work := p.left - left - p.debt
	p.debt, p.left = max(0, -work-p.done), left
	p.done = max(0, p.done+work)
}

// give adds the devices that a job has from now on. Changes after now belong to lost work.
func (t *Timeline) give(now float64, devices int) {
	t.Changes = slices.DeleteFunc(t.Changes, func(c Change) bool { return c.At >= now })
	if now <= 0 || t.First == 0 {
		t.First = devices
		return
	}
	before := t.First
	if n := len(t.Changes); n > 0 {
		before = t.Changes[n-1].Devices
	}
	if devices != before {
		t.Changes = append(t.Changes, Change{now, devices, devices > before})
	}
}

func (t *Timeline) copy() Timeline {
	c := *t
	c.Changes = slices.Clone(t.Changes)
	return c
}

// Ended implements [cluster.Learner]. A job that reached its time limit has the work until then, and misses its loss.
func (l *Learner) Ended(j *cluster.Job, left float64) {
	p := l.jobs[j]
	if p == nil {
		return
	}
	p.follow(left)
	if j.TimedOut() && p.line.Budget > 0 {
		p.work.Share, p.work.Missed = p.done/p.line.Budget, true
	}
}

// Offer implements [cluster.Learner].
func (*Learner) Offer(j *cluster.Job, gpus int, _ float64) cluster.Offer {
	return cluster.PlainOffer(j, gpus)
}

// Columns implements [cluster.Learner].
func (*Learner) Columns() []string {
	return []string{"live_work [share]", "live_missed", "live_first [share]", AdaptiveColumn, NeverColumn}
}

// Cells implements [cluster.Learner]. The cells of jobs that are not live are empty.
func (l *Learner) Cells(row []byte, j *cluster.Job) []byte {
	p := l.jobs[j]
	if p == nil {
		return append(row, ",,,,,"...)
	}
	row = strconv.AppendFloat(append(row, ','), p.work.Share, 'f', 6, 64)
	row = strconv.AppendBool(append(row, ','), p.work.Missed)
	row = strconv.AppendFloat(append(row, ','), p.work.First, 'f', 6, 64)
	return append(append(append(append(row, ','), p.work.Adaptive...), ','), p.work.Never...)
}

// Result returns the work of a live job. A job that ended before its pool was simulated, in a profiler, ended as in the
// trace.
func (l *Learner) Result(j *cluster.Job) Work {
	if p := l.jobs[j]; p != nil {
		return p.work
	}
	return asTraced
}
