package trainer_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/results"
	"graft/trainer"
)

// What was written down is read back as it was.
func TestFolderHistory(t *testing.T) {
	run, err := results.Create(files.OS{}, filepath.Join(t.TempDir(), "run"), results.CreateOptions{}, results.Manifest{})
	require.NoError(t, err)
	defer func() { require.NoError(t, run.Close()) }()
	folder, err := trainer.OpenFolder(run)
	require.NoError(t, err)
	rows, notes, err := trainer.ReadHistory(files.OS{}, run.Path(""))
	require.NoError(t, err)
	require.Empty(t, rows)
	require.Empty(t, notes)
	for k := range 3 {
		row := trainer.Row{Epoch: k, Time: time.Duration(k)*time.Hour + 123456789, Steps: int64(k) << 40, Loss: 1 / float64(k+3), Accuracy: 0.5,
			Validation: trainer.Score{Loss: 1e-9, Accuracy: 0.25}, Rate: 0.01, Parameters: 12345, Devices: k + 1}
		note := trainer.Note{Event: "decision", Time: row.Time, Epoch: k, Action: "deepen:conv1", Probabilities: []float64{0.1, 0.9}, Took: 5}
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
