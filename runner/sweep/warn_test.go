package sweep_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/internal/files"
	"graft/runner/sweep"
	"graft/runner/worktest"
)

// A sweep of batch sizes warns before it runs if its profile charges nothing for larger batches.
func TestSweepsOfFreeBatchesWarn(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	env := worktest.Env(files.OS{})
	env.Log = zap.New(core)
	o := smallest(filepath.Join(t.TempDir(), "run"))
	o.Sweep = []string{"train.batch=10,20"}
	_, err := sweep.Run(context.Background(), env, "", o)
	require.ErrorContains(t, err, `train.batch is swept, but option "set" sets it too; remove one of them`)
	o.Set = slices.DeleteFunc(o.Set, func(set string) bool { return strings.HasPrefix(set, "train.batch=") })
	_, err = sweep.Run(context.Background(), env, "", o)
	require.NoError(t, err)
	require.Equal(t, 1, logs.Filter(func(e observer.LoggedEntry) bool {
		return e.Message == "the profile steady charges nothing for larger batches, "+
			"so an epoch with a batch of 20 takes less time than one with 10; set time.profile = \"round-gpu\", "+
			"or measure a profile with 'graft profile'"
	}).Len())
}
