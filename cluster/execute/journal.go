package execute

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/internal/files"
	"graft/internal/words"
	"graft/results"
)

// JournalFile is the name of the journal in a run folder. Each line of the journal is an [Event].
const JournalFile = journalName + ".jsonl"

const journalName = "tasks"

// Read calls the function visit for each event in the journal of a run folder, even while an executor writes the
// journal. It ignores an incomplete last line, and a missing journal if no task has started. If lines were removed from
// the journal, the error reports damage.
func Read(fsys files.FS, folder string, visit func(Event) error) error {
	_, err := read(fsys, folder, visit)
	return err
}

// CheckEnded returns an error that reports damage unless the journal of a complete run has the ends of all its tasks.
func CheckEnded(fsys files.FS, folder string, tasks int) error {
	s, err := read(fsys, folder, func(Event) error { return nil })
	switch {
	case err != nil:
		return err
	case s.torn:
		return damaged(folder, "the last line is incomplete, but the run is complete")
	case len(s.over) < tasks:
		return damaged(folder, fmt.Sprintf("it has the ends of %d tasks, but the run is complete and has %s",
			len(s.over), words.Plural(tasks, "task")))
	}
	return nil
}

func read(fsys files.FS, folder string, visit func(Event) error) (*sequence, error) {
	path := filepath.Join(folder, JournalFile)
	s := &sequence{live: map[int]bool{}, started: map[int]bool{}, over: map[int]bool{}}
	file, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if logs, _ := fsys.ReadDir(filepath.Join(folder, logsFolder)); len(logs) > 0 {
			return nil, damaged(folder, "the file is missing, but tasks have written logs")
		}
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal %s: %w", path, err)
	}
	s.torn, err = results.EachLine(file, func(n int, line []byte) error {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return damaged(folder, fmt.Sprintf("line %d: %v", n, err))
		}
		if fault := s.add(e); fault != "" {
			return damaged(folder, fmt.Sprintf("line %d: %s", n, fault))
		}
		if err := visit(e); err != nil {
			return fmt.Errorf("read journal %s: line %d: %w", path, n, err)
		}
		return nil
	})
	return s, errors.Join(err, file.Close())
}

// damage is the error for a damaged journal.
type damage string

// Error returns the fault and the remedy.
func (d damage) Error() string {
	return string(d) + "; restore a copy of the run folder, or start another run"
}

// Damaged marks the error, so that the program exits with the code for damaged files.
func (damage) Damaged() bool { return true }

func damaged(folder, why string) error {
	return damage(fmt.Sprintf("read journal %s: %s", filepath.Join(folder, JournalFile), why))
}

// sequence checks that no event is missing between the events of a journal.
type sequence struct {
	opened  bool
	live    map[int]bool // by task: an attempt was placed and has not ended
	started map[int]bool // by task: the process of the current attempt has started
	over    map[int]bool // tasks that completed, failed or were skipped
	torn    bool         // the last line is incomplete
}

// add returns the event that is missing before an event, in words; empty if none is.
func (s *sequence) add(e Event) string {
	if e.Kind == Opened {
		s.opened = true
		return ""
	}
	t := e.Task
	missing := func(k EventKind) string {
		return fmt.Sprintf("task %s %s, but the event %q before it is missing", e.Name, e.Kind, k)
	}
	switch {
	case !s.opened:
		return missing(Opened)
	case e.Kind == Skipped:
	case e.Kind == Placed && s.live[t]:
		return missing(Ended)
	case e.Kind != Placed && !s.live[t]:
		return missing(Placed)
	case e.ran() && !s.started[t]:
		return missing(Started)
	}
	s.live[t], s.started[t] = e.Kind != Skipped && e.Kind != Ended, e.Kind != Placed && e.Kind != Ended
	if e.Kind == Skipped || e.End == Done || e.End == Failed {
		s.over[t] = true
	}
	return ""
}

// ran reports whether an event shows that the process of its task had started.
func (e *Event) ran() bool {
	if e.Kind == Ended {
		return e.End == Done || e.End == Again || e.Exit != 0 && e.Exit != missingCode && e.Exit != unstartedCode
	}
	return e.Kind == Paused || e.Kind == Resumed || e.Kind == TimedOut
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
