package learn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	clusterstudy "graft/cluster/study"
	"graft/original/originaltest"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/worktest"
	"graft/simulation/learning"
	"graft/simulation/tables/tabletest"
)

// policyFiles selects the files of learning runs that do not depend on time.
func policyFiles(path string) bool {
	return strings.HasSuffix(path, ".safetensors") && filepath.Dir(path) != "learners" ||
		slices.Contains([]string{"learning.csv", "episodes.csv", runs.OutcomeFile, runs.PolicyFile}, path)
}

// learned returns a function that runs a file in a folder. With again, it resumes the run, or restarts it if that
// fails.
func learned(path string) func(*app.Env, string, bool) error {
	return func(env *app.Env, folder string, again bool) error {
		_, err := Run(context.Background(), env, path, Options{Folder: folder, Resume: again})
		if again && err != nil {
			_, err = Run(context.Background(), env, path, Options{Folder: folder, Force: true})
		}
		return err
	}
}

func TestStructuralPoliciesSurviveFaults(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, tabletest.Folder(filepath.Join(dir, "one"), "one", 1, 4, 1))
	path := filepath.Join(dir, "policy.toml")
	text := fmt.Sprintf("[tables]\nfolders = [%q]\n[run]\nseeds = 1\nevery = 2\ntensorboard = true\n[policy]\n"+
		"hidden = 4\n[learn]\nsteps = 2\n", filepath.Join(dir, "one"))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	worktest.SurviveFaults(t, learned(path), policyFiles)
}

func TestStudiesSurviveFaults(t *testing.T) {
	f, err := originaltest.Write(t.TempDir(), 1)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "policy.toml")
	text := fmt.Sprintf("[table]\nfile = %q\nvocabulary = %q\ncompat = \"original\"\n[run]\nevery = 2\n[learn]\n"+
		"episodes = 4\n[policy]\nhidden = 4\n", f.Table, f.Vocabulary)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	worktest.SurviveFaults(t, learned(path), policyFiles)
}

func TestSchedulersSurviveFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scheduler.toml")
	text := "[elastic]\nspeeds = \"analytic\"\nnodes = 2\n[workloads]\njobs = 3\nepochs = 500\ntrain_count = 1\n" +
		"validation_count = 1\ntest_count = 1\n[run]\nseeds = 1\n[learn]\nimitation_workloads = 2\nmethod = " +
		"\"none\"\nhidden = 4\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	worktest.SurviveFaults(t, learned(path), func(path string) bool {
		return policyFiles(path) || path == clusterstudy.LearnedFile
	})
}

// Without a bar, a log line every ten seconds states the progress of all seeds.
func TestSeedLogIsPaced(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	now := time.Unix(0, 0)
	l := newSeedLog(nil, zap.New(core), []uint64{4, 5}, 100)
	l.pace = app.NewProgressLimiter(func() time.Time { return now })
	l.Step(learning.Progress{Seed: 4, Step: 10, Aim: 1})
	require.Zero(t, lines.Len())
	now = now.Add(app.ProgressInterval)
	l.Step(learning.Progress{Seed: 5, Step: 30, Aim: 2, Why: "all is known"})
	l.Step(learning.Progress{Seed: 4, Step: 11, Aim: 1})
	require.Equal(t, 1, lines.Len())
	require.Equal(t, map[string]any{"done": int64(1), "of": int64(2), "steps": int64(40), "aim": 1.5,
		"regret_points": 0.0}, lines.All()[0].ContextMap())
	m := l.totals()
	require.InDelta(t, 0.555, m.part, 1e-9)
	require.Equal(t, "41 steps  objective 1.500  regret 0.000 points  1 learning", m.facts(100))
	require.Equal(t, "41 steps  objective 1.500", m.facts(29))
}
