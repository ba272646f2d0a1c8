// Package worktest runs library functions under injected faults, for tests.
package worktest

import (
	"crypto/rand"
	"fmt"
	random "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/runner/app"
)

// Env returns an environment with a fixed time and without a log.
func Env(fsys files.FS) *app.Env {
	return &app.Env{Files: fsys, Now: func() time.Time { return time.Unix(0, 0) }, Random: rand.Reader,
		Version: "v0.1.0", Host: "node", Args: []string{"graft"}, Log: zap.NewNop()}
}

// writes holds the operations that change a disk.
var writes = map[string]bool{"create": true, "append": true, "write": true, "rename": true, "link": true,
	"mkdirall": true, "sync": true, "syncdir": true, "remove": true}

// shortFaults is the number of faults without GRAFT_LONG.
const shortFaults = 40

// SurviveFaults injects a fault into each operation that writes, one at a time, and calls the function do in a new
// folder for each of them. Without GRAFT_LONG=1 it tests only 40 of these operations, drawn with a fixed seed. The
// faults alternate between a transient fault and the end of the process. The call must return an error, or leave files
// that are byte-identical to the files of a call without faults. A second call, without faults and with again set, must
// then leave byte-identical files too. The function kept reports whether to compare the file with the given path in the
// folder.
func SurviveFaults(t *testing.T, do func(env *app.Env, folder string, again bool) error, kept func(path string) bool) {
	counting := faults.New(unsynced{}, 0, faults.Fail)
	folder := filepath.Join(t.TempDir(), "run")
	require.NoError(t, do(Env(counting), folder, false))
	want, failed, ops := Contents(t, folder, kept), 0, counting.Ops()
	require.NotEmpty(t, want)
	chosen := chooseFaults(ops)
	for k, at := range chosen {
		kind := []faults.Kind{faults.Fail, faults.Crash}[k%2]
		about := fmt.Sprintf("%s at %d, %s", kind, at+1, ops[at])
		folder, fsys := filepath.Join(t.TempDir(), "run"), faults.New(unsynced{}, at+1, kind)
		if err := do(Env(fsys), folder, false); err != nil {
			failed++
		} else {
			require.Equal(t, want, Contents(t, folder, kept), about)
		}
		require.True(t, fsys.Fired())
		require.NoError(t, do(Env(unsynced{}), folder, true), "after "+about)
		require.Equal(t, want, Contents(t, folder, kept), "after "+about)
	}
	require.Positive(t, failed)
	t.Logf("injected faults at %d writes: %d caused an error, the others left the same bytes", len(chosen), failed)
}

// chooseFaults returns the indices of the operations that get a fault.
func chooseFaults(ops []faults.Op) (places []int) {
	for at, op := range ops {
		if writes[op.Name] {
			places = append(places, at)
		}
	}
	if os.Getenv("GRAFT_LONG") == "" && len(places) > shortFaults {
		random.New(random.NewPCG(1, 2)).Shuffle(len(places),
			func(a, b int) { places[a], places[b] = places[b], places[a] })
		places = places[:shortFaults]
	}
	return places
}

// Contents returns the selected files of a folder. In their content, FOLDER replaces the folder's path.
func Contents(t *testing.T, folder string, kept func(string) bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		there, _ := filepath.Rel(folder, path)
		if err != nil || entry.IsDir() || !kept(there) {
			return err
		}
		text, err := os.ReadFile(path)
		all[there] = strings.ReplaceAll(string(text), folder, "FOLDER")
		return err
	}))
	return all
}

// unsynced skips syncs to disk: these tests end a process, not a machine.
type unsynced struct{ files.OS }

type unsyncedFile struct{ files.File }

func (unsyncedFile) Sync() error { return nil }

// SyncDir does nothing.
func (unsynced) SyncDir(string) error { return nil }

// Create creates a file whose Sync does nothing.
func (u unsynced) Create(path string) (files.File, error) { return unwaiting(u.OS.Create(path)) }

// Append opens a file whose Sync does nothing.
func (u unsynced) Append(path string) (files.File, error) { return unwaiting(u.OS.Append(path)) }

func unwaiting(f files.File, err error) (files.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}
