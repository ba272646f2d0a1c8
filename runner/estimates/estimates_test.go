package estimates_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/estimates"
	"graft/runner/traces"
	"graft/runner/worktest"
)

// fewWeeks writes a trace of 15 days and returns its path.
func fewWeeks(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.csv")
	o := traces.GenerateOptions{GenerateOptions: trace.GenerateOptions{Jobs: 120, Days: 15, Nodes: 2, Users: 2}}
	_, err := traces.Generate(worktest.Env(files.OS{}), path, o)
	require.NoError(t, err)
	return path
}

// smallest holds options of models that train almost instantly.
var smallest = estimate.Options{Rounds: 1, Bags: 1, Bins: 4, PairBins: 2, LeastRows: 5}

// whole reports whether a file is not the leftover of a killed write.
func whole(path string) bool { return !files.IsLeftover(filepath.Base(path)) }

func TestDurationsSurviveFaults(t *testing.T) {
	path := fewWeeks(t)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		if err := env.Files.MkdirAll(folder); err != nil {
			return err
		}
		at := func(name string) string { return filepath.Join(folder, name) }
		o := estimates.Options{Trace: path, Model: smallest, Out: at("estimates.csv"), Force: again}
		r, err := estimates.Durations(context.Background(), env,
			estimates.DurationOptions{Options: o, Saved: at("model.json")})
		require.True(t, err != nil || r.Learned > 0 && r.Model != "")
		return err
	}, whole)
}

func TestForecastsSurviveFaults(t *testing.T) {
	path := fewWeeks(t)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		o := estimates.Options{Trace: path, Model: smallest, Out: filepath.Join(folder, "forecast.csv"), Force: again}
		r, err := estimates.Forecast(context.Background(), env,
			estimates.ForecastOptions{Options: o, Models: folder, From: time.Date(2020, 9, 9, 0, 0, 0, 0, time.UTC)})
		require.True(t, err != nil || r.Learned > 0 && len(r.Models) == 2)
		return err
	}, whole)
}

func TestShapesSurviveFaults(t *testing.T) {
	table := new(estimate.Table)
	table.AddNumbers("devices", []float64{1, 2, 4, 1, 2, 4, 1, 2})
	table.AddTexts("user", []string{"ada", "bob", "bob", "ada", "bob", "ada", "bob", "ada"})
	table.SetTarget([]float64{1, 9, 8, 2, 7, 5, 6, 3})
	model, err := estimate.Fit(t.Context(), table, estimate.Options{Rounds: 1, Bags: 1, LeastRows: 1})
	require.NoError(t, err)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, _ bool) error {
		_, err := estimates.Draw(context.Background(), env, model, estimates.DrawOptions{Folder: folder, Unit: "s"})
		return err
	}, whole)
}

// Without output paths, nothing is written and the report is returned.
func TestNothingIsWrittenUnasked(t *testing.T) {
	path := fewWeeks(t)
	env := worktest.Env(files.ReadOnly{FS: files.OS{}})
	r, err := estimates.Durations(t.Context(), env,
		estimates.DurationOptions{Options: estimates.Options{Trace: path, Model: smallest}})
	require.NoError(t, err)
	require.Equal(t, 120, r.Jobs)
	require.Positive(t, r.Scores.Rows)
	require.Len(t, r.Windows, 2)
}

// A file that is not a model is reported as damaged, a missing file is not.
func TestShapesOfNoModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	_, err := estimates.Shapes(files.OS{}, path, "")
	require.Equal(t, failure.Failed, failure.CodeOf(t.Context(), err))
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = estimates.Shapes(files.OS{}, path, "")
	require.Equal(t, failure.Damaged, failure.CodeOf(t.Context(), err))
}
