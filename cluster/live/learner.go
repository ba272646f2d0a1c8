package live

import (
	"context"
	"fmt"
	"slices"

	"graft/cluster"
)

// Trainer trains live jobs while a simulation waits.
type Trainer interface {
	// Work returns the work of a live job that ends by its loss, relative to its work in the trace: the time that the
	// job needs on its timeline until its network has the loss that it would have without a decider, on the requested
	// devices, after its work in the trace. If adapts is false, the job has no decider. The last devices of the
	// timeline stay until the end. A job that needs more than the most work, or does not reach the loss, returns the
	// most work and false. The budget of the timeline is the job's work in the trace.
	Work(ctx context.Context, t Timeline, requested int, adapts bool) (share float64, reached bool, err error)
}

// Learner computes the work of live jobs that end by their losses. It asks for a training each time a job's devices
// change. Other jobs keep their learner, if any.
type Learner struct {
	cluster.Learner // of the other jobs; nil without one

	ctx     context.Context
	trainer Trainer
	adapts  bool
	jobs    map[*cluster.Job]*progress
}

// progress holds the work and the devices of a live job so far.
type progress struct {
	line    Timeline // by work, not by time: repeated work does not train the network
	done    float64  // work that trained the network
	debt    float64  // repeated work that exceeds the work before it
	left    float64  // remaining work when the job last got devices
	share   float64  // work until the end, relative to the work in the trace
	reached bool
}

// Learners returns the learner of each pool, whose live jobs have the given IDs, and adapt or not. The argument inner
// returns the learners of the other jobs; nil means that they do not adapt.
func Learners(ctx context.Context, t Trainer, ids []string, adapts bool,
	inner func([]*cluster.Job) cluster.Learner) func([]*cluster.Job) cluster.Learner {
	return func(jobs []*cluster.Job) cluster.Learner {
		l := &Learner{ctx: ctx, trainer: t, adapts: adapts, jobs: map[*cluster.Job]*progress{}}
		if inner != nil {
			l.Learner = inner(jobs)
		}
		for _, j := range jobs {
			if slices.Contains(ids, j.Trace.ID) {
				l.jobs[j] = &progress{line: Timeline{Budget: j.Remaining()}, left: j.Remaining(), share: 1}
			}
		}
		return l
	}
}

// Given implements [cluster.Learner].
func (l *Learner) Given(j *cluster.Job, left float64) (float64, error) {
	p := l.jobs[j]
	if p == nil {
		if l.Learner == nil {
			return left, nil
		}
		return l.Learner.Given(j, left)
	}
	p.follow(left)
	p.line.give(p.done, j.GPUs)
	var err error
	if p.share, p.reached = 1, true; !l.adapts && len(p.line.Changes) == 0 && p.line.First == j.Trace.GPUs {
		// as in the trace
	} else if p.share, p.reached, err = l.trainer.Work(l.ctx, p.line.copy(), j.Trace.GPUs, l.adapts); err != nil {
		return 0, fmt.Errorf("train live job %s: %w", j.Trace.ID, err)
	}
	p.left = p.debt + max(1, p.share*p.line.Budget-p.done)
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

// Ended implements [cluster.Learner].
func (l *Learner) Ended(j *cluster.Job, left float64) {
	if l.jobs[j] == nil && l.Learner != nil {
		l.Learner.Ended(j, left)
	}
}

// Offer implements [cluster.Learner]. A live job offers to work in proportion to its devices, up to the number that it
// requests.
func (l *Learner) Offer(j *cluster.Job, gpus int, left float64) cluster.Offer {
	if l.jobs[j] == nil && l.Learner != nil {
		return l.Learner.Offer(j, gpus, left)
	}
	return cluster.Offer{Goodput: float64(min(gpus, j.Trace.GPUs)) / float64(j.Trace.GPUs)}
}

// Columns implements [cluster.Learner].
func (l *Learner) Columns() []string {
	if l.Learner == nil {
		return nil
	}
	return l.Learner.Columns()
}

// Cells implements [cluster.Learner].
func (l *Learner) Cells(row []byte, j *cluster.Job) []byte {
	if l.Learner == nil {
		return row
	}
	return l.Learner.Cells(row, j)
}

// Result returns the work of a live job until its end, relative to its work in the trace, and whether it reached its
// loss; known is false for other jobs.
func (l *Learner) Result(j *cluster.Job) (share float64, reached, known bool) {
	p := l.jobs[j]
	if p == nil {
		return 0, false, false
	}
	return p.share, p.reached, true
}

// Speed returns a speed model in which live jobs that share no devices do one second of work per second on any number
// of devices: their trainings contain the speed.
func Speed(model cluster.SpeedModel, ids []string) cluster.SpeedModel {
	live := map[string]bool{}
	for _, id := range ids {
		live[id] = true
	}
	return speed{model, live}
}

type speed struct {
	cluster.SpeedModel
	live map[string]bool // IDs of the live jobs
}

// Rates implements [cluster.SpeedModel].
func (s speed) Rates(p cluster.Placement) (job, partner float64) {
	if p.Partner == nil && s.live[p.Job.Trace.ID] {
		return 1, 1
	}
	return s.SpeedModel.Rates(p)
}
