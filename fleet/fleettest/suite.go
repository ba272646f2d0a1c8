// Package fleettest is the conformance suite of engines. Toy workers, which run the test binary, take tasks and commit
// results. At the end of each test, after any kills, each task has one result and no process remains.
package fleettest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/internal/files"
)

// Harness describes an engine under test: its name, its clock, and the resources and timeouts of tests.
type Harness struct {
	Engine    string          // name of the engine
	Clock     fleet.Clock     // clock of real time
	Resources fleet.Resources // resources of each worker
	Timeout   time.Duration   // timeout of every step
}

// look is the interval of polls in tests.
const look = 200 * time.Millisecond

func (h Harness) tools() fleet.Tools {
	return fleet.Tools{Files: files.OS{}, Clock: h.Clock, Grace: time.Second}
}

// NewBatch returns a batch of toy workers in a new folder. The mode selects their behavior, and takes is the time per
// task. The batch is cancelled after the test.
func (h Harness) NewBatch(t *testing.T, mode string, workers, tasks int, takes time.Duration) fleet.Batch {
	self, err := os.Executable()
	require.NoError(t, err)
	folder, err := os.MkdirTemp("", "graft fleet ' %a ")
	require.NoError(t, err)
	b := fleet.Batch{
		Key: newKey("toys-whose-name-is-longer-than-a-column-of-squeue-" + mode), Folder: folder, Workers: workers,
		Resources: h.Resources, Argv: []string{self, "a 'word' $HOME\n#SBATCH --bogus\r\n"},
		Env: []string{toy{Mode: mode, Workers: workers, Tasks: tasks, Takes: takes}.variable(),
			"QUOTED=it's \"$HOME\""},
	}
	t.Cleanup(func() {
		h.mustEnd(t, b)
		_ = os.RemoveAll(folder)
	})
	return b
}

// mustEnd cancels a batch and kills its remaining processes.
func (h Harness) mustEnd(t *testing.T, b fleet.Batch) {
	if f, err := fleet.Attach(h.tools(), b.Folder); err == nil {
		require.NoError(t, f.Cancel(context.Background()))
	}
	// Slurm, for example, leaves processes alive that left their group and session.
	left, err := processes(b.Folder)
	require.NoError(t, err)
	for _, p := range left {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
}

// Start starts a batch and closes it after the test.
func (h Harness) Start(t *testing.T, b fleet.Batch) *fleet.Fleet {
	f, err := fleet.Start(context.Background(), h.tools(), h.Engine, b)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// Supervise supervises a batch with the given number of tasks until the batch ends.
func (h Harness) Supervise(t *testing.T, f *fleet.Fleet, tasks int) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.Timeout)
	defer cancel()
	left := func() (int, error) { return remaining(f.Batch().Folder, tasks) }
	err := f.Supervise(ctx, left, fleet.SuperviseOptions{Every: look, Failures: 1, Grace: 20 * time.Second,
		Note: func(text string) { t.Log(text) }})
	if ctx.Err() != nil {
		states, _ := f.Workers(context.Background())
		t.Errorf("the batch did not end within %v: %v\n%s", h.Timeout, states, logs(f.Batch()))
	}
	return err
}

// logs returns the logs of all workers.
func logs(b fleet.Batch) string {
	var text strings.Builder
	for k := range b.Workers {
		log, _ := os.ReadFile(fleet.LogPath(b.Folder, k))
		fmt.Fprintf(&text, "%s\n%s\n", fleet.LogPath(b.Folder, k), log)
	}
	return text.String()
}

// Count returns the number of files in a subfolder of a batch, or zero if there is no such folder. It does not count
// temporary files of killed writers.
func Count(t *testing.T, b fleet.Batch, name string) int {
	entries, err := os.ReadDir(filepath.Join(b.Folder, name))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return len(slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return files.IsLeftover(e.Name()) }))
}

// Await waits until the function so returns true. The test fails after a timeout; what describes the condition.
func (h Harness) Await(t *testing.T, what string, so func() bool) {
	for end := h.Clock.Now() + h.Timeout; !so(); {
		require.Less(t, h.Clock.Now(), end, "timed out after %v waiting until %s", h.Timeout, what)
		require.NoError(t, h.Clock.Wait(context.Background(), look/4))
	}
}

// OpenGate lets the workers of a batch of mode Gated end all their tasks.
func OpenGate(t *testing.T, b fleet.Batch) {
	require.NoError(t, os.WriteFile(gate(b.Folder), nil, 0o600))
}

// Live returns the number of live workers in a batch.
func Live(t *testing.T, f *fleet.Fleet) (live int) {
	states, err := f.Workers(context.Background())
	require.NoError(t, err)
	for _, w := range states {
		if w.State.Live() {
			live++
		}
	}
	return live
}

