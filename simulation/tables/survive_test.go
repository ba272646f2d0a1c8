package tables_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/simulation/tables"
)

var everyKind = []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash}

// work returns the records of a job that fills a table.
func work() []tables.Entry {
	return []tables.Entry{entry(0, 1), entry(1, 1), entry(2, 1), entry(3, 1), entry(0, 2)}
}

// job creates a table, or opens it, and fills it. It keeps the acknowledged records.
type job struct {
	fsys    files.FS
	dir     string
	options tables.WriterOptions
	retries int // per record

	acknowledged []tables.Entry
}

func (j *job) do() (err error) {
	err = tables.Create(j.fsys, j.dir, small, tables.CreateOptions{})
	if err != nil && !errors.Is(err, tables.ErrExists) {
		return err
	}
	j.options.Name = "a"
	w, err := tables.Open(j.fsys, j.dir, j.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, e := range work() {
		err := w.Append(e.Key, e.Record)
		for tries := 0; err != nil && tries < j.retries; tries++ {
			err = w.Append(e.Key, e.Record)
		}
		if err != nil {
			return err
		}
		j.acknowledged = append(j.acknowledged, e)
	}
	return nil
}

// requireAcknowledged checks that a table holds every acknowledged record, and nothing that was never written.
func requireAcknowledged(t *testing.T, dir string, acknowledged []tables.Entry) {
	t.Helper()
	report, err := tables.Check(files.OS{}, dir)
	if len(acknowledged) == 0 && err != nil {
		require.True(t, errors.Is(err, tables.ErrNoTable) || errors.Is(err, os.ErrNotExist))
		return
	}
	require.NoError(t, err)
	requireOriginals(t, report.Table)
	for _, f := range report.Faults { // faults that a kill leaves
		begun := f.Kind == tables.Missing && strings.Contains(f.Text, "was killed at the start")
		require.True(t, f.Kind == tables.Torn || begun, "%v", f)
	}
	for _, e := range acknowledged {
		r := report.Table.Find(e.Sequence...)
		require.NotNil(t, r)
		require.Contains(t, r.Seeds, e.Seeds[0])
	}
}

// requireWhole checks that a table is as an undisturbed job leaves it.
func requireWhole(t *testing.T, dir string, where ...any) {
	t.Helper()
	report := check(t, dir)
	require.NoError(t, report.Err(), where...)
	require.Equal(t, 5, report.Records, where...)
	requireOriginals(t, report.Table)
}

// After a fault at any operation, the table holds every acknowledged record, and nothing that was never written. The
// next writer completes the table.
func TestTablesSurviveEveryFault(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"a new table":               func(*testing.T, string) {},
		"one with a torn last line": makeTorn,
	} {
		for _, kind := range everyKind {
			t.Run(name+", "+kind.String(), func(t *testing.T) {
				at, fired := 1, true
				for ; fired; at++ {
					dir := filepath.Join(t.TempDir(), "table")
					prepare(t, dir)
					fsys := faults.New(unsynced{}, at, kind)
					j := job{fsys: fsys, dir: dir}
					if err := j.do(); err != nil {
						require.ErrorIs(t, err, faults.ErrInjected)
					}
					requireAcknowledged(t, dir, j.acknowledged)
					require.NoError(t, (&job{fsys: unsynced{}, dir: dir}).do(), "fault at %d", at)
					requireWhole(t, dir, "fault at %d", at)
					fired = fsys.Fired()
				}
				require.Greater(t, at, 40, "faults are put everywhere")
			})
		}
	}
}

// makeTorn creates the table of a writer that was killed in the middle of its third line.
func makeTorn(t *testing.T, dir string) {
	require.NoError(t, (&job{fsys: unsynced{}, dir: dir}).do())
	lines := strings.SplitAfter(read(t, dir, "a-1.jsonl"), "\n")
	overwrite(t, dir, "a-1.jsonl", lines[0]+lines[1]+lines[2][:100])
	overwrite(t, dir, ".a-1.jsonl.0.tmp", "half of a file")
}

