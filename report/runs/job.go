package runs

import (
	"fmt"
	"math"
	"strings"
	"time"

	"graft/internal/words"
	"graft/report/document"
	"graft/trainer"
)

// JobKind describes the run folders that graft train writes for a single job.
var JobKind = &Kind{Name: "job", By: "graft train",
	Title: "job", Titles: "jobs", matches: hasManifestAnd("epochs.csv"), read: readJobRun, list: jobOverview,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "epochs") }}

func readJobRun(f *Folder, r *Run) error {
	o := &JobOutcome{Outcome: &trainer.Outcome{}}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	if r.Ended {
		r.Outcome, r.Quantities, r.live = o.Digest, jobQuantities(o, int64(r.Manifest.Seed)), r.liveText(o.Live)
		r.Faults = f.cutEpochs(r, o)
		return nil
	}
	rows, err := trainer.ReadLastRows(f.Files, f.Path, 1)
	if err == nil && len(rows) == 1 {
		r.Quantities = progressQuantities(rows[0], int64(r.Manifest.Seed))
	}
	return err
}

// LiveChanges describes the changes of a completed job's devices outside of its timeline, such as over HTTP; empty
// without changes.
func (r *Run) LiveChanges() string { return r.live }

// liveText identifies changes of a job's devices outside of its timeline: a few by their text, and more by a digest. It
// omits their times, because a client that repeats the changes for each seed cannot repeat the exact times. It is empty
// for an elastic job, whose configuration lets processes join and leave at any time.
func (r *Run) liveText(list []trainer.LiveChange) string {
	if elastic, _ := r.Setting("parallel.elastic"); elastic == "true" {
		return ""
	}
	const most = 3
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%s to %s", c.Change, words.Plural(c.Devices, "device")))
	}
	if len(parts) <= most {
		return strings.Join(parts, ", ")
	}
	return fmt.Sprintf("%d changes, %s", len(parts), document.ShortDigest(DigestOfTexts(parts...)))
}

// cutEpochs returns an error if the table of epochs of a completed job ends before the job does. A job with
// train.overrun takes steps after its last row.
func (f *Folder) cutEpochs(r *Run, o *JobOutcome) error {
	rows, err := trainer.ReadLastRows(f.Files, f.Path, 1)
	if err != nil {
		return nil // whoever shows the epochs reports it
	}
	overrun, _ := r.Setting("train.overrun")
	has := "has no rows"
	if len(rows) > 0 {
		has = fmt.Sprintf("ends after %s", words.Plural(rows[0].Steps, "step"))
	}
	switch {
	case len(rows) > 0 && rows[0].Epoch+1 < o.Epochs:
	case overrun == "true", len(rows) > 0 && rows[0].Steps >= o.Steps, o.Steps == 0:
		return nil
	}
	return fmt.Errorf("epochs.csv %s, but the job took %s, so rows are missing; copy the file again", has,
		words.Plural(o.Steps, "step"))
}

