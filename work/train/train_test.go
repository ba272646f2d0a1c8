package train_test

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/files"
	"graft/files/faults"
	"graft/trainer"
	"graft/work"
	"graft/work/train"
)

// unsynced is a file system that does not wait for the disk: the tests end no machine.
type unsynced struct{ files.OS }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) Create(path string) (files.File, error) { return unsyncedFile(u.OS.Create(path)) }
func (u unsynced) Append(path string) (files.File, error) { return unsyncedFile(u.OS.Append(path)) }

func unsyncedFile(f files.File, err error) (files.File, error) {
	if err != nil {
		return nil, err
	}
	return quick{f}, nil
}

type quick struct{ files.File }

func (quick) Sync() error { return nil }

func environment(fsys files.FS) *work.Env {
	return &work.Env{Files: fsys, Now: time.Now, Random: rand.Reader, Log: zap.NewNop()}
}

// smallest are the options of a job of a few steps on the virtual clock, with an up and a
// down.
func smallest(folder string) train.Options {
	return train.Options{Folder: folder, Set: []string{"time.budget=150ms", `time.events=[{at = "50ms", change = "up"}, {at = "100ms", change = "down"}]`,
		"data.synthetic.size=16", "data.synthetic.train=40", "data.synthetic.test=10", "data.synthetic.classes=3", "train.batch=20", "run.threads=1",
		`adapt.decider="script"`, `adapt.actions=["deepen:conv1"]`}}
}

// written returns the files of a run that must be equal to the bit.
func written(t *testing.T, folder string) (all string) {
	for _, name := range []string{"epochs.csv", "events.jsonl"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		all += string(text)
	}
	return all
}

// writes are the operations that change what is on the disk.
var writes = []string{"create", "append", "write", "sync", "close", "rename", "link", "remove", "mkdirall", "syncdir", "lock"}

// A fault at any write ends the job with an error or changes nothing, and a second run ends
// in the same bytes.
func TestRunSurvivesFaults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	counting := faults.New(unsynced{}, 0, faults.Fail)
	whole, err := train.Run(t.Context(), environment(counting), "", smallest(folder))
	require.NoError(t, err)
	want, tried := written(t, folder), 0
	for k, op := range counting.Ops() {
		if !slices.Contains(writes, op.Name) {
			continue
		}
		tried++
		for _, kind := range []faults.Kind{faults.Fail, faults.Crash} {
			folder := filepath.Join(t.TempDir(), "run")
			o, faulty := smallest(folder), faults.New(unsynced{}, k+1, kind)
			result, err := train.Run(t.Context(), environment(faulty), "", o)
			require.True(t, faulty.Fired())
			if err != nil {
				require.ErrorIs(t, err, faults.ErrInjected, "%v at %v", kind, op)
				_, missing := os.Stat(filepath.Join(folder, "manifest.json"))
				o.Resume = missing == nil
				result, err = train.Run(t.Context(), environment(unsynced{}), "", o)
				require.NoError(t, err, "after %v at %v", kind, op)
			}
			require.Equal(t, whole.Outcome.Digest, result.Outcome.Digest, "%v at %v", kind, op)
			require.Equal(t, want, written(t, folder), "%v at %v", kind, op)
		}
	}
	require.Greater(t, tried, 50)
}

// removing is a file system on which a file vanishes when the first checkpoint is written.
type removing struct {
	unsynced
	path string
	done *atomic.Bool
}

func (r removing) Create(path string) (files.File, error) {
	if strings.HasSuffix(filepath.Dir(path), "checkpoints") && r.done.CompareAndSwap(false, true) {
		if err := os.Remove(r.path); err != nil {
			return nil, err
		}
	}
	return r.unsynced.Create(path)
}

// A job whose table is removed ends with an error that names it, and keeps all else.
func TestRunNoticesThatATableIsRemoved(t *testing.T) {
	for _, name := range []string{"epochs.csv", "events.jsonl"} {
		folder := filepath.Join(t.TempDir(), "run")
		path := filepath.Join(folder, name)
		_, err := train.Run(t.Context(), environment(removing{path: path, done: new(atomic.Bool)}), "", smallest(folder))
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, path+" was removed while the job was running")
		require.NoFileExists(t, filepath.Join(folder, "outcome.json"))
		saved, err := trainer.SavedNetwork(files.OS{}, folder)
		require.NoError(t, err, "the checkpoint is whole")
		require.NotEmpty(t, saved.Name())
	}
}
