package schedtest

import (
	"errors"
	"fmt"

	"graft/cluster"
	"graft/internal/validate"
)

// watch wraps a scheduler and checks its pool. It keeps the first fault.
type watch struct {
	inner cluster.Scheduler
	extra int64 // seconds that jobs keep their devices after their work is done
	fault *error
	jobs  []*watched // in order of arrival
	of    map[*cluster.Job]*watched
}

type watched struct {
	job     *cluster.Job
	ended   bool
	running bool
	at      int64 // second of the last update
	left    float64
	rate    float64
	waited  int64
	queue   int64 // seconds of waiting before the arrival
}

// watching returns a policy whose schedulers are watched.
func watching(policy cluster.Policy, fault *error) cluster.Policy {
	inner := policy.New
	policy.New = func(s cluster.Setup) (cluster.Scheduler, error) {
		sched, err := inner(s)
		return &watch{inner: sched, extra: s.Extra, fault: fault, of: map[*cluster.Job]*watched{}}, err
	}
	return policy
}

func (w *watch) wrong(format string, args ...any) {
	if *w.fault == nil {
		*w.fault = fmt.Errorf(format, args...)
	}
}

func (w *watch) Arrived(j *cluster.Job) {
	if w.of[j] != nil || j.Running() || j.End != cluster.Never {
		w.wrong("job %s arrives twice, or runs before it arrives", j.Trace.ID)
	}
	seen := &watched{job: j, at: j.Arrival, left: float64(j.Trace.Duration), queue: j.Queue}
	w.jobs, w.of[j] = append(w.jobs, seen), seen
	w.inner.Arrived(j)
}

// Ended checks that the job ended in the second in which its work was completed.
func (w *watch) Ended(j *cluster.Job) {
	seen := w.of[j]
	if seen == nil || seen.ended || j.Running() {
		w.wrong("job %s ends twice, or before it arrives", j.Trace.ID)
		return
	}
	seen.ended = true
	end := seen.at + w.extra
	for left := seen.left; left > 0 && end < j.End+2; left -= seen.rate {
		end++
	}
	if !seen.running || end != j.End {
		w.wrong("job %s ends at second %d; its work of %v at a rate of %v from second %d ends at second %d", j.Trace.ID,
			j.End, seen.left, seen.rate, seen.at, end)
	}
	if waited := seen.queue + seen.waited; j.Queue != waited {
		w.wrong("job %s waited for %d seconds, but its counter is %d", j.Trace.ID, waited, j.Queue)
	}
	w.inner.Ended(j)
}

func (w *watch) Schedule(p *cluster.Pool) int64 {
	w.before(p)
	wake := w.inner.Schedule(p)
	if wake <= p.Now() {
		w.wrong("second %d: the scheduler requested its next call at second %d", p.Now(), wake)
	}
	w.after(p)
	return wake
}

// before checks the progress of jobs since the last call.
func (w *watch) before(p *cluster.Pool) {
	for _, seen := range w.jobs {
		if seen.ended {
			continue
		}
		if seen.job.Arrival > p.Now() {
			w.wrong("job %s arrives at second %d, after a job at second %d", seen.job.Trace.ID, p.Now(),
				seen.job.Arrival)
		}
		for ; seen.at < p.Now(); seen.at++ {
			if !seen.running {
				seen.waited++
			} else if seen.left > 0 {
				seen.left -= seen.rate
			}
		}
		if left := p.Left(seen.job); left != seen.left && (left > 0 || seen.left > 0) {
			w.wrong("second %d: job %s has %v seconds of work left, expected %v", p.Now(), seen.job.Trace.ID, left,
				seen.left)
		}
	}
}

// after checks and records the state of the pool. No job may lose remaining work between events.
func (w *watch) after(p *cluster.Pool) {
	if err := p.Check(); err != nil {
		w.wrong("second %d: %w", p.Now(), err)
	}
	running, waiting, taken := 0, 0, int64(0)
	for _, seen := range w.jobs {
		j := seen.job
		if seen.ended {
			if j.Running() {
				w.wrong("job %s runs after its end", j.Trace.ID)
			}
			continue
		}
		if left := p.Left(j); left < seen.left && left > 0 {
			w.wrong("second %d: the work of job %s became %v, from %v", p.Now(), j.Trace.ID, left, seen.left)
		}
		seen.running, seen.left, seen.rate = j.Running(), p.Left(j), j.Rate()
		if !seen.running {
			waiting++
			continue
		}
		running++
		if taken += j.Demand(); j.Partner() != nil && j.Order() > j.Partner().Order() {
			taken -= j.Demand()
		}
	}
	if running != p.Count() || waiting != p.Waiting() || taken > int64(p.GPUs())*cluster.Whole {
		w.wrong("second %d: %d jobs run, %d wait, %d thousandths of %d devices in use; counted %d and %d", p.Now(),
			running, waiting, taken, p.GPUs(), p.Count(), p.Waiting())
	}
}

// whole checks the invariants of an outcome: each job ended or was refused, and none ended before its submission.
func whole(study *cluster.Study, o *cluster.Outcome) error {
	if len(o.Jobs)+len(o.Refused) != len(study.Jobs) {
		return fmt.Errorf("%d jobs were simulated and %d were refused; expected %d in total", len(o.Jobs),
			len(o.Refused), len(study.Jobs))
	}
	var faults validate.Faults
	for _, j := range o.Jobs {
		faults.When(j.Start < j.Trace.Submit || j.End < j.Start || j.End == cluster.Never || j.Running() || j.Queue < 0,
			"job %s: submitted at second %d, started at second %d, ended at second %d, "+
				"waited %d seconds", j.Trace.ID, j.Trace.Submit, j.Start, j.End, j.Queue)
	}
	for _, p := range o.Pools {
		faults.When(p.Used > p.All, "pool %s used %v of %v device-seconds", p.Name, p.Used, p.All)
	}
	return errors.Join(faults...)
}