// Run runs the conformance suite for engines.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"each task is done once":                       once,
		"workers that ask for a restart are restarted": again,
		"workers that fail are not restarted for ever": failing,
		"a hanging worker is cancelled with its child": hang,
		"a killed coordinator's batch is continued":    orphaned,
		"a live batch is found and not started twice":  found,
		"one of several racing workers commits":        race,
		"a cancelled batch is not restarted":           cancelled,
		"a folder holds one batch only":                occupied,
		"a moved folder continues without its workers": moved,
		"a missing program is an error":                absent,
	} {
		t.Run(name, func(t *testing.T) { test(t, h) })
	}
}

func once(t *testing.T, h Harness) {
	const workers, tasks = 3, 9
	b := h.NewBatch(t, plain, workers, tasks, 50*time.Millisecond)
	f := h.Start(t, b)
	require.NoError(t, h.Supervise(t, f, tasks), logs(b))
	require.Equal(t, tasks, Count(t, b, "results"))
	require.Equal(t, tasks, Count(t, b, "starts"), "no task was started twice")
	require.Zero(t, Count(t, b, "leases"), "no lease files are left")
	states, err := f.Workers(context.Background())
	require.NoError(t, err)
	for k, w := range states {
		require.Equal(t, fleet.Done, w.State, "%+v", w)
		require.Equal(t, k, w.Worker)
		require.NotEmpty(t, w.Host)
		log, err := os.ReadFile(w.Log)
		require.NoError(t, err)
		require.Regexp(t, fmt.Sprintf(`toy: worker %d threads [1-9]\d* device \S* ?quoted it's "\$HOME"`, k),
			string(log))
	}
}

func again(t *testing.T, h Harness) {
	const workers, tasks = 2, 6
	b := h.NewBatch(t, flaky, workers, tasks, 20*time.Millisecond)
	f := h.Start(t, b)
	require.NoError(t, h.Supervise(t, f, tasks), logs(b))
	require.Equal(t, tasks, Count(t, b, "results"))
	require.Equal(t, tasks, Count(t, b, "starts"))
	for k := range workers {
		require.FileExists(t, filepath.Join(b.Folder, fmt.Sprintf("flaked-%d", k)))
	}
	require.GreaterOrEqual(t, strings.Count(logs(b), "toy: worker"), workers+1,
		"the log of a second start is appended to the log of the first")
}

func failing(t *testing.T, h Harness) {
	b := h.NewBatch(t, bad, 2, 1, 0)
	f := h.Start(t, b)
	err := h.Supervise(t, f, 1)
	require.ErrorIs(t, err, fleet.ErrNoWorkers)
	require.ErrorContains(t, err, "worker 1: failed (exit code 1), log: "+fleet.LogPath(b.Folder, 1))
	require.Equal(t, 4, strings.Count(logs(b), "toy: worker"), "each was started twice")
}

func hang(t *testing.T, h Harness) {
	const workers = 2
	b := h.NewBatch(t, hanging, workers, 1, 0)
	f := h.Start(t, b)
	h.Await(t, "all hang", func() bool { return Count(t, b, "starts") == workers })
	before, err := processes(b.Folder)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(before), 2*workers)
	require.NoError(t, f.Cancel(context.Background()))
	require.Zero(t, Live(t, f))
	if h.Engine == "local" {
		left, err := processes(b.Folder)
		require.NoError(t, err)
		require.Empty(t, left)
	}
	require.ErrorIs(t, h.Supervise(t, f, 1), fleet.ErrCancelled)
}

func orphaned(t *testing.T, h Harness) {
	const workers, tasks = 2, 10
	b := h.NewBatch(t, Gated, workers, tasks, 50*time.Millisecond)
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self)
	c.Env = append(os.Environ(), toy{Mode: coordinator, Tasks: tasks, Engine: h.Engine, Batch: b}.variable())
	require.NoError(t, c.Start())
	h.Await(t, "some work is done", func() bool { return Count(t, b, "results") > 1 })
	_, err = fleet.Start(context.Background(), h.tools(), h.Engine, b)
	require.ErrorIs(t, err, files.ErrLocked, "another coordinator is running")
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	OpenGate(t, b)
	// A program that the coordinator was starting inherits its lock until the program runs.
	h.Await(t, "the lock of the coordinator is free", func() bool {
		locked, err := files.OS{}.Locked(filepath.Join(b.Folder, "fleet.lock"))
		return err == nil && !locked
	})

	f, err := fleet.Attach(h.tools(), b.Folder)
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, b.Key, f.Batch().Key)
	jobs := f.Handle().Jobs
	require.NoError(t, h.Supervise(t, f, tasks), logs(b))
	require.Equal(t, tasks, Count(t, b, "results"))
	if h.Engine == "slurm" {
		require.Equal(t, tasks, Count(t, b, "starts"), "its workers keep running")
		require.Equal(t, jobs, f.Handle().Jobs)
	} else {
		require.LessOrEqual(t, Count(t, b, "starts"), tasks+workers)
	}
}

