package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"graft/internal/validate"
	"graft/trainer/clock"
)

// TrialsOptions is an entry of a pipeline: the trials of one job, for all combinations of cases, values and seeds.
type TrialsOptions struct {
	// Name of the entry and of its run folder. Empty means the name of the job file without its extension.
	Name string
	// Path of the job file. Required.
	Job string
	// Path of a TOML file of cases, with one table of keys and values per case. Empty means one case: the unmodified
	// job.
	Cases string
	// Keys with lists of values, such as "time.budget=8s,16s". Every case runs with all combinations. Empty means no
	// further values.
	Sweep []string
	// Number of trials per case and combination of values, with run.seed and the following seeds. Zero means 1.
	Seeds int
	// Assignments to keys of the job, such as "fleet.workers=8"; they follow pipeline.set. Empty means none.
	Set []string
	// Selection of values for each case, before the trials of the entry.
	Tune TuneOptions
}

// TuneOptions selects values for each case of an entry by additional trials. The combination of values with the highest
// mean validation accuracy wins, and the first one of equals. A combination with a trial that diverges is worse than
// all others.
type TuneOptions struct {
	// Keys with lists of candidate values, such as "optimizer.lr=1e-3,3e-3". Every case tries all combinations. Empty
	// means no tuning.
	Sweep []string
	// Number of trials per case and combination. Zero means 1.
	Seeds int
	// First seed of these trials. It must not lead to a seed of the entry's other trials. Zero means the seed after
	// the last seed of the entry.
	FirstSeed int64
	// Assignments to keys of the job in these trials, such as "time.budget=16s"; they follow the entry's assignments.
	// Empty means none.
	Set []string
}

// On reports whether an entry has values to select.
func (o TuneOptions) On() bool { return len(o.Sweep) > 0 }

// ensureDefaults sets zero fields to their defaults.
func (o *TrialsOptions) ensureDefaults() {
	o.Name = cmp.Or(o.Name, jobName(o.Job))
	o.Seeds = cmp.Or(o.Seeds, 1)
	if o.Tune.On() {
		o.Tune.Seeds = cmp.Or(o.Tune.Seeds, 1)
	}
}

// jobName returns the name of a job file without its extension; empty without a file.
func jobName(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// mostEntries limits the entries of a pipeline.
const mostEntries = 100

// validateTrials returns the invalid options of all entries.
func (o PipelineOptions) validateTrials() (faults validate.Faults) {
	faults.When(len(o.Trials) > mostEntries, "trials has %d entries; the maximum is %d", len(o.Trials), mostEntries)
	faults.When(len(o.Trials) > 0 && (len(o.Scenarios) > 0 || o.Cache != ""),
		"trials cannot be combined with scenarios or cache; write two pipeline files")
	for k, e := range o.Trials[:min(len(o.Trials), mostEntries)] {
		when := func(wrong bool, key, format string, args ...any) {
			if wrong {
				faults = append(faults, &clock.ItemFault{List: "trials", Index: k, Key: key,
					Text: fmt.Sprintf("trials[%d]: ", k) + fmt.Sprintf(format, args...)})
			}
		}
		when(e.Job == "", "job", "job is empty; set it to the path of a job file")
		when(e.Seeds < 0, "seeds", "seeds is %d; must not be negative", e.Seeds)
		when(e.Tune.Seeds < 0, "tune", "tune.seeds is %d; must not be negative", e.Tune.Seeds)
		when(e.Tune.FirstSeed < 0, "tune", "tune.first_seed is %d; must not be negative", e.Tune.FirstSeed)
		when(!e.Tune.On() && (e.Tune.Seeds != 0 || e.Tune.FirstSeed != 0 || len(e.Tune.Set) > 0), "tune",
			"tune has no effect without tune.sweep; add it, such as sweep = [\"optimizer.lr=1e-3,3e-3\"], or "+
				"remove tune")
	}
	return faults
}
