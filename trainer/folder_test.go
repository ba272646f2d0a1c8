package trainer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/results"
	"graft/trainer"
)

// A history is read as it was recorded.
func TestFolderHistory(t *testing.T) {
	run, err := results.Create(files.OS{}, filepath.Join(t.TempDir(), "run"), results.CreateOptions{},
		results.Manifest{})
	require.NoError(t, err)
	defer func() { require.NoError(t, run.Close()) }()
	folder, err := trainer.OpenFolder(run, false)
	require.NoError(t, err)
	rows, notes, err := trainer.ReadHistory(files.OS{}, run.Path(""))
	require.NoError(t, err)
	require.Empty(t, rows)
	require.Empty(t, notes)
	for k := range 3 {
		row := trainer.Row{Epoch: k, Time: time.Duration(k)*time.Hour + 123456789, Steps: int64(k) << 40,
			Loss: 1 / float64(k+3), Accuracy: 0.5, Validation: trainer.Score{Loss: 1e-9, Accuracy: 0.25},
			Rate: 0.01, Parameters: 12345, Devices: k + 1, Images: int64(k) << 33, FLOP: 1e22 / float64(k+3),
			DeviceTime: time.Duration(k) * 3 * time.Hour}
		note := trainer.Note{Event: "decision", Time: row.Time, Epoch: k, Action: "deepen:conv1",
			Probabilities: []float64{0.1, 0.9}, Took: 5}
		require.NoError(t, folder.Epoch(row))
		require.NoError(t, folder.Note(note))
		rows, notes = append(rows, row), append(notes, note)
	}
	gotRows, gotNotes, err := trainer.ReadHistory(files.OS{}, run.Path(""))
	require.NoError(t, err)
	require.Equal(t, rows, gotRows)
	require.Equal(t, notes, gotNotes)
	for n := range 5 {
		last, err := trainer.ReadLastRows(files.OS{}, run.Path(""), n)
		require.NoError(t, err)
		require.Equal(t, append([]trainer.Row{}, rows[max(0, 3-n):]...), last)
	}
}

// SavedNetwork reads the network of the newest sound checkpoint, without its tensors and without opening the run.
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
		require.NoError(t, run.SaveCheckpoint("job",
			func(w *results.CheckpointWriter) error { return w.Bytes("network.json", form) }))
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
