package fleet

import (
	"context"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet/process"
	"graft/internal/files"
	"graft/internal/files/faults"
)

func TestLocalWorkersShareTheMachine(t *testing.T) {
	b := Batch{Key: "k", Folder: "/f", Argv: []string{"x"}, Workers: 3, Env: []string{"A=b"},
		Resources: Resources{Devices: []string{"cuda:0", "cuda:1"}}}
	for worker, device := range []string{"cuda:0", "cuda:1", "cuda:0"} {
		c := b.command(worker)
		require.Equal(t, "/f", c.Dir)
		require.Subset(t, c.Env, []string{"A=b", "GRAFT_FLEET=/f", "GRAFT_WORKER=" + strconv.Itoa(worker),
			"GRAFT_DEVICE=" + device,
			"GRAFT_THREADS=" + strconv.Itoa(max(1, runtime.NumCPU()/3))})
	}
	b.Resources = Resources{CPUs: 7}
	require.Contains(t, b.command(0).Env, "GRAFT_THREADS=7")
}

// fewProcesses shows only this test's parent process, so the operations are the same every time. A batch that starts
// for the first time has no processes to find.
type fewProcesses struct{ files.OS }

func (f fewProcesses) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := f.OS.ReadDir(path)
	if path == "/proc" {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != strconv.Itoa(os.Getppid()) })
	}
	return entries, err
}

// If a write fails during the start of a batch, a second start has all workers, and Cancel leaves none.
func TestAFaultWhileABatchIsStartedLosesNoProcess(t *testing.T) {
	clock := NewClock(time.Now)
	start := func(fsys files.FS, folder string) (*Fleet, error) {
		return Start(context.Background(), Tools{Files: fsys, Clock: clock}, "local",
			Batch{Key: "k", Folder: folder, Argv: []string{"sleep", "1000"}, Workers: 2})
	}
	mustEnd := func(folder string) {
		f, err := start(files.OS{}, folder)
		require.NoError(t, err)
		found, err := process.With(files.OS{}, []string{folderVariable + "=" + folder})
		require.NoError(t, err)
		require.Len(t, found, 2)
		require.NoError(t, f.Cancel(context.Background()))
		require.NoError(t, f.Close())
		found, err = process.With(files.OS{}, []string{folderVariable + "=" + folder})
		require.NoError(t, err)
		require.Empty(t, found)
	}
	folder := t.TempDir()
	counting := faults.New(fewProcesses{}, 0, faults.Fail)
	f, err := start(counting, folder)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	mustEnd(folder)
	kinds := []faults.Kind{faults.DiskFull}
	if long {
		kinds = []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash}
	}
	for _, kind := range kinds {
		for at := 1; at <= len(counting.Ops()); at++ {
			folder := t.TempDir()
			f, err := start(faults.New(fewProcesses{}, at, kind), folder)
			if err == nil {
				require.NoError(t, f.Close())
			} else {
				require.ErrorContains(t, err, "start batch k")
			}
			mustEnd(folder)
		}
	}
}
