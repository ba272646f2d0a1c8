package train_test

import (
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/config"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/worktest"
	tensors "graft/torch/weights"
	"graft/trainer"
)

// smallest returns the options of a job of a few steps on the virtual clock, with an up and a down.
func smallest(folder string) train.Options {
	return train.Options{Folder: folder, Set: []string{"time.budget=150ms",
		`time.events=[{at = "50ms", change = "up"}, {at = "100ms", change = "down"}]`,
		"data.synthetic.size=16", "data.synthetic.train=40", "data.synthetic.test=10", "data.synthetic.classes=3",
		"train.batch=20", "run.threads=1",
		`adapt.decider="script"`, `adapt.actions=["deepen:conv1"]`}}
}

// A fault at any write ends the job with an error or changes nothing, and a second run ends with the same bytes.
func TestRunSurvivesFaults(t *testing.T) {
	digests := map[string]bool{}
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
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

// A job names the planned changes of its devices that it did not reach.
func TestMissedEventsAreLogged(t *testing.T) {
	for at, want := range map[string]int{"100ms": 0, "150ms": 1, "150ms stop_loss": 0} {
		at, stop, _ := strings.Cut(at, " ")
		core, logs := observer.New(zapcore.WarnLevel)
		env := worktest.Env(files.OS{})
		env.Log = zap.New(core)
		o := smallest(filepath.Join(t.TempDir(), "run"))
		o.Set = append(o.Set, `time.events=[{at = "50ms", change = "up"}, {at = "`+at+`", change = "down"}]`)
		if stop != "" {
			o.Set = append(o.Set, "time.stop_loss=1000")
		}
		_, err := train.Run(context.Background(), env, "", o)
		require.NoError(t, err)
		require.Equal(t, want, logs.FilterMessage("the job ended before a planned change of its devices").Len(), at)
	}
}

// A failed start leaves no run folder.
func TestFailedStartsLeaveNoFolder(t *testing.T) {
	other := filepath.Join(t.TempDir(), "none")
	weights := filepath.Join(t.TempDir(), "weights.safetensors")
	require.NoError(t, os.WriteFile(weights, []byte("{"), 0o600))
	for name, set := range map[string][]string{
		"a first step that diverges": {"optimizer.lr=1e30"},
		"a device that is not there": {"run.device=cuda:99"},
		"images that are not there":  {"data.kind=folder", "data.path=" + other},
		"weights that are damaged":   {"network.weights=" + weights},
		"a mean of other channels":   {"data.mean=[0.5, 0.5]"},
	} {
		for _, force := range []bool{false, true} {
			folder := filepath.Join(t.TempDir(), "run")
			o := smallest(folder)
			o.Set, o.Force = append(o.Set, set...), force
			_, err := train.Run(context.Background(), worktest.Env(files.OS{}), "", o)
			require.Error(t, err, name)
			require.NoDirExists(t, folder, name)
		}
	}
	folder := t.TempDir()
	o := smallest(folder)
	o.Set = append(o.Set, "optimizer.lr=1e30")
	_, err := train.Run(context.Background(), worktest.Env(files.OS{}), "", o)
	require.ErrorContains(t, err, "training diverged")
	require.DirExists(t, folder, "it was there before")
	_, err = train.Run(context.Background(), worktest.Env(files.OS{}), "", smallest(folder))
	require.NoError(t, err)
}

// Initial weights are checked against the network without loading images.
func TestCheckOfInitialWeights(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	o := smallest(folder)
	_, err := train.Run(context.Background(), worktest.Env(files.OS{}), "", o)
	require.NoError(t, err)
	check := func(set ...string) error {
		c, err := config.ReadJob(files.OS{}, "", append(o.Set, set...))
		require.NoError(t, err)
		return train.Check(t.Context(), worktest.Env(files.OS{}), c)
	}
	weights := "network.weights=" + filepath.Join(folder, "weights.safetensors")
	require.NoError(t, check())
	require.NoError(t, check(weights), "it shrank to its first network")
	set, err := runs.ReadWeights(files.OS{}, filepath.Join(folder, "weights.safetensors"))
	require.NoError(t, err)
	last := &set.Tensors[len(set.Tensors)-1]
	for bits, says := range map[uint32]string{0x7fc00001: "has 1 NaN and 0 infinite values",
		0xff800000: "has 0 NaN and 1 infinite values"} {
		last.Data = slices.Clone(last.Data)
		binary.LittleEndian.PutUint32(last.Data[4:], bits)
		spoilt := filepath.Join(t.TempDir(), "spoilt.safetensors")
		require.NoError(t, tensors.Write(files.OS{}, spoilt, set))
		require.ErrorContains(t, check("network.weights="+spoilt), spoilt+": tensor "+last.Name+" "+says)
		o := smallest(filepath.Join(t.TempDir(), "other"))
		o.Set = append(o.Set, "network.weights="+spoilt)
		_, err = train.Run(context.Background(), worktest.Env(files.OS{}), "", o)
		require.ErrorContains(t, err, "so training would diverge; use other weights")
	}
	err = check(weights, "data.synthetic.classes=4")
	require.ErrorContains(t, err, "fc.bias is [3] in the file and [4] in the network")
	require.ErrorContains(t, err, "network.toml in the same folder may be the right network; set network.file to it")
	require.ErrorContains(t, check("network.weights="+filepath.Join(folder, "none.safetensors")), "network.weights: ")
}

// removing is a file system on which a file vanishes at the first checkpoint.
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

// A job whose table is removed ends with an error that names the table, and keeps everything else.
func TestRunNoticesThatATableIsRemoved(t *testing.T) {
	for _, name := range []string{"epochs.csv", "events.jsonl"} {
		folder := filepath.Join(t.TempDir(), "run")
		path := filepath.Join(folder, name)
		_, err := train.Run(t.Context(), worktest.Env(removing{path: path, done: new(atomic.Bool)}), "",
			smallest(folder))
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, path+" was deleted while the job was running")
		require.NoFileExists(t, filepath.Join(folder, "outcome.json"))
		saved, err := trainer.SavedNetwork(files.OS{}, folder)
		require.NoError(t, err, "the checkpoint is whole")
		require.NotEmpty(t, saved.Name())
	}
}
