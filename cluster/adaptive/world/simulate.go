package world

import (
	"context"
	"fmt"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/lucid"
	"graft/cluster/study"
	"graft/internal/words"
)

// adapting simulates jobs under a scheduler of adaptive jobs.
func adapting(ctx context.Context, t *study.Tables, s adaptive.Study, d *Scheduler) (*result, error) {
	w, err := adaptive.NewWorld(s, d.Kind)
	if err != nil {
		return nil, err
	}
	err = writeCourse(t, func(c course) error {
		w.Decided = decided(c)
		return w.Run(ctx, d.Kind)
	})
	if err != nil {
		return nil, err
	}
	r := &result{gaps: w.Gaps(), devices: s.Options.Nodes * s.Options.Devices}
	for k, j := range w.Jobs() {
		r.jobs = append(r.jobs, job{&s.Jobs[k], j.Submitted, j.Started, j.Ended, j.Attained, j.Restarts})
	}
	return r, nil
}

// decided returns a function that records a scheduler's decisions in a round.
func decided(c course) func(w *adaptive.World, active []*adaptive.Job) {
	last := map[*adaptive.Job][2]int{}
	return func(w *adaptive.World, active []*adaptive.Job) {
		running, devices := 0, 0
		for _, j := range active {
			now := [2]int{j.Devices(), 0}
			if now[0] > 0 {
				running, devices, now[1] = running+1, devices+now[0], j.Batch.Total(now[0])
			}
			if last[j] != now {
				last[j] = now
				c.allocated(w.Now(), j.Name, now[0], now[1])
			}
		}
		c.round(w.Now(), len(active), running, devices)
	}
}

// rigid simulates the jobs with the devices and batches that their users request.
func rigid(ctx context.Context, t *study.Tables, s adaptive.Study, d *Scheduler) (*result, error) {
	one, err := s.Rigid()
	if err != nil {
		return nil, err
	}
	if d.Rigid.Estimates != "" {
		for k := range one.Jobs {
			one.Estimates = append(one.Estimates, float64(one.Jobs[k].Duration))
		}
	}
	one.Profiles = &cluster.Profiles{} // empty, so that no jobs are packed
	o, err := one.Run(ctx, *d.Rigid, cluster.Options{Quirks: s.Options.Quirks, Workers: 1, Changes: true, Series: true})
	if err != nil {
		return nil, err
	}
	if len(o.Refused) > 0 {
		return nil, fmt.Errorf("%s cannot run on the cluster, for example job %s: %s",
			words.Plural(len(o.Refused), "job"), o.Refused[0].ID, o.Refused[0].Why)
	}
	r := &result{jobs: rigidJobs(&s, o), devices: s.Options.Nodes * s.Options.Devices}
	return r, writeCourse(t, func(c course) error {
		r.follow(o.Changes, c)
		pool := o.Pools[0]
		for u := range cluster.Sampled(pool.Usage, max(1, int64(s.Options.Interval)), pool.Last) {
			if u.Running+u.Waiting > 0 {
				c.round(float64(u.At), int(u.Running+u.Waiting), int(u.Running), int(u.GPUs-u.Idle))
			}
		}
		return nil
	})
}

// rigidJobs converts the jobs of an outcome. It leaves out device-seconds and restarts, which follow from changes.
func rigidJobs(s *adaptive.Study, o *cluster.Outcome) (all []job) {
	for k, j := range o.Jobs {
		made := job{spec: &s.Jobs[k], submitted: s.Jobs[k].Submitted, started: float64(j.Start), ended: float64(j.End)}
		if l := lucid.Of(j); l.Profiled { // before it moved to the other nodes
			made.started = float64(j.Trace.Submit + l.ProfileQueue)
			made.held = float64(j.GPUs) * float64(min(j.Trace.Duration, lucid.Limit))
		}
		all = append(all, made)
	}
	return all
}

// follow counts device-seconds and restarts of rigid jobs from the changes of their devices.
func (r *result) follow(changes []cluster.Change, course course) {
	devices, since := make([]int, len(r.jobs)), make([]int64, len(r.jobs))
	for _, c := range changes {
		k := c.Job.Index
		j := &r.jobs[k]
		j.held += float64(devices[k]) * float64(c.At-since[k])
		had := c.At > int64(j.started)
		devices[k], since[k] = c.GPUs, c.At
		switch c.What {
		case "preempt", "end":
			devices[k] = 0
		default:
			if had {
				j.restarts++
			}
		}
		if c.What != "end" {
			course.allocated(float64(c.At), j.spec.Name, devices[k], min(devices[k], 1)*j.spec.Batch)
		}
	}
}
