package execute

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/internal/files"
	"graft/results"
)

// JournalFile is the name of the journal in a run folder. Each line of the journal is an [Event].
const JournalFile = journalName + ".jsonl"

const journalName = "tasks"

// Read calls the function visit for each event in the journal of a run folder, even while an executor writes the
// journal. It ignores a missing journal and an incomplete last line.
func Read(fsys files.FS, folder string, visit func(Event) error) error {
	path := filepath.Join(folder, JournalFile)
	file, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = results.EachLine(file, func(n int, line []byte) error {
			var e Event
			err := json.Unmarshal(line, &e)
			if err == nil {
				err = visit(e)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			return nil
		})
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("read journal %s: %w", path, err)
	}
	return nil
}

// emit adds an event to the account, the journal and the observer. After a failed write no more lines are written, and
// the executor stops.
func (x *executor) emit(e Event) {
	e.At = x.m.Now
	if e.Task >= 0 {
		e.Name = x.jobs[e.Task].Name
	}
	if e.Kind != Queued && x.err == nil {
		x.fail(x.lines.Append(e))
		x.unsynced = x.unsynced || e.Kind == Ended
	}
	x.account.Add(e)
	x.o.Observer(e)
}

// sync brings ends to stable storage before they have consequences.
func (x *executor) sync() {
	if x.unsynced && x.err == nil {
		x.fail(x.lines.Sync())
	}
	x.unsynced = false
}

// fail keeps the first error, which ends the run.
func (x *executor) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}
