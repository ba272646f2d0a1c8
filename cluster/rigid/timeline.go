package rigid

import (
	"context"
	"fmt"
	"math"

	"graft/cluster"
	"graft/cluster/live"
	"graft/cluster/study"
	"graft/internal/failure"
)

// TimelineOptions selects the job to follow.
type TimelineOptions struct {
	Job string // ID of the job in the trace; required
	// scales the timeline so that the job has devices for this number of seconds in total; zero keeps the original
	// times
	Budget float64
}

// Follow runs the simulation that a file configures, and records the changes in one job's number of devices. The file
// must have exactly one trace, one scheduler and one arrival factor. A device that the job shares with another job
// counts as half a device.
func (f *File) Follow(ctx context.Context, env study.Env, o TimelineOptions) (*live.Timeline, error) {
	if len(f.Schedule.Schedulers) != 1 || len(f.Schedule.ArrivalFactors) != 1 || len(f.Workload.Traces) != 1 {
		return nil, failure.Usagef("a timeline needs exactly one trace, one scheduler and one arrival factor; " +
			"choose a scheduler with option \"scheduler\"")
	}
	if !(o.Budget >= 0) || math.IsInf(o.Budget, 0) {
		return nil, failure.Usagef("option budget is %g s; must be finite and at least 0", o.Budget)
	}
	s, err := f.read(env, f.Workload.Traces[0])
	if err != nil {
		return nil, err
	}
	policy := s.policy(f.Schedule.Schedulers[0])
	one, err := s.with(policy, f.Schedule.ArrivalFactors[0])
	if err != nil {
		return nil, err
	}
	if one.Failures, err = s.failures(f.Schedule.Seed); err != nil {
		return nil, err
	}
	if s.population != nil && len(f.Growth.Shares) != 1 {
		return nil, failure.Usagef("a timeline of a job whose network can grow needs exactly one share; set " +
			"one, such as --set growth.shares=[1.0]")
	}
	if len(f.Resizing.shares()) != 1 {
		return nil, failure.Usagef("a timeline of a job that can be resized needs exactly one share; set one, such " +
			"as --set resizing.shares=[1.0]")
	}
	if s.population != nil {
		one.Learner = s.population.Learner(f.Growth.Shares[0], f.Schedule.Seed)
	}
	one.Resizable = f.Resizing.resizable(f.Resizing.shares()[0], f.Schedule.Seed)
	out, err := one.Run(ctx, policy, cluster.Options{Placement: f.Cluster.Placement, Quirks: s.quirks(policy),
		Workers: f.Schedule.Workers, Follow: []string{o.Job}})
	if err != nil {
		return nil, err
	}
	t, err := timelineOf(out, o.Job)
	if err != nil {
		return nil, err
	}
	t.Scale(o.Budget)
	return t, nil
}

// timelineOf extracts the timeline of the followed job.
func timelineOf(o *cluster.Outcome, id string) (*live.Timeline, error) {
	if len(o.Changes) == 0 {
		for _, r := range o.Refused {
			if r.ID == id {
				return nil, fmt.Errorf("job %s cannot run: %s; name another job", id, r.Why)
			}
		}
		return nil, fmt.Errorf("job %s was not scheduled: %s", id, study.NotScheduled)
	}
	return live.NewTimeline(o.Changes), nil
}