// A writer continues after a fault: a retried record is committed once, and none is lost, however little of it was on
// the disk.
func TestWritersTryAgain(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn} {
		for _, lazy := range []bool{false, true} {
			fired, failures := true, 0
			for at := 1; fired; at++ {
				dir := filepath.Join(t.TempDir(), "table")
				fsys := faults.New(unsynced{}, at, kind)
				j := job{fsys: fsys, dir: dir, options: tables.WriterOptions{Lazy: lazy}, retries: 1}
				err := j.do()
				fired = fsys.Fired()
				requireAcknowledged(t, dir, j.acknowledged)
				if err == nil { // the fault fell between open and close
					failures++
					requireWhole(t, dir, "fault at %d", at)
				}
			}
			require.Greater(t, failures, 8, "%v", lazy)
		}
	}
}

// narrow is a disk with room for a limited number of bytes.
type narrow struct {
	unsynced
	room *int
}

type narrowFile struct {
	files.File
	room *int
}

func (f narrowFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:min(len(p), *f.room)])
	*f.room -= n
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (d narrow) Create(path string) (files.File, error) { return d.within(d.unsynced.Create(path)) }
func (d narrow) Append(path string) (files.File, error) { return d.within(d.unsynced.Append(path)) }

func (d narrow) within(f files.File, err error) (files.File, error) {
	if err != nil {
		return nil, err
	}
	return narrowFile{f, d.room}, nil
}

// A disk that is full at any byte loses nothing, and a writer continues when there is room again.
func TestFullDisks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	room := 1 << 20
	w, err := tables.Open(narrow{room: &room}, dir, tables.WriterOptions{Name: "a"})
	require.NoError(t, err)
	full := 0
	for k, e := range work() {
		for room = 0; ; room = 37 * full { // too little for the file, then for the line
			if err = w.Append(e.Key, e.Record); err == nil {
				break
			}
			full++
			require.ErrorIs(t, err, syscall.ENOSPC)
			requireAcknowledged(t, dir, work()[:k])
		}
	}
	require.Greater(t, full, 20)
	room = 0
	require.ErrorIs(t, w.Close(), syscall.ENOSPC)
	requireAcknowledged(t, dir, work())
	require.NoError(t, (&job{fsys: unsynced{}, dir: dir}).do())
	requireWhole(t, dir)
}

// Creating a table in the place of another keeps the old table whole, there or aside.
func TestForceSurvivesEveryFault(t *testing.T) {
	other := small
	other.Budget = 50
	for _, kind := range everyKind {
		for at, fired := 1, true; fired; at++ {
			dir := filepath.Join(t.TempDir(), "table")
			require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
			write(t, dir, "a", entry(0, 1))
			fsys := faults.New(unsynced{}, at, kind)
			err := tables.Create(fsys, dir, other, tables.CreateOptions{Force: true})
			fired = fsys.Fired()
			old := dir
			if _, missing := os.Stat(dir + ".1"); missing == nil {
				old += ".1"
			}
			report := check(t, old)
			require.NoError(t, report.Err())
			require.Equal(t, 1, report.Records, "%s at %d", kind, at)
			if err == nil {
				require.Equal(t, other, check(t, dir).Table.Scenario)
			} else {
				require.ErrorIs(t, err, faults.ErrInjected)
			}
		}
	}
}

// A disk fault while reading gives an error or a fault, never a table that only looks whole.
func TestReadingNamesEveryFaultOfTheDisk(t *testing.T) {
	dir := newTable(t)
	want := check(t, dir)
	named := 0
	for at, fired := 1, true; fired; at++ {
		fsys := faults.New(files.OS{}, at, faults.Fail)
		report, err := tables.Check(fsys, dir)
		if fired = fsys.Fired(); !fired {
			require.Equal(t, want, report)
			break
		}
		named++
		if err == nil {
			err = report.Err()
		}
		require.ErrorIs(t, err, faults.ErrInjected, "%v", fsys.Ops()[at-1])
	}
	require.Greater(t, named, 10)
}
