package adaptive

import (
	"context"
	"fmt"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/lucid"
	"graft/config"
)

// adapting simulates jobs under a scheduler of adaptive jobs.
func adapting(ctx context.Context, s adaptive.Study, kind adaptive.Kind) (*result, error) {
	w, err := adaptive.NewWorld(s, kind)
	if err != nil {
		return nil, err
	}
	r, last := &result{}, map[*adaptive.Job][2]int{}
	w.Decided = func(w *adaptive.World, active []*adaptive.Job) {
		running, devices := 0, 0
		for _, j := range active {
			now := [2]int{j.Devices(), 0}
			if now[0] > 0 {
				running, devices, now[1] = running+1, devices+now[0], j.Batch.Total(now[0])
			}
			if last[j] != now {
				last[j] = now
				r.allocated(w.Now(), j.Name, now[0], now[1])
			}
		}
		r.round(w.Now(), len(active), running, devices)
	}
	if err := w.Run(ctx, kind); err != nil {
		return nil, err
	}
	r.gaps = w.Gaps()
	for k, j := range w.Jobs() {
		r.jobs = append(r.jobs, job{&s.Jobs[k], j.Submitted, j.Started, j.Ended, j.Attained, j.Restarts})
	}
	return r, nil
}

// rigid simulates the jobs with what their users ask for.
func rigid(ctx context.Context, s adaptive.Study, d config.AdaptiveScheduler) (*result, error) {
	study, err := s.Rigid()
	if err != nil {
		return nil, err
	}
	if d.Rigid.Estimates != "" {
		for k := range study.Jobs {
			study.Estimates = append(study.Estimates, float64(study.Jobs[k].Duration))
		}
	}
	study.Profiles = &cluster.Profiles{} // of no model, so that no jobs are packed
	o, err := study.Run(ctx, *d.Rigid, cluster.Options{Quirks: s.Options.Quirks, Workers: 1, Changes: true,
		Series: true})
	if err != nil {
		return nil, err
	}
	if len(o.Refused) > 0 {
		return nil, fmt.Errorf("scheduler %s: job %s %s", d.Name, o.Refused[0].ID, o.Refused[0].Why)
	}
	r := &result{}
	for k, j := range o.Jobs {
		made := job{spec: &s.Jobs[k], submitted: s.Jobs[k].Submitted, started: float64(j.Start), ended: float64(j.End)}
		if l := lucid.Of(j); l.Profiled { // before it came to the other nodes
			made.started = float64(j.Trace.Submit + l.ProfileQueue)
			made.held = float64(j.GPUs) * float64(min(j.Trace.Duration, lucid.Limit))
		}
		r.jobs = append(r.jobs, made)
	}
	r.follow(o.Changes)
	pool := o.Pools[0]
	for u := range cluster.Sampled(pool.Usage, max(1, int64(s.Options.Interval)), pool.Last) {
		if u.Running+u.Waiting > 0 {
			r.round(float64(u.At), int(u.Running+u.Waiting), int(u.Running), int(u.GPUs-u.Idle))
		}
	}
	return r, nil
}

// follow counts device-seconds and restarts of rigid jobs from the changes of their devices.
func (r *result) follow(changes []cluster.Change) {
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
			r.allocated(float64(c.At), j.spec.Name, devices[k], min(devices[k], 1)*j.spec.Batch)
		}
	}
}
