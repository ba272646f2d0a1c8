package schedulers

import (
	"errors"
	"fmt"
	"path/filepath"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/internal/registry"
)

// Options holds the options of individual schedulers.
type Options struct {
	Lucid lucid.Options // Profiling options of the scheduler lucid.
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error { return errors.Join(o.Lucid.Validate()) }

// Kinds returns all schedulers with their default options.
func Kinds() registry.List[cluster.Policy] { return Options{}.Kinds() }

// Kinds returns all schedulers. Register new schedulers here.
func (o Options) Kinds() registry.List[cluster.Policy] {
	extra := []cluster.Quirk{cluster.ExtraSecond}
	return registry.List[cluster.Policy]{
		{Name: "fifo", About: "in order of submission, without overtaking", New: newFIFO, Shrinks: true},
		{Name: "sjf", About: "shortest job first (oracle: uses the true durations)", New: newSJF,
			Oracle: true, Shrinks: true},
		{Name: "srtf", About: "least remaining time first, with preemption (oracle: uses the true durations)",
			New: newSRTF, Quirks: extra, Oracle: true, Shrinks: true},
		{Name: "qssf", About: "fewest expected device-seconds first", New: newQSSF, Estimates: "lgb",
			Quirks: []cluster.Quirk{sizeFirst}, Shrinks: true},
		{Name: "tiresias", About: "fewest attained device-seconds first, with preemption; needs no estimates",
			New: newTiresias, Quirks: extra},
		lucid.Policy(o.Lucid),
		{Name: "backfill", About: "in order of submission; a job may overtake if it delays no earlier job (uses " +
			"the users' time " +
			"limits; oracle without them)", New: newBackfill, Foresees: true, Shrinks: true},
		{Name: "edf", About: "earliest deadline first; deadlines follow from the users' time limits", New: newEDF,
			Deadlines: true, Shrinks: true},
		{Name: "fair", About: "max-min fair shares of the devices; jobs grow and shrink", New: newFair,
			Resizes: true, Shrinks: true},
		{Name: "offers", About: "most progress per second of all jobs, by their offers; jobs grow and shrink",
			New: newOffers, Resizes: true, Shrinks: true},
	}
}

// Named returns the scheduler with the given name or path. The scheduler has its default options.
func Named(name string) (cluster.Policy, error) { return Options{}.Named(name) }

// Named returns the scheduler with the given name. For the path of a program, it returns the scheduler that queries
// this program.
func (o Options) Named(name string) (cluster.Policy, error) {
	if IsProgram(name) {
		return programPolicy(name), nil
	}
	if filepath.Ext(name) != "" {
		return cluster.Policy{}, fmt.Errorf("unknown scheduler %q; for a program, write its path, such as "+
			"./%s", name, name)
	}
	return o.Kinds().Named("scheduler", name)
}
