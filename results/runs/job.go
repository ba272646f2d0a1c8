package runs

import (
	"math"
	"time"

	"graft/results/document"
	"graft/trainer"
)

// JobKind is the runs of graft train.
var JobKind = &Kind{Name: "job", Title: "job", Titles: "jobs", fits: isRunOf("epochs.csv"), read: readJobRun,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "epochs") }}

func readJobRun(f *Folder, r *Run) error {
	o := &JobOutcome{Outcome: &trainer.Outcome{}}
	if err := f.own(r, o); err != nil {
		return err
	}
	if r.Ended {
		r.Outcome, r.Quantities = o.Digest, jobQuantities(o, int64(r.Manifest.Seed))
		return nil
	}
	rows, err := trainer.ReadLastRows(f.Fsys, f.Path, 1)
	if err == nil && len(rows) == 1 {
		r.Quantities = standing(rows[0], int64(r.Manifest.Seed))
	}
	return err
}

// jobQuantities are the figures of a job that ended. Without a test split there is no
// score of it, which is zero in the outcome.
func jobQuantities(o *JobOutcome, seed int64) []quantity {
	share := func(part float64) float64 { return part / o.Budget.Seconds() }
	test := o.Test
	if test == (trainer.Score{}) {
		test = trainer.Score{Loss: math.NaN(), Accuracy: math.NaN()}
	}
	saving := math.NaN() // by what graft wrote before it counted
	if o.Saves > 0 {
		saving = o.Saving.Seconds()
	}
	return finite(
		one("test_accuracy", document.UnitShare, upward, seed, test.Accuracy),
		one("validation_accuracy", document.UnitShare, upward, seed, o.Validation.Accuracy),
		one("test_loss", document.UnitNats, downward, seed, test.Loss),
		one("validation_loss", document.UnitNats, downward, seed, o.Validation.Loss),
		one("whole_epochs", "", noAim, seed, float64(o.Epochs)),
		one("steps", "", noAim, seed, float64(o.Steps)),
		one("decisions", "", noAim, seed, float64(o.Decisions)),
		one("parameters", "", noAim, seed, float64(o.Parameters)),
		one("budget", document.UnitSeconds, noAim, seed, o.Budget.Seconds()),
		one("used", document.UnitSeconds, noAim, seed, o.Used.Seconds()),
		one("deciding", document.UnitSeconds, downward, seed, o.Deciding.Seconds()),
		one("operating", document.UnitSeconds, downward, seed, o.Operating.Seconds()),
		one("saving", document.UnitSeconds, downward, seed, saving),
		one("epochs_per_second", "epochs/s", upward, seed, float64(o.Epochs)/o.Used.Seconds()),
		one("deciding_share", document.UnitShare, downward, seed, share(o.Deciding.Seconds())),
		one("operating_share", document.UnitShare, downward, seed, share(o.Operating.Seconds())),
	)
}

// standing is where a job stands that has not ended, after its last epoch.
func standing(row trainer.Row, seed int64) []quantity {
	return finite(
		one("validation_accuracy", document.UnitShare, upward, seed, row.Validation.Accuracy),
		one("validation_loss", document.UnitNats, downward, seed, row.Validation.Loss),
		one("epochs", "", noAim, seed, float64(row.Epoch+1)),
		one("steps", "", noAim, seed, float64(row.Steps)),
		one("parameters", "", noAim, seed, float64(row.Parameters)),
		one("time", document.UnitSeconds, noAim, seed, row.Time.Seconds()),
	)
}

// JobOutcome is how a job ended, as outcome.json has it.
type JobOutcome struct {
	*trainer.Outcome
	Saves  int           `json:"saves"`     // checkpoints that were written, by the process that ended the job
	Saving time.Duration `json:"saving_ns"` // that they took in it, on the machine's clock: of the budget only where that is the job's
}

// GivenReport is what a job began with.
type GivenReport struct {
	Weights   string        `json:"weights"`   // their file
	Epochs    int           `json:"epochs"`    // that the job counts as trained before it
	Start     time.Duration `json:"start_ns"`  // of the job, in the budget
	Accuracy  float64       `json:"accuracy"`  // on the validation images, before the first step
	Published *float64      `json:"published"` // on the test images; null where it is not known
}
