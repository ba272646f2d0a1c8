package train_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/results/runs"
	"graft/trainer"
	"graft/work"
	"graft/work/train"
	"graft/work/worktest"
)

// smallest are the options of a job of a few steps on the virtual clock, with an up and a down.
func smallest(folder string) train.Options {
	return train.Options{Folder: folder, Set: []string{"time.budget=150ms", `time.events=[{at = "50ms", change = "up"}, {at = "100ms", change = "down"}]`,
		"data.synthetic.size=16", "data.synthetic.train=40", "data.synthetic.test=10", "data.synthetic.classes=3", "train.batch=20", "run.threads=1",
		`adapt.decider="script"`, `adapt.actions=["deepen:conv1"]`}}
}

// A fault at any write ends the job with an error or changes nothing, and a second run ends
// in the same bytes.
func TestRunSurvivesFaults(t *testing.T) {
	digests := map[string]bool{}
	worktest.SurviveFaults(t, func(env *work.Env, folder string, again bool) error {
		o := smallest(folder)
		if again {
			_, missing := os.Stat(filepath.Join(folder, runs.ManifestFile))
			o.Resume = missing == nil
		}
		result, err := train.Run(context.Background(), env, "", o)
		if err == nil {
			digests[result.Outcome.Digest] = true
		}
		return err
	}, func(path string) bool { return path == "epochs.csv" || path == "events.jsonl" })
	require.Len(t, digests, 1)
}

// removing is a file system on which a file vanishes when the first checkpoint is written.
type removing struct {
	files.OS
	path string
	done *atomic.Bool
}

func (r removing) Create(path string) (files.File, error) {
	if strings.HasSuffix(filepath.Dir(path), "checkpoints") && r.done.CompareAndSwap(false, true) {
		if err := os.Remove(r.path); err != nil {
			return nil, err
		}
	}
	return r.OS.Create(path)
}

// A job whose table is removed ends with an error that names it, and keeps all else.
func TestRunNoticesThatATableIsRemoved(t *testing.T) {
	for _, name := range []string{"epochs.csv", "events.jsonl"} {
		folder := filepath.Join(t.TempDir(), "run")
		path := filepath.Join(folder, name)
		_, err := train.Run(t.Context(), worktest.Env(removing{path: path, done: new(atomic.Bool)}), "", smallest(folder))
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, path+" was removed while the job was running")
		require.NoFileExists(t, filepath.Join(folder, "outcome.json"))
		saved, err := trainer.SavedNetwork(files.OS{}, folder)
		require.NoError(t, err, "the checkpoint is whole")
		require.NotEmpty(t, saved.Name())
	}
}
