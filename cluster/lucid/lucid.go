// Package lucid holds the scheduler Lucid with its profiler (Hu et al., Lucid: a non-intrusive,
// scalable and interpretable scheduler for deep learning training jobs, ASPLOS 2023). Everything
// that only Lucid needs is here: what it knows of a job, its quirks, and the node that comes and
// goes with its profiler.
package lucid

import (
	"context"

	"graft/cluster"
)

// Policy returns Lucid. It profiles jobs for a short time on nodes set apart, where many end
// already. Then it starts the job first that is expected to use the fewest device-seconds, lets
// others overtake where that has no place, and puts jobs that disturb each other little on the
// same devices, unless few jobs are expected.
func Policy(o Options) cluster.Policy {
	last := &memory{}
	return cluster.Policy{
		Name:      "lucid",
		About:     "the fewest expected device-seconds first, after a profile; packs jobs",
		Estimates: "ebm",
		Profiles:  true,
		Quirks:    []cluster.Quirk{cluster.ExtraSecond, slowPartner, freeProfiling, fourModels},
		Speed:     quirkySpeed,
		Prepare:   func(ctx context.Context, r *cluster.Run) error { return profile(ctx, r, o, last) },
		New:       newScheduler,
	}
}
