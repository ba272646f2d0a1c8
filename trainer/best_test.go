package trainer_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
	"graft/trainer"
)

// KeepBest keeps the best network by validation in addition to the last one, which it does not change.
func TestBestIsKept(t *testing.T) {
	o, book := plan(), &memory{}
	// such a rate makes the accuracy go up and down
	o.Schedule.Rule, o.Optimizer = trainer.Constant, torch.OptimizerOptions{Rule: torch.Adam, LR: 0.1}
	plain := run(t, o, nil, "deepen:conv1", "widen:conv2:12")
	o.KeepBest = true
	outcome := run(t, o, book, "deepen:conv1", "widen:conv2:12")
	require.Nil(t, plain.Best)
	require.Equal(t, plain.Digest, outcome.Digest)
	most, at := -1.0, 0
	for _, r := range book.rows {
		if r.Validation.Accuracy > most {
			most, at = r.Validation.Accuracy, r.Epoch
		}
	}
	require.InDelta(t, most, outcome.Best.Validation.Accuracy, 0)
	require.Equal(t, at, outcome.Best.Epoch)
	require.NotEqual(t, book.rows[len(book.rows)-1].Epoch, at, "the last is not the best here")
	require.NotEqual(t, outcome.Test, outcome.Best.Test)
	saved := sections(book.saves[len(book.saves)-1])
	require.NotEqual(t, saved["weights"], saved["best.weights"])
}

// A folder's last checkpoint holds both networks.
func TestBestOfAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, _, err := trainer.SavedResult(files.OS{}, path, trainer.AtBest)
	require.NoError(t, err, "without a checkpoint there is none")
	_, _, err = runProcess(t, files.OS{}, path, -1)
	require.NoError(t, err)
	for _, which := range []trainer.Which{trainer.AtEnd, trainer.AtBest} {
		n, set, err := trainer.SavedResult(files.OS{}, path, which)
		require.NoError(t, err)
		require.NoError(t, n.Fits(set), which)
	}
}
