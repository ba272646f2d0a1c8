package simulate

import (
	"fmt"
	"slices"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/runs"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// Report holds the progress and the outcome of a simulation; `graft simulate --json` prints it.
type Report struct {
	Folder   string            `json:"folder"`   // path of the run folder
	Table    string            `json:"table"`    // path of the table's folder
	Cache    string            `json:"cache"`    // path of the cache folder
	State    grid.Progress     `json:"state"`    // progress of the simulation
	Failures []grid.Failure    `json:"failures"` // failed attempts
	Damaged  []string          `json:"damaged"`  // damaged files of the cache that were moved aside
	Outcome  *runs.TableReport `json:"outcome"`  // outcome of the table; null if no sequence has ended
}

// finish collects the table and reports the outcome, with an error if sequences failed.
func (x *monitor) finish() (*Report, error) {
	if _, err := x.collectTable(); err != nil {
		return nil, err
	}
	r, err := x.report()
	if err != nil {
		return nil, err
	}
	if r.State.Failed == 0 {
		if err := x.grid.Sweep(); err != nil {
			return nil, err
		}
	}
	return r, r.err()
}

func (x *monitor) report() (*Report, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := &Report{Folder: x.folder, Table: x.table(), Cache: x.cache()}
	var err error
	if r.State, err = x.grid.Progress(); err != nil {
		return nil, err
	}
	if r.Failures, err = x.grid.Failures.List(); err != nil {
		return nil, err
	}
	if r.Damaged, err = x.grid.Store.Damaged(); err != nil || r.State.Ended == 0 {
		return r, err
	}
	table, err := tables.Read(x.env.Files, r.Table)
	if err != nil {
		return nil, err
	}
	r.Outcome = runs.NewTableReport(table)
	return r, nil
}

// MissingSequences is an error about failed sequences, which are missing from the table.
type MissingSequences struct{ text string }

// Error names the first failed sequence and the remedy.
func (m *MissingSequences) Error() string { return m.text }

// err returns a MissingSequences error if sequences failed.
func (r *Report) err() error {
	if r.State.Failed == 0 {
		return nil
	}
	remedy := "retry the failed runs with option \"retry\""
	if !slices.ContainsFunc(r.Failures, func(f grid.Failure) bool { return !f.Diverged }) {
		remedy = "change the configuration, because a retry would diverge again"
	}
	err := &MissingSequences{fmt.Sprintf("%d of %s failed, such as %s: %s; see %s/%s, and %s", r.State.Failed,
		words.Plural(r.State.Sequences, "run"),
		grid.Segment{Sequence: r.Failures[0].Sequence, Seed: r.Failures[0].Seed}, r.Failures[0].Why, r.Folder,
		runs.FailuresFolder, remedy)}
	if r.State.Ended == 0 {
		return err
	}
	return failure.With(failure.Partial, err)
}
