package study

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/decode"
	"graft/internal/validate"
)

// Shared points to the sections that are common to the configuration files of all simulators.
type Shared struct {
	Workload *Workload
	Schedule *Schedule
	Folder   string // run folder; empty lets the command choose
}

// Workload holds the paths of the job traces. Paths use the operating system's syntax. Relative paths are looked up in
// the working directory first, then in the folder of the file.
type Workload struct {
	// Paths of job traces, one workload per trace. The accepted formats depend on the kind of cluster.
	Traces []string `config:",path" result:"contents"`
}

// Names derives the names of workloads from their traces, and adds the name of the folder if two names are equal. If
// traces still share a folder of the run folder, it reports the error to r and returns nil.
func (o *Workload) Names(r *decode.Reading) []string {
	base := func(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
	count, seen := map[string]int{}, map[string]string{}
	for _, path := range o.Traces {
		count[safeName.Replace(base(path))]++
	}
	var names []string
	for k, path := range o.Traces {
		name := base(path)
		if count[safeName.Replace(name)] > 1 {
			name = filepath.Base(filepath.Dir(path)) + "-" + name
		}
		folder := safeName.Replace(name)
		switch other := seen[folder]; {
		case other == "":
		case filepath.Clean(other) == filepath.Clean(path):
			r.Blame("workload.traces", path+" is named twice; name each trace once", k)
			return nil
		default:
			text := "%s and %s have the same name %s in the run folder; rename a file"
			r.Blame("workload.traces", fmt.Sprintf(text, other, path, folder), k)
			return nil
		}
		seen[folder], names = path, append(names, name)
	}
	return names
}

// Schedule names the schedulers to compare.
type Schedule struct {
	// Names of the schedulers to compare, from 'graft list schedulers'. A learned scheduler is named by its path: a run
	// folder of 'graft learn', or a policy file. For rigid jobs, a path such as "./mine.py" names an external program
	// that implements a scheduler. Empty means the default schedulers for the kind of cluster.
	Schedulers []string `config:",path=word"`
	// Name of the baseline scheduler, to which the other schedulers are compared. Empty means the default baseline for
	// the kind of cluster or, if there is none, the first scheduler.
	Against string
	// Seed of the first simulation; further simulations use the following seeds.
	Seed uint64
	// Number of simulations of each scheduler, with consecutive seeds, if the scheduler or the cluster has random
	// draws. Zero means 1.
	Seeds int
	// Enables each known bug of the original simulator in a separate simulation, and reports the bug's effect. Default
	// false.
	Ablate  bool
	Workers int `result:"none"` // Number of simulations that run in parallel. Zero means one per processor.
}

// MostSeeds is the maximum number of seeds of a scheduler.
const MostSeeds = 1024

// EnsureDefaults fills in defaults. If the list of schedulers is empty, it becomes the list usual.
func (o *Schedule) EnsureDefaults(usual ...string) {
	if o.Seeds == 0 {
		o.Seeds = 1
	}
	if len(o.Schedulers) == 0 {
		o.Schedulers = usual
	}
}

// Validate returns an error that lists every invalid option. The callback known returns an error if a scheduler's name
// is unknown. Names that are paths are not checked.
func (o Schedule) Validate(known func(name string) error) error {
	var faults validate.Faults
	for k, name := range o.Schedulers {
		if err := known(name); err != nil && !IsPath(name) {
			faults = append(faults, fmt.Errorf("schedulers: %w", err))
		}
		faults.When(slices.Contains(o.Schedulers[:k], name), "schedulers: duplicate %s; remove one", name)
	}
	faults.When(o.Against != "" && len(o.Schedulers) > 0 && !slices.ContainsFunc(o.Schedulers, o.isBaseline),
		"against is %q; expected one of the schedulers %s", o.Against, strings.Join(o.Schedulers, ", "))
	faults.When(o.Seeds < 1 || o.Seeds > MostSeeds, "seeds is %d; expected 1 to %d", o.Seeds, MostSeeds)
	faults.When(o.Workers < 0, "workers is %d; expected 0 or more", o.Workers)
	return errors.Join(faults...)
}

// isBaseline reports whether Against names a scheduler of the list. Learned schedulers match by the last part of their
// path.
func (o *Schedule) isBaseline(name string) bool {
	return o.Against == name || IsPath(name) && o.Against == learnedName(name)
}

// IsPath reports whether the name of a scheduler is the path of a learned scheduler or of a program. Such a name
// contains a slash or has the extension of a weight file.
func IsPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, WeightExtension)
}

// Names returns the names of the schedulers in a list.
func Names(list []Entry) (names []string) {
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

// TraceSeed is the seed for drawing job properties that are missing from a cluster trace.
const TraceSeed = 1
