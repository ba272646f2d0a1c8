package results_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/results"
)

var everyKind = []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash}

// unsynced is a file system without syncs, for speed: these tests kill processes, not machines.
type unsynced struct{ files.OS }

type unsyncedFile struct{ files.File }

func (unsyncedFile) Sync() error           { return nil }
func (unsynced) SyncDir(path string) error { return nil }

func (u unsynced) Create(path string) (files.File, error) { return skipSync(u.OS.Create(path)) }
func (u unsynced) Append(path string) (files.File, error) { return skipSync(u.OS.Append(path)) }

func skipSync(f files.File, err error) (files.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

// job is a run of a few epochs that records its acknowledged writes.
type job struct {
	fsys  files.FS
	path  string
	run   *results.Run
	epoch int // next epoch
	keep  int // checkpoints kept

	created bool
	rows    int // rows of the table that Append has accepted
	saved   int // epoch of the last checkpoint
	ended   bool
}

const epochs, every = 4, 2

// do starts or resumes the run, and finishes it.
func (j *job) do() (err error) {
	j.run, err = results.Open(j.fsys, j.path)
	if errors.Is(err, results.ErrNoRun) {
		j.run, err = results.Create(j.fsys, j.path, options, manifest)
	}
	if err != nil {
		return err
	}
	j.created, j.run.Keep = true, j.keep
	err = j.train()
	return errors.Join(err, j.run.Close())
}

func (j *job) train() error {
	if err := j.resume(); err != nil {
		return err
	}
	for ; j.epoch < epochs; j.epoch++ {
		if err := j.step(); err != nil {
			return err
		}
	}
	if err := j.run.WriteOutcome("done"); err != nil {
		return err
	}
	j.ended = true
	return nil
}

// resume rewinds the run to the last checkpoint.
func (j *job) resume() error {
	c, err := j.run.LoadCheckpoint()
	if errors.Is(err, results.ErrNoCheckpoint) {
		return j.run.Rewind(nil)
	}
	if err != nil {
		return err
	}
	err = errors.Join(c.JSON("epoch", &j.epoch), c.Close())
	j.rows, j.saved = j.epoch, j.epoch
	if err == nil {
		err = j.run.Rewind(c)
	}
	return err
}

func (j *job) step() error {
	table, err := j.run.Stream("epochs", columns)
	if err != nil {
		return err
	}
	if err := table.Append(j.epoch, 1/float64(j.epoch+1), strings.Repeat("deepen ", j.epoch), true); err != nil {
		return err
	}
	j.rows++
	if err := appendJSON(j.run, "events", []int{j.epoch}); err != nil {
		return err
	}
	if (j.epoch+1)%every != 0 {
		return nil
	}
	err = j.run.SaveCheckpoint("epoch", func(w *results.CheckpointWriter) error { return w.JSON("epoch", j.epoch+1) })
	if err == nil {
		j.saved = j.epoch + 1
	}
	return err
}

// whole returns the files of an uninterrupted run.
func whole(t *testing.T) map[string]string {
	j := &job{fsys: unsynced{}, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, j.do())
	return left(t, j.path)
}

func left(t *testing.T, path string) map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"epochs.csv", "events.jsonl", "outcome.json", "manifest.json", "config.toml",
		"streams.json"} {
		texts[name] = read(t, path, name)
	}
	return texts
}

// After a fault at any operation, all acknowledged rows are present, and each file is a prefix of the uninterrupted
// file. The resumed run ends with the same files.
func TestRunSurvivesEveryFault(t *testing.T) {
	survive(t, 100, func(string) {})
}

// A resumed run survives faults too: it cuts off torn rows and rewinds.
func TestResumedRunSurvivesEveryFault(t *testing.T) {
	killed := filepath.Join(t.TempDir(), "run")
	makeKilled(t, killed)
	survive(t, 80, func(path string) { require.NoError(t, os.CopyFS(path, os.DirFS(killed))) })
}

// makeKilled writes a run that was killed inside a row, with a good checkpoint before a damaged one.
func makeKilled(t *testing.T, path string) {
	j := &job{fsys: unsynced{}, path: path, keep: 2}
	require.NoError(t, j.do())
	require.NoError(t, os.Remove(filepath.Join(path, "outcome.json")))
	damage(t, filepath.Join(path, "checkpoints", "000002-epoch.ckpt"))
	write(t, strings.TrimSuffix(read(t, path, "epochs.csv"), "true\n"), path, "epochs.csv")
	write(t, "half", path, ".outcome.json.0.tmp")
}

