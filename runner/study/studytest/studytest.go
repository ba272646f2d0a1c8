// Package studytest checks that cluster simulations survive faults and kills, for tests of worlds.
package studytest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
	"graft/runner/app"
	simulations "graft/runner/study"
	"graft/runner/worktest"
)

// Read reads the configuration file of a cluster simulation; an empty path means no file.
func Read(t *testing.T, world, path string, set ...string) study.File {
	t.Helper()
	f, err := config.ReadNamed[study.File](world, config.Open(files.OS{}, path), set)
	require.NoError(t, err)
	return f
}

// run simulates into a folder.
func run(ctx context.Context, t *testing.T, env *app.Env, world, path, folder string, again bool, set []string) error {
	t.Helper()
	f := Read(t, world, path, append(set, "run.folder="+config.Quote(folder))...)
	_, err := simulations.Run(ctx, env, worlds.Named(world), f, path, app.FolderOptions{Resume: again})
	return err
}

// kept selects the files whose bytes are compared.
func kept(path string) bool {
	return path != "lock" && !strings.HasPrefix(filepath.Base(path), "config.")
}

// Survives injects faults into the writes of a run, one at a time. After resuming, each run must be byte-identical to a
// run without faults.
func Survives(t *testing.T, world, path string, set ...string) {
	t.Helper()
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		return run(context.Background(), t, env, world, path, folder, again, set)
	}, kept)
}

// mostResumed limits the interrupted runs without GRAFT_LONG.
const mostResumed = 8

// Resumes interrupts runs at a random file creation, and interrupts them again while they resume. Each run must be
// byte-identical to an uninterrupted run.
func Resumes(t *testing.T, runs int, world, path string, set ...string) {
	t.Helper()
	if os.Getenv("GRAFT_LONG") == "" {
		runs = min(runs, mostResumed)
	}
	whole := filepath.Join(t.TempDir(), "run")
	counting := &interrupting{stop: func() {}, after: -1}
	require.NoError(t, run(t.Context(), t, worktest.Env(counting), world, path, whole, false, set))
	want := worktest.Contents(t, whole, kept)
	created := counting.created.Load()
	random := rand.New(rand.NewPCG(1, uint64(runs)))
	for k := range runs {
		folder := filepath.Join(t.TempDir(), "run")
		for attempt := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			fsys := &interrupting{stop: cancel, after: random.Int64N(created)}
			_ = run(ctx, t, worktest.Env(fsys), world, path, folder, attempt > 0, set)
			cancel()
		}
		require.NoError(t, run(t.Context(), t, worktest.Env(files.OS{}), world, path, folder, true, set))
		require.Equal(t, want, worktest.Contents(t, folder, kept), "run %d", k)
	}
}

// interrupting is a file system that calls stop after a number of file creations.
type interrupting struct {
	files.OS
	stop    func()
	after   int64
	created atomic.Int64
}

// Create counts created files, and stops the run at the chosen file.
func (i *interrupting) Create(path string) (files.File, error) {
	if i.created.Add(1) == i.after {
		i.stop()
	}
	return i.OS.Create(path)
}
