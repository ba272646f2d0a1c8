package trainer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/model"
	"graft/results"
	"graft/trainer"
)

// The network of the newest whole checkpoint is read without its tensors, and without
// the run being opened.
func TestSavedNetwork(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	fsys := files.ReadOnly{FS: files.OS{}}
	_, err := trainer.SavedNetwork(fsys, dir)
	require.NoError(t, err, "no folder has no network")
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{}, results.Manifest{})
	require.NoError(t, err)
	n, err := trainer.SavedNetwork(fsys, dir)
	require.NoError(t, err)
	require.Nil(t, n)
	for _, name := range []string{"ConvSmall", "ConvNet2"} {
		zoo, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		form, err := json.Marshal(zoo.Form().Plain())
		require.NoError(t, err)
		require.NoError(t, run.SaveCheckpoint("job", func(w *results.CheckpointWriter) error { return w.Bytes("network.json", form) }))
		n, err := trainer.SavedNetwork(fsys, dir) // while the run is open
		require.NoError(t, err)
		require.Equal(t, zoo.String(), n.String())
	}
	require.NoError(t, run.Close())
	paths, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*.ckpt"))
	require.NoError(t, err)
	require.Len(t, paths, 2)
	require.NoError(t, os.Truncate(paths[1], 30))
	n, err = trainer.SavedNetwork(fsys, dir)
	require.NoError(t, err)
	require.Equal(t, "ConvSmall", n.Name(), "the one before the damaged one")
}