// survive injects each kind of fault at each operation of a job that continues the work of prepare.
func survive(t *testing.T, atLeast int, prepare func(path string)) {
	want := whole(t)
	path := filepath.Join(t.TempDir(), "run")
	prepare(path)
	counting := faults.New(unsynced{}, 0, faults.Fail)
	require.NoError(t, (&job{fsys: counting, path: path, keep: 1}).do())
	ops := counting.Ops()
	require.Greater(t, len(ops), atLeast, "faults are put everywhere")
	for _, kind := range everyKind {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			for k, op := range ops {
				if kind == faults.Torn && op.Name != "write" {
					continue // same as Fail
				}
				path := filepath.Join(t.TempDir(), "run")
				prepare(path)
				checkFault(t, path, k+1, kind, want)
			}
		})
	}
}

// checkFault runs a job into a fault, checks the files and finishes the run.
func checkFault(t *testing.T, path string, at int, kind faults.Kind, want map[string]string) {
	fsys := faults.New(unsynced{}, at, kind)
	j := &job{fsys: fsys, path: path, keep: 1}
	err := j.do()
	require.True(t, fsys.Fired())
	if err != nil {
		require.ErrorIs(t, err, faults.ErrInjected)
	}
	if j.created {
		checkLeft(t, j, want["epochs.csv"])
	}
	again := &job{fsys: unsynced{}, path: path}
	require.NoError(t, again.do(), "fault at %d", at)
	require.Equal(t, want, left(t, path), "fault at %d", at)
	require.NoError(t, os.RemoveAll(filepath.Dir(path)))
}

// checkLeft compares the files with the acknowledged writes.
func checkLeft(t *testing.T, j *job, table string) {
	s := look(t, j.path)
	require.Equal(t, manifest.Seed, s.Manifest.Seed)
	require.True(t, !j.ended || s.Outcome != nil)
	if j.rows > 0 {
		text := read(t, j.path, "epochs.csv")
		require.True(t, strings.HasPrefix(table, text) || strings.HasPrefix(text, table))
		require.GreaterOrEqual(t, s.Tables["epochs"].Rows, j.rows)
		require.LessOrEqual(t, len(s.Logs["events"]), epochs)
	}
	if j.saved == 0 {
		return
	}
	run, err := results.Open(files.OS{}, j.path)
	require.NoError(t, err)
	c, err := run.LoadCheckpoint()
	require.NoError(t, err)
	epoch := 0
	require.NoError(t, c.JSON("epoch", &epoch))
	require.GreaterOrEqual(t, epoch, j.saved)
	require.Equal(t, epoch, c.Streams["epochs.csv"].Rows)
	require.LessOrEqual(t, epoch, s.Tables["epochs"].Rows)
	require.NoError(t, errors.Join(c.Close(), run.Close()))
}

// Create with Force keeps the old run, whatever fails.
func TestForceSurvivesEveryFault(t *testing.T) {
	for _, kind := range everyKind {
		reached := true
		for at := 1; reached; at++ {
			path := filepath.Join(t.TempDir(), "run")
			old, err := results.Create(files.OS{}, path, options, results.Manifest{Seed: 1})
			require.NoError(t, err)
			require.NoError(t, old.Close())
			fsys := faults.New(unsynced{}, at, kind)
			force := options
			force.Force = true
			run, err := results.Create(fsys, path, force, results.Manifest{Seed: 2})
			require.Equal(t, err == nil, run != nil)
			if run != nil {
				_ = run.Close()
			}
			seeds := seedsIn(t, filepath.Dir(path))
			require.Contains(t, slices.Collect(maps.Values(seeds)), uint64(1), "%s at %d", kind, at)
			if run != nil {
				require.Equal(t, map[string]uint64{"run": 2, "run.1": 1}, seeds, "%s at %d", kind, at)
			}
			reached = fsys.Fired()
		}
	}
}

