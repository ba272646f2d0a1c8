package ramp

import (
	"fmt"
	"math"

	"graft/cluster/fabric"
)

// Reward computes a reward of PAC-ML's published simulator for a decision.
type Reward struct {
	Kind    string  // name of the reward function
	Success float64 // reward of a job that started, for job_acceptance
	Fail    float64 // reward of a blocked job, for job_acceptance
	// completion time assumed for a blocked job, as a multiple of its run time on one server; only for
	// lookahead_job_completion_time
	Factor float64
	Weight float64 // weight of blocked jobs, for multi_objective_jct_blocking
	// divisor of the reward; zero means no division. For lookahead_job_completion_time, the reward is divided by Scale
	// times the job's run time on one server. For throughputs, any nonzero Scale divides by the maximum throughput.
	Scale   float64
	Inverse bool // whether lookahead_job_completion_time returns its inverse, which is positive
	Log     bool // whether the reward's magnitude is replaced by log10 of one plus it
}

// Decision holds the outcome of a scheduling decision, from which a reward is computed. The outcome is known after the
// next event.
type Decision struct {
	Job        *fabric.Job
	Accepted   bool    // whether the job started and ended before the end of the episode
	Sequential float64 // run time of the job on one server, in s
	Event      fabric.Event
	// maximum throughput of the cluster in bytes per second: first for operations only, then for operations and
	// channels together
	Largest [2]float64
}

// rewards maps kinds to rewards before sign, logarithm and scale.
var rewards = map[string]func(r *Reward, s *Scales, d *Decision) float64{
	"job_acceptance": func(r *Reward, _ *Scales, d *Decision) float64 {
		if d.Accepted {
			return r.Success
		}
		return r.Fail
	},
	"lookahead_job_completion_time": (*Reward).lookahead,
	"multi_objective_jct_blocking":  (*Reward).objective,
	"mean_compute_throughput": func(r *Reward, _ *Scales, d *Decision) float64 {
		return r.throughput(d, d.Event.Memory, d.Largest[0])
	},
	"mean_cluster_throughput": func(r *Reward, _ *Scales, d *Decision) float64 {
		return r.throughput(d, d.Event.Memory+d.Event.Dep, d.Largest[1])
	},
	"mean_demand_total_throughput": func(r *Reward, _ *Scales, d *Decision) float64 {
		return r.throughput(d, d.Event.DemandMemory+d.Event.DemandDep, d.Largest[1])
	},
}

// Of returns the reward for a decision. It returns an error for an unknown Kind.
func (r *Reward) Of(s *Scales, d *Decision) (float64, error) {
	of, ok := rewards[r.Kind]
	if !ok {
		return 0, fmt.Errorf("reward %q is unknown; expected job_acceptance, "+
			"lookahead_job_completion_time, mean_compute_throughput, mean_cluster_throughput, "+
			"mean_demand_total_throughput or multi_objective_jct_blocking", r.Kind)
	}
	return of(r, s, d), nil
}

// signed takes the logarithm of a size and applies the sign.
func (r *Reward) signed(size, sign float64) float64 {
	if r.Log {
		size = math.Log10(1 + size)
	}
	return sign * size
}

func (r *Reward) lookahead(_ *Scales, d *Decision) float64 {
	time := d.Sequential * r.Factor
	if d.Accepted {
		time = d.Job.Time
	}
	if r.Scale != 0 {
		time /= d.Sequential * r.Scale
	}
	if r.Inverse {
		return r.signed(1/time, 1)
	}
	return r.signed(time, -1)
}

func (r *Reward) objective(s *Scales, d *Decision) float64 {
	if d.Accepted {
		return r.signed(d.Job.Time/d.Sequential, -1)
	}
	return r.signed(r.Weight*(scaled(d.Sequential, s.MinSequential, s.MaxSequential)+1), -1)
}

func (r *Reward) throughput(d *Decision, bytes, largest float64) float64 {
	time := d.Event.To - d.Event.From
	if time <= 0 {
		return 0
	}
	rate := bytes / time
	if r.Scale != 0 {
		rate /= largest
	}
	return r.signed(rate, 1)
}

// Decide applies a degree to the waiting job. It returns the values from which PAC-ML's published simulator computes
// rewards: the state after the next event, even if further events precede the next job.
func (s *Scales) Decide(w *fabric.World, degree int) (*Decision, error) {
	job := w.Waiting()
	if job == nil {
		return nil, fmt.Errorf("decide: no job is waiting; the episode is over")
	}
	d := &Decision{Job: job, Sequential: w.Study().Sequential(job), Largest: s.largest(w)}
	each, seen := w.Each, false
	w.Each = func(e *fabric.Event) {
		if !seen {
			seen, d.Event = true, *e
			d.Accepted = job.Status == fabric.Completed || job.Status == fabric.Running && !w.Over()
		}
		if each != nil {
			each(e)
		}
	}
	err := w.Decide(degree)
	w.Each = each
	return d, err
}

// largest returns the bytes per second that all operations, and these and all channels, can process, as the original
// counts them.
func (s *Scales) largest(w *fabric.World) [2]float64 {
	size := float64(w.Study().Network.Size())
	ops := s.MaxRate * size
	if r, ok := w.Study().Network.(*fabric.Ramp); ok {
		return [2]float64{ops, ops + size*r.Bandwidth/float64(r.Groups)*float64(r.Channels)}
	}
	return [2]float64{ops, ops}
}