func found(t *testing.T, h Harness) {
	const workers, tasks = 2, 4
	b := h.NewBatch(t, Gated, workers, tasks, 50*time.Millisecond)
	engine, err := fleet.NewEngine(h.Engine, h.tools())
	require.NoError(t, err)
	first, err := engine.Submit(context.Background(), b) // submitted by a process that then died
	require.NoError(t, err)
	h.Await(t, "a worker runs", func() bool { return Count(t, b, "starts") > 0 })
	other, err := fleet.NewEngine(h.Engine, h.tools())
	require.NoError(t, err)
	second, err := other.Submit(context.Background(), b)
	require.NoError(t, err)
	require.Equal(t, first, second)
	f := h.Start(t, b)
	require.Equal(t, first, f.Handle())
	OpenGate(t, b)
	require.NoError(t, h.Supervise(t, f, tasks), logs(b))
	require.Equal(t, tasks, Count(t, b, "starts"))
	require.Equal(t, workers, strings.Count(logs(b), "toy: worker"))
}

func race(t *testing.T, h Harness) {
	const workers, tasks = 3, 20
	b := h.NewBatch(t, racing, workers, tasks, 10*time.Millisecond)
	f := h.Start(t, b)
	h.Await(t, "all have ended", func() bool { return Live(t, f) == 0 })
	require.Equal(t, tasks, Count(t, b, "results"))
	require.Equal(t, workers*tasks, Count(t, b, "starts"))
	require.Equal(t, (workers-1)*tasks, Count(t, b, "refused"))
}

func cancelled(t *testing.T, h Harness) {
	b := h.NewBatch(t, plain, 2, 2, time.Hour)
	f := h.Start(t, b)
	over := make(chan error, 1)
	go func() {
		over <- f.Supervise(context.Background(), func() (int, error) { return remaining(b.Folder, 2) },
			fleet.SuperviseOptions{Every: look})
	}()
	h.Await(t, "both work", func() bool { return Count(t, b, "starts") == 2 })
	beside, err := fleet.Attach(h.tools(), b.Folder) // as another process does
	require.NoError(t, err)
	require.Equal(t, 2, Live(t, beside))
	require.NoError(t, beside.Cancel(context.Background()))
	require.ErrorIs(t, <-over, fleet.ErrCancelled)
	require.Zero(t, Live(t, beside))
	left, err := processes(b.Folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func occupied(t *testing.T, h Harness) {
	b := h.NewBatch(t, bad, 1, 1, 0)
	f := h.Start(t, b)
	require.NoError(t, f.Close())
	b.Key = newKey("other")
	_, err := fleet.Start(context.Background(), h.tools(), h.Engine, b)
	require.ErrorContains(t, err, "choose another folder")
}

// moved continues in a copy of a batch's folder with another key, as after a move, once no old worker is alive.
func moved(t *testing.T, h Harness) {
	old, b := h.NewBatch(t, Gated, 1, 3, 0), h.NewBatch(t, plain, 1, 2, 0)
	f := h.Start(t, old)
	h.Await(t, "the worker waits in a task", func() bool { return Count(t, old, "starts") == 3 })
	journal, err := os.ReadFile(filepath.Join(old.Folder, "fleet.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(b.Folder, "fleet.json"), journal, 0o600))
	_, err = fleet.Start(context.Background(), h.tools(), h.Engine, b)
	require.ErrorContains(t, err, "still running in "+old.Folder)
	require.NoError(t, f.Cancel(context.Background()))
	require.NoError(t, h.Supervise(t, h.Start(t, b), 2))
	require.Equal(t, 2, Count(t, b, "results"))
}

func absent(t *testing.T, h Harness) {
	b := h.NewBatch(t, plain, 1, 1, 0)
	b.Argv[0] = filepath.Join(b.Folder, "is-not-there")
	f, err := fleet.Start(context.Background(), h.tools(), h.Engine, b)
	if err == nil { // a scheduler detects it later
		err = h.Supervise(t, f, 1)
		require.ErrorIs(t, err, fleet.ErrNoWorkers)
		require.Contains(t, logs(b), "is-not-there")
		require.NoError(t, f.Close())
	}
	require.Error(t, err)
}