// After a failed write, a table accepts no more rows, so no row follows a torn one.
func TestNoRowFollowsATornOne(t *testing.T) {
	for _, kind := range everyKind {
		t.Run(kind.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run")
			counting := faults.New(unsynced{}, 0, kind)
			appendTwo(t, counting, path)
			last := len(counting.Ops())
			path = filepath.Join(t.TempDir(), "run")
			run, table := appendTwo(t, faults.New(unsynced{}, last+1, kind), path)
			first := table.Append(3, 1.0, "", true)
			require.ErrorIs(t, first, faults.ErrInjected)
			require.ErrorContains(t, first, "resume the run")
			require.Equal(t, first, table.Append(4, 1.0, "", true))
			require.Equal(t, first, table.Sync())
			require.ErrorIs(t, run.SaveCheckpoint("x", nothing), faults.ErrInjected)
			_ = run.Close()
			read, err := results.ReadStream(files.OS{}, filepath.Join(path, "epochs.csv"))
			require.NoError(t, err)
			require.Equal(t, 2, read.Rows)
		})
	}
}

func appendTwo(t *testing.T, fsys files.FS, path string) (*results.Run, *results.Stream) {
	run, err := results.Create(fsys, path, options, manifest)
	require.NoError(t, err)
	t.Cleanup(func() { _ = run.Close() })
	table, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	for k := range 2 {
		require.NoError(t, table.Append(k, 1.0, "", true))
	}
	return run, table
}

// A saved checkpoint remains saved if older ones cannot be deleted.
func TestPruningMayFail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	for at := 1; ; at++ {
		require.NoError(t, os.RemoveAll(path))
		fsys := faults.New(unsynced{}, at, faults.Fail)
		run, err := results.Create(fsys, path, options, manifest)
		for k := 0; k < 3 && err == nil; k++ {
			err = run.SaveCheckpoint("x", sections("w"))
		}
		if run != nil {
			_ = run.Close()
		}
		require.False(t, err == nil && !fsys.Fired(), "the deletion was never reached")
		if !errors.Is(err, results.ErrNotPruned) {
			continue
		}
		require.ErrorIs(t, err, faults.ErrInjected)
		again, err := results.Open(files.OS{}, path)
		require.NoError(t, err)
		_, c := loaded(t, again)
		require.Equal(t, 3, c.Number)
		require.NoError(t, again.Close())
		return
	}
}

// muted is a file system on which the program's log fails to open, or fails after some lines.
type muted struct {
	unsynced
	lines int // lines before it fails; negative fails to open
}

type mutedFile struct {
	files.File
	left *int
}

func (f mutedFile) Write(p []byte) (int, error) {
	if *f.left == 0 {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, faults.ErrInjected
	}
	*f.left--
	return f.File.Write(p)
}

func (m *muted) Append(path string) (files.File, error) {
	f, err := m.unsynced.Append(path)
	if err != nil || filepath.Base(path) != "log.jsonl" {
		return f, err
	}
	if m.lines < 0 {
		return nil, errors.Join(faults.ErrInjected, f.Close())
	}
	return mutedFile{f, &m.lines}, nil
}

// A run continues if its program's log fails, and writes the log again after it is reopened.
func TestRunsWithoutAProgramLog(t *testing.T) {
	for _, lines := range []int{-1, 0, 1} {
		path := filepath.Join(t.TempDir(), "run")
		run, err := results.Create(&muted{lines: lines}, path, options, manifest)
		require.NoError(t, err)
		for range 3 {
			err = appendJSON(run, "log", "a line")
		}
		require.ErrorIs(t, err, faults.ErrInjected)
		require.NoError(t, appendJSON(run, "events", 1))
		require.NoError(t, run.SaveCheckpoint("one", sections("one")))
		require.NoError(t, appendJSON(run, "events", 2))
		c, err := run.LoadCheckpoint()
		require.NoError(t, err)
		require.NoError(t, run.Rewind(c))
		require.NoError(t, c.Close())
		require.NoError(t, run.WriteOutcome("done"))
		require.NoError(t, run.Close())
		require.Equal(t, "1\n", read(t, run.Path("events.jsonl")))

		run, err = results.Open(files.OS{}, path)
		require.NoError(t, err)
		require.NoError(t, appendJSON(run, "log", "again"))
		require.Equal(t, strings.Repeat("\"a line\"\n", max(0, lines))+"\"again\"\n", read(t, run.Path("log.jsonl")))
		require.NoError(t, run.Close())
	}
}