// jobQuantities lists the quantities of a completed job. Without a test split the test score in the outcome is zero,
// and omitted here.
func jobQuantities(o *JobOutcome, seed int64) []Quantity {
	share := func(part float64) float64 { return part / o.Budget.Seconds() }
	test := o.Test
	if test == (trainer.Score{}) {
		test = trainer.Score{Loss: math.NaN(), Accuracy: math.NaN()}
	}
	saving := math.NaN() // not recorded by earlier versions
	if o.Saves > 0 {
		saving = o.Saving.Seconds()
	}
	joules, deviceMemory := o.measured()
	return finite(
		seeded("test_accuracy", document.UnitShare, Higher, seed, test.Accuracy),
		seeded("validation_accuracy", document.UnitShare, Higher, seed, o.Validation.Accuracy),
		seeded("test_loss", document.UnitNats, Lower, seed, test.Loss),
		seeded("validation_loss", document.UnitNats, Lower, seed, o.Validation.Loss),
		seededAbove("test_perplexity", "", Lower, seed, o.Perplexity),
		seededAbove("validation_perplexity", "", Lower, seed, o.ValidationPerplexity),
		seeded("whole_epochs", "", Neutral, seed, float64(o.Epochs)),
		seeded("steps", "", Neutral, seed, float64(o.Steps)),
		seeded("decisions", "", Neutral, seed, float64(o.Decisions)),
		seeded("parameters", "", Neutral, seed, float64(o.Parameters)),
		seeded("budget", document.UnitSeconds, Neutral, seed, o.Budget.Seconds()),
		seeded("used", document.UnitSeconds, Neutral, seed, o.Used.Seconds()),
		seeded("deciding", document.UnitSeconds, Lower, seed, o.Deciding.Seconds()),
		seeded("operating", document.UnitSeconds, Lower, seed, o.Operating.Seconds()),
		seeded("saving", document.UnitSeconds, Lower, seed, saving),
		seeded("epochs_per_second", "epochs/s", Higher, seed, float64(o.Epochs)/o.Used.Seconds()),
		seededAbove("flop", document.UnitGFLOP, Neutral, seed, o.FLOP/1e9),
		seededAbove("device_time", document.UnitSeconds, Neutral, seed, o.DeviceTime.Seconds()),
		seededAbove("energy", "J", Neutral, seed, o.Joules),
		seeded("measured_energy", "J", Lower, seed, joules),
		seededAbove("images_per_second", document.UnitImages, Higher, seed, o.ImagesPerSecond),
		seededAbove("machine_images_per_second", document.UnitImages, Higher, seed, o.MachineSpeed),
		seededAbove("peak_memory", "MiB", Lower, seed, float64(o.PeakMemory)/(1<<20)),
		seeded("peak_device_memory", "MiB", Lower, seed, deviceMemory),
		seededAbove("batch", "images", Neutral, seed, float64(o.Batch)),
		seededAbove("batch_changes", "", Neutral, seed, float64(o.BatchChanges)),
		seededAbove("noise_scale", "images", Neutral, seed, o.NoiseScale),
		seededAbove("efficiency", document.UnitShare, Higher, seed, o.Efficiency),
		seeded("deciding_share", document.UnitShare, Lower, seed, share(o.Deciding.Seconds())),
		seeded("operating_share", document.UnitShare, Lower, seed, share(o.Operating.Seconds())),
	)
}

// progressQuantities lists the quantities of a running job after its last epoch.
func progressQuantities(row trainer.Row, seed int64) []Quantity {
	return finite(
		seeded("validation_accuracy", document.UnitShare, Higher, seed, row.Validation.Accuracy),
		seeded("validation_loss", document.UnitNats, Lower, seed, row.Validation.Loss),
		seeded("epochs", "", Neutral, seed, float64(row.Epoch+1)),
		seeded("steps", "", Neutral, seed, float64(row.Steps)),
		seeded("parameters", "", Neutral, seed, float64(row.Parameters)),
		seeded("time", document.UnitSeconds, Neutral, seed, row.Time.Seconds()),
		seededAbove("flop", document.UnitGFLOP, Neutral, seed, row.FLOP/1e9),
		seededAbove("device_time", document.UnitSeconds, Neutral, seed, row.DeviceTime.Seconds()),
	)
}

// seededAbove is seeded for a positive value; zero means unknown.
func seededAbove(name, unit string, to Direction, seed int64, value float64) Quantity {
	if value <= 0 {
		value = math.NaN()
	}
	return seeded(name, unit, to, seed, value)
}

// JobOutcome is the content of outcome.json for a job.
type JobOutcome struct {
	*trainer.Outcome
	// number of checkpoints written by the process that completed the job
	Saves int `json:"saves"`
	// time that the process that completed the job spent on checkpoints, on the machine's clock; part of the budget
	// only if the job uses that clock
	Saving time.Duration `json:"saving_ns"`
	// training throughput of the process that completed the job, in images per second of the machine's clock; zero
	// means unknown
	MachineSpeed float64 `json:"machine_images_per_second"`
	// peak resident memory of the process that completed the job, in bytes, without CUDA device memory; zero means
	// unknown
	PeakMemory int64 `json:"peak_memory_bytes"`
	// Measured is the measured energy of the job's devices; absent if an older version of graft wrote the run.
	Measured *MeasuredEnergy `json:"measured,omitempty"`
}

// measured returns the measured energy, unknown if the outcome has none.
func (o *JobOutcome) measured() (joules, peakMiB float64) {
	joules, peakMiB = math.NaN(), math.NaN()
	if m := o.Measured; m != nil && m.Joules != nil {
		joules = *m.Joules
	}
	if m := o.Measured; m != nil && m.PeakMemory != nil {
		peakMiB = *m.PeakMemory
	}
	return joules, peakMiB
}

// GivenReport describes the initial weights of a job.
type GivenReport struct {
	Weights   string        `json:"weights"`   // path of the weights
	Epochs    int           `json:"epochs"`    // number of epochs before the job that count as trained
	Start     time.Duration `json:"start_ns"`  // part of the budget that is already used when the job begins
	Accuracy  float64       `json:"accuracy"`  // validation accuracy before the first step
	Published *float64      `json:"published"` // recorded test accuracy; null if unknown
}
