package evaluate

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/config"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/worktest"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
	"graft/simulation/tables/tabletest"
)

// madeTables writes two small synthetic tables, and a structural policy trained on them.
func madeTables(t *testing.T) (folders []string, policy string) {
	dir := t.TempDir()
	var trees []*simulation.Tree
	for k, name := range []string{"one", "two"} {
		folders = append(folders, filepath.Join(dir, name))
		require.NoError(t, tabletest.Folder(folders[k], name, 1, 4, uint64(k)))
		tree, err := config.ReadTree(files.OS{}, folders[k])
		require.NoError(t, err)
		trees = append(trees, tree)
	}
	o := learning.NewOptions()
	o.Hidden, o.Steps = 4, 2
	policies, err := learning.Learn(context.Background(), trees, nil, o, []uint64{1}, 1)
	require.NoError(t, err)
	policy = filepath.Join(dir, "mine.safetensors")
	require.NoError(t, policies[0].Write(files.OS{}, policy))
	return folders, policy
}

// keptFiles selects all files of an evaluation except its manifest, lock and bookkeeping.
func keptFiles(path string) bool {
	return strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, ".toml") || path == runs.OutcomeFile
}

// After a fault at any write, an evaluation leaves nothing that reads as complete, and a second one succeeds.
func TestEvaluationsSurviveFaults(t *testing.T) {
	folders, policy := madeTables(t)
	for name, o := range map[string]Options{
		"policies":    {Policies: []string{policy}, Tables: folders},
		"leaving out": {Tables: folders, Leave: LeaveOut{By: "scenario", Seeds: 1, Steps: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
				o := o
				o.Out, o.Force = folder, again
				_, err := Run(context.Background(), env, o)
				if r, open := runs.Open(env.Files, folder); err != nil && open == nil && r.Ended {
					_, read := runs.OutcomeOf[runs.EvaluationOutcome](r)
					require.NoError(t, read, "what has an outcome is whole")
				}
				return err
			}, keptFiles)
		})
	}
}

// An evaluation that is kept later writes the same files as Run.
func TestKeepingLater(t *testing.T) {
	folders, policy := madeTables(t)
	env, dir := worktest.Env(files.OS{}), t.TempDir()
	o := Options{Policies: []string{policy}, Tables: folders, Out: filepath.Join(dir, "now")}
	want, err := Run(context.Background(), env, o)
	require.NoError(t, err)
	o.Out = filepath.Join(dir, "later")
	e, err := Prepare(context.Background(), env, o)
	require.NoError(t, err)
	got, err := e.Judge(context.Background())
	require.NoError(t, err)
	require.NoDirExists(t, o.Out)
	require.NoError(t, e.Keep(got))
	require.Equal(t, want, got)
	one, err := runs.DigestOf(files.OS{}, filepath.Join(dir, "now", runs.OutcomeFile))
	require.NoError(t, err)
	two, err := runs.DigestOf(files.OS{}, filepath.Join(o.Out, runs.OutcomeFile))
	require.NoError(t, err)
	require.Equal(t, one, two)
	m, err := results.ReadManifest(files.OS{}, o.Out)
	require.NoError(t, err)
	require.Equal(t, []string{"ConvNet2", "cpu", "node", "v0.1.0"}, []string{m.Network, m.Device, m.Host, m.Graft})
}

func TestProgressOfLeavingOut(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	env := worktest.Env(nil)
	env.Log = zap.New(core)
	p := &progress{env: env, pace: app.NewProgressLimiter(env.Now)}
	for _, group := range []string{"early", "early", "late"} {
		p.note(evaluation.LeaveOutProgress{Group: group, Of: 2, Policies: 3, OfThem: 6})
	}
	require.Equal(t, 2, lines.Len(), "one for each group")
	s := p.scene()
	done, all := s.Done()
	require.Equal(t, []int64{3, 6}, []int64{done, all})
	require.Equal(t, []string{"3 of 6 policies", "left out: late", ""}, []string{s.Text(), s.Details(40), s.Details(5)})
}
