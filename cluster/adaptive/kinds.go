package adaptive

import (
	"slices"

	"graft/cluster"
	"graft/internal/registry"
)

// SchedulerOptions holds the options of individual schedulers.
type SchedulerOptions struct {
	Pollux PolluxOptions `config:",omit=seed"` // Search options of the scheduler pollux.
}

// Validate returns an error that lists every invalid option.
func (o SchedulerOptions) Validate() error { return o.Pollux.Validate() }

// Kinds returns all schedulers with their default options.
func Kinds() registry.List[Kind] { return SchedulerOptions{}.Kinds(0) }

// Kinds returns all schedulers with these options. Schedulers that draw random numbers use the seed. Register new
// schedulers here.
func (o SchedulerOptions) Kinds(seed uint64) registry.List[Kind] {
	o.Pollux.Seed = seed
	return registry.List[Kind]{
		{Name: "tiresias", About: "least attained service first; jobs keep the devices and the batch that users " +
			"request", Quirks: []cluster.Quirk{WholeSeconds}, New: newTiresias},
		{Name: "optimus", About: "gives the next device to the job whose remaining time it reduces most; uses the " +
			"true remaining work of jobs", Quirks: []cluster.Quirk{WholeSeconds, EpochLeftOut, AlwaysTwice, FullNodes},
			New: newOptimus},
		o.Pollux.Kind(),
		goodputKind(),
	}
}

// Named finds a scheduler by its name, and returns it with its default options.
func Named(name string) (Kind, error) { return SchedulerOptions{}.Named(name, 0) }

// Named returns a scheduler by its name.
func (o SchedulerOptions) Named(name string, seed uint64) (Kind, error) {
	return o.Kinds(seed).Named("scheduler", name)
}

// Quirks returns the quirks of all schedulers: bugs of the original simulators that graft can reproduce.
func Quirks() (all []cluster.Quirk) {
	for _, k := range Kinds() {
		for _, q := range k.Quirks {
			if !slices.Contains(all, q) {
				all = append(all, q)
			}
		}
	}
	return all
}
