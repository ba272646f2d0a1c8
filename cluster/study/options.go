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

// Shared points to the sections that all worlds have.
type Shared struct {
	Workload *Workload
	Schedule *Schedule
	Folder   string // of the run; empty lets the command choose
}

// Workload names the jobs. Paths are those of the operating system, from the working folder or, where nothing
// is there, from that of the file.
type Workload struct {
	// Traces are files of jobs, each a workload of its own, in the formats that the world reads.
	Traces []string `config:",path" result:"contents"`
}

// Names names workloads after their traces, with the folder where that is not enough. It reports traces that
// would share a name, and then returns nil.
func (o *Workload) Names(r *decode.Reading) []string {
	base := func(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
	count, seen := map[string]int{}, map[string]string{}
	for _, path := range o.Traces {
		count[base(path)]++
	}
	var names []string
	for k, path := range o.Traces {
		name := base(path)
		if count[name] > 1 {
			name = filepath.Base(filepath.Dir(path)) + "-" + name
		}
		if other := seen[name]; other != "" {
			text := "%s and %s would have the same name %s in the run folder; rename a file"
			r.Blame("workload.traces", fmt.Sprintf(text, other, path, name), k)
			return nil
		}
		seen[name], names = path, append(names, name)
	}
	return names
}

// Schedule names the schedulers that are compared.
type Schedule struct {
	// Names of schedulers to compare, as 'graft list schedulers' lists them; learned ones are paths of run folders
	// of 'graft learn', or of files of their policies. Empty means the usual ones of the world.
	Schedulers []string `config:",path=word"`
	Against    string   // baseline of differences. Empty means the first scheduler, or the usual baseline of the world.
	Seed       uint64   // first seed of schedulers that draw random numbers
	Seeds      int      // simulations under each scheduler that draws, with successive seeds. Zero means 1.
	Ablate     bool     // simulates each quirk of an original alone, and reports its effect. Default false.
	Workers    int      `result:"none"` // simulations in parallel. Zero means one per processor.
}

// MostSeeds bounds the seeds of a scheduler.
const MostSeeds = 1024

// EnsureDefaults fills in defaults; usual are the schedulers of an empty list.
func (o *Schedule) EnsureDefaults(usual ...string) {
	if o.Seeds == 0 {
		o.Seeds = 1
	}
	if len(o.Schedulers) == 0 {
		o.Schedulers = usual
	}
}

// Validate returns every invalid option. Known reports whether a scheduler has a name; paths are not checked.
func (o Schedule) Validate(known func(name string) error) error {
	var faults validate.Faults
	for k, name := range o.Schedulers {
		if err := known(name); err != nil && !IsPath(name) {
			faults = append(faults, fmt.Errorf("schedulers: %w", err))
		}
		faults.When(slices.Contains(o.Schedulers[:k], name), "schedulers: %s is given twice", name)
	}
	faults.When(o.Against != "" && len(o.Schedulers) > 0 && !slices.ContainsFunc(o.Schedulers, o.isBaseline),
		"against is %q; expected one of the schedulers: %s", o.Against, strings.Join(o.Schedulers, ", "))
	faults.When(o.Seeds < 1 || o.Seeds > MostSeeds, "seeds is %d; expected 1 to %d", o.Seeds, MostSeeds)
	faults.When(o.Workers < 0, "workers is %d; expected 0 or more", o.Workers)
	return errors.Join(faults...)
}

// isBaseline reports whether against names a scheduler of the list: a learned one by the last part of its path.
func (o *Schedule) isBaseline(name string) bool {
	return o.Against == name || IsPath(name) && o.Against == learnedName(name)
}

// IsPath reports whether the name of a scheduler is the path of a learned one: it has a slash or the ending of
// a file of weights.
func IsPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".safetensors")
}

// Names are the names of a list.
func Names(list []Entry) (names []string) {
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

// TraceSeed draws what the trace of a cluster does not have of its jobs.
const TraceSeed = 1
