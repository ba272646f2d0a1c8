package train_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
	"graft/runner/train"
	"graft/runner/worktest"
	"graft/torch"
)

// A resumed job keeps the digest of the weights from which it started, although the file is gone, and replaces the
// digests of files that it reads again. The manifest records that another LibTorch continued the run.
func TestManifestsOfResumedJobs(t *testing.T) {
	first, folder := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "run")
	_, err := train.Run(context.Background(), worktest.Env(files.OS{}), "", smallest(first))
	require.NoError(t, err)
	weights := filepath.Join(first, "weights.safetensors")
	given := "network.weights=" + weights
	stoppedAfterDecision(t, folder, given)
	library, err := torch.Describe()
	require.NoError(t, err)
	began, err := results.ReadManifest(files.OS{}, folder)
	require.NoError(t, err)
	require.Equal(t, library.Version, began.LibTorch)
	require.Len(t, began.InitialWeightsSHA256, 64)

	stored, err := results.Open(files.OS{}, folder)
	require.NoError(t, err)
	require.NoError(t, stored.Amend(func(m *results.Manifest) { m.LibTorch = "1.0" }))
	require.NoError(t, stored.Close())
	require.NoError(t, os.Remove(weights))
	_, err = train.Run(context.Background(), worktest.Env(files.OS{}), "",
		with(folder, true, append(slices.Clone(long), given)...))
	require.NoError(t, err)
	now, err := results.ReadManifest(files.OS{}, folder)
	require.NoError(t, err)
	require.NotEqual(t, began.ConfigSHA256, now.ConfigSHA256)
	require.Equal(t, began.InitialWeightsSHA256, now.InitialWeightsSHA256)
	require.Equal(t, began.FilesSHA256, now.FilesSHA256)
	require.Equal(t, "1.0", now.LibTorch)
	require.True(t, now.OtherLibTorch)
}
