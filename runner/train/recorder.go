package train

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"graft/internal/files"
	"graft/results"
	"graft/runner/control"
	"graft/trainer"
)

// recorder writes rows, events and checkpoints into the run folder, and reports progress.
type recorder struct {
	*trainer.Folder
	fsys     files.FS
	progress *progressLog
	monitor  *control.Monitor
	curves   *jobCurves // nil without TensorBoard
	energy   *energy    // nil measures nothing
	track    *results.Tracker
	stop     time.Duration // time.stop; zero for none
	rows     []trainer.Row
	notes    []trainer.Note
}

// Epoch appends the metrics of an epoch to the run folder.
func (r *recorder) Epoch(row trainer.Row) error {
	r.rows = append(r.rows, row)
	r.monitor.Epoch(row)
	r.progress.epoch(row)
	return errors.Join(r.Folder.Epoch(row), r.curves.epoch(row), r.energy.end(row.Epoch))
}

// Note appends an event to the run folder.
func (r *recorder) Note(n trainer.Note) error {
	r.notes = append(r.notes, n)
	r.monitor.Note(n)
	r.progress.note(n)
	return errors.Join(r.Folder.Note(n), r.curves.note(n))
}

// Save writes a checkpoint. It returns an error if a table has been deleted, because the rows of that table are lost.
func (r *recorder) Save(sections []trainer.Section) error {
	return errors.Join(r.energy.record(), r.Folder.Save(sections), r.check())
}

// Keep writes a checkpoint that later checkpoints do not replace.
func (r *recorder) Keep(at time.Duration, sections []trainer.Section) error {
	return errors.Join(r.energy.record(), r.Folder.Keep(at, sections))
}

// tables are the files that resuming and reporting require.
var tables = []string{"epochs.csv", "events.jsonl"}

// check returns an error if a table of the run folder is missing.
func (r *recorder) check() error {
	for _, name := range tables {
		path := r.Run.Path(name)
		_, err := r.fsys.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s was deleted while the job was running, and its rows are lost: %w; "+
				"checkpoints are kept: restore a copy of the file and resume the run, or start a new run", path, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watch reports progress between two steps.
func (r *recorder) watch(p trainer.Progress) {
	r.monitor.Watch(p)
	r.progress.watch(p)
	r.track.Note(p.Time.Seconds(), cmp.Or(r.stop, p.Budget).Seconds())
}
