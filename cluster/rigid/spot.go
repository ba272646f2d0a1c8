package rigid

import (
	"cmp"
	"errors"
	"fmt"

	"graft/cluster"
	"graft/cluster/study"
	"graft/internal/validate"
	"graft/internal/words"
)

// SpotOptions configures the eviction of the spot jobs of a trace.
type SpotOptions struct {
	// Schedules the other jobs as if spot jobs did not exist, and evicts spot jobs from GPUs that other jobs get.
	// Spot jobs run on the remaining GPUs. Default false: spot jobs are scheduled as all other jobs.
	Evict bool
	// Time from the notice of an eviction to the eviction, in seconds. During this time the spot job runs on, and the
	// job that gets its GPUs waits. Default 0.
	Notice int64 `config:"notice_seconds"`
	// Time that a spot job needs to write a checkpoint after a notice, in seconds. If it is longer than notice_seconds,
	// an evicted job repeats its work since the last checkpoint (failures.checkpoint_seconds). Default 60.
	Save int64 `config:"save_seconds"`
}

// secondsToSave is the default time to write a checkpoint.
const secondsToSave = 60

// longestNotice is the longest notice and time to write a checkpoint, in seconds: a year.
const longestNotice = 365 * secondsOfDay

// EnsureDefaults replaces zero values with defaults.
func (o *SpotOptions) EnsureDefaults() {
	if o.Evict {
		o.Save = cmp.Or(o.Save, secondsToSave)
	}
}

// Validate returns an error that lists every invalid option.
func (o *SpotOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Notice < 0 || o.Notice > longestNotice, "spot.notice_seconds is %d; must be between 0 and %d",
		o.Notice, longestNotice)
	faults.When(o.Save < 0 || o.Save > longestNotice, "spot.save_seconds is %d; must be between 0 and %d", o.Save,
		longestNotice)
	faults.When(!o.Evict && (o.Notice != 0 || o.Save != 0), "spot.evict is false, so that no job is evicted; set "+
		"evict = true, or remove notice_seconds and save_seconds")
	return errors.Join(faults...)
}

// validateSpot returns an error for options that the eviction of spot jobs excludes or needs.
func (f *File) validateSpot() error {
	var faults validate.Faults
	evict := f.Cluster.Spot.Evict
	faults.When(evict && f.Cluster.Compat == CompatLucid, "cluster.spot.evict is true, but compat is \"lucid\", whose "+
		"simulator has no spot jobs; remove compat or evict")
	faults.When(evict && len(f.Training.Models) > 0, "cluster.spot.evict is true and training.models is set; remove "+
		"one: spot jobs and other jobs would not share links")
	faults.When(f.Failures.Checkpoint != 0 && !f.Failures.Enabled() && !evict, "failures.checkpoint_seconds is set, "+
		"but no node fails and no job is evicted; set failures.file, failures.outages or cluster.spot.evict, or "+
		"remove it")
	return errors.Join(faults...)
}

// spot returns how spot jobs are evicted; nil if they are not.
func (f *File) spot() *cluster.Spot {
	o := f.Cluster.Spot
	if !o.Evict {
		return nil
	}
	return &cluster.Spot{Notice: o.Notice, Save: o.Save, Checkpoint: f.Failures.Checkpoint}
}

// spotText describes the spot jobs of a plan.
func (s *simulations) spotText(jobs int) string {
	spot := 0
	for _, w := range s.workloads {
		for k := range w.base.Jobs {
			if w.base.Jobs[k].Spot {
				spot++
			}
		}
	}
	text := fmt.Sprintf("%d of %s are spot jobs, which are evicted with a notice of %d s.", spot,
		words.Plural(jobs, "job"), s.Cluster.Spot.Notice)
	if spot == 0 {
		text += " To mark the jobs of a partition or quality of service of Slurm as spot jobs, convert the trace " +
			"with 'graft trace convert --spot'."
	}
	return text
}

// spotMetrics are the metrics of a simulation that evicts spot jobs.
var spotMetrics = []study.Metric{
	{Name: "evictions", Title: "evicted", About: "evictions of spot jobs", Better: study.Lower, Format: "%.0f",
		Main: true, Total: true},
	{Name: "evicted", Unit: "GPU h", Title: "spot lost", About: "GPU hours of work that spot jobs repeated because " +
		"of evictions", Better: study.Lower, Format: "%.1f", Total: true},
}

// addEvictions adds the metrics of evictions.
func addEvictions(v study.Values, jobs []*cluster.Job, keep func(j *cluster.Job) bool) {
	evictions, lost := 0, 0.0
	for _, j := range jobs {
		if keep != nil && !keep(j) {
			continue
		}
		evictions += j.Lost().Evictions
		lost += j.EvictedGPUSeconds()
	}
	v["evictions"], v["evicted_gpu_h"] = study.Number(evictions), study.Number(lost/secondsOfHour)
}

// spotParts computes the metrics of spot jobs and of the other jobs.
func spotParts(o *cluster.Outcome, z *cluster.Summarizer, memory []*cluster.Job) (parts []study.Part) {
	if !o.Evicting {
		return nil
	}
	for _, name := range []string{"spot", "other"} {
		keep := func(j *cluster.Job) bool { return j.Trace.Spot == (name == "spot") }
		if v := groupValues(o, z, memory, keep); v != nil {
			addEvictions(v, o.Jobs, keep)
			parts = append(parts, study.Part{Group: "kind of job", Name: name, Values: v})
		}
	}
	return parts
}
