// Package lucid holds the scheduler Lucid with its profiler (Hu et al., Lucid: a non-intrusive, scalable and
// interpretable scheduler for deep learning training jobs, ASPLOS 2023). It contains everything that only Lucid uses:
// the state of its jobs, its quirks, and the temporary node of its profiler.
package lucid

import (
	"context"

	"graft/cluster"
)

// Policy returns the Lucid scheduling policy. Lucid first profiles jobs on reserved nodes for a short time. Many jobs
// complete during profiling. The other jobs then start in ascending order of their expected device-seconds, and later
// jobs can overtake a job that does not fit. Lucid packs jobs with little interference onto the same devices, except
// when it expects few jobs.
func Policy(o Options) cluster.Policy {
	last := &memory{}
	return cluster.Policy{
		Name:      "lucid",
		About:     "fewest expected device-seconds first; profiles jobs before it schedules them, and packs jobs",
		Estimates: "ebm",
		Profiles:  true,
		Quirks:    []cluster.Quirk{cluster.ExtraSecond, slowPartner, freeProfiling, fourModels},
		Speed:     quirkySpeed,
		Prepare:   func(ctx context.Context, r *cluster.Run) error { return profile(ctx, r, o, last) },
		New:       newScheduler,
	}
}
