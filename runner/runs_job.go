package main

import (
	"math"

	"graft/trainer"
)

// jobRuns is the runs of graft train.
var jobRuns = &runKind{name: "job", title: "job", titles: "jobs", fits: isRunOf("epochs.csv"), read: readJobRun,
	series: func(r *runData) ([]runSeries, error) { return streamSeries(r, "epochs") }}

func readJobRun(f *runFolderView, r *runData) error {
	o := &jobOutcome{Outcome: &trainer.Outcome{}}
	if err := f.own(r, o); err != nil {
		return err
	}
	if r.Ended {
		r.Outcome, r.Quantities = o.Digest, jobQuantities(o, int64(r.Manifest.Seed))
		return nil
	}
	rows, err := trainer.ReadLastRows(f.fsys, f.path, 1)
	if err == nil && len(rows) == 1 {
		r.Quantities = standing(rows[0], int64(r.Manifest.Seed))
	}
	return err
}

// jobQuantities are the figures of a job that ended. Without a test split there is no
// score of it, which is zero in the outcome.
func jobQuantities(o *jobOutcome, seed int64) []quantity {
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
		one("test_accuracy", unitShare, upward, seed, test.Accuracy),
		one("validation_accuracy", unitShare, upward, seed, o.Validation.Accuracy),
		one("test_loss", unitNats, downward, seed, test.Loss),
		one("validation_loss", unitNats, downward, seed, o.Validation.Loss),
		one("whole_epochs", "", noAim, seed, float64(o.Epochs)),
		one("steps", "", noAim, seed, float64(o.Steps)),
		one("decisions", "", noAim, seed, float64(o.Decisions)),
		one("parameters", "", noAim, seed, float64(o.Parameters)),
		one("budget", unitSeconds, noAim, seed, o.Budget.Seconds()),
		one("used", unitSeconds, noAim, seed, o.Used.Seconds()),
		one("deciding", unitSeconds, downward, seed, o.Deciding.Seconds()),
		one("operating", unitSeconds, downward, seed, o.Operating.Seconds()),
		one("saving", unitSeconds, downward, seed, saving),
		one("epochs_per_second", "epochs/s", upward, seed, float64(o.Epochs)/o.Used.Seconds()),
		one("deciding_share", unitShare, downward, seed, share(o.Deciding.Seconds())),
		one("operating_share", unitShare, downward, seed, share(o.Operating.Seconds())),
	)
}

// standing is where a job stands that has not ended, after its last epoch.
func standing(row trainer.Row, seed int64) []quantity {
	return finite(
		one("validation_accuracy", unitShare, upward, seed, row.Validation.Accuracy),
		one("validation_loss", unitNats, downward, seed, row.Validation.Loss),
		one("epochs", "", noAim, seed, float64(row.Epoch+1)),
		one("steps", "", noAim, seed, float64(row.Steps)),
		one("parameters", "", noAim, seed, float64(row.Parameters)),
		one("time", unitSeconds, noAim, seed, row.Time.Seconds()),
	)
}
