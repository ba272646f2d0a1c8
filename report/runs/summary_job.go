package runs

import (
	"strconv"
	"strings"
	"time"

	"graft/report/document"
	"graft/results"
)

// jobOverview shows a job by its used budget and its validation accuracy.
var jobOverview = overview{progress: jobProgress,
	trend: overStream("epochs.csv", "epoch", ValidationAccuracy, document.UnitShare)}

// jobProgress returns the used part of the budget. Without progress.json, it is the time of the last epoch,
// and the time left is unknown.
func jobProgress(r *Run, written *results.Progress) (*results.Progress, error) {
	if budget, known := r.Quantity("budget"); r.Ended && known {
		return &results.Progress{Done: budget, Of: budget, Unit: document.UnitSeconds}, nil
	}
	if written != nil || r.Ended {
		return written, nil
	}
	p := &results.Progress{Unit: document.UnitSeconds}
	p.Done, _ = r.Quantity("time")
	if text, given := r.Setting("time.budget"); given {
		p.Of = secondsOf(text)
	}
	p.Done = min(p.Done, p.Of)
	return p, nil
}

// secondsOf reads a duration of a configuration in seconds; zero if it is none.
func secondsOf(text string) float64 {
	text = strings.Trim(text, `"'`)
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && v > 0 {
		return v
	}
	return 0
}
