package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/report/runs"
	"graft/report/serve"
	"graft/results"
)

// progressed writes the progress of a run that started from zero a minute before.
func progressed(t testing.TB, dir string, done, of float64, unit string, at time.Time, values ...float64) {
	t.Helper()
	p := results.Progress{Done: done, Of: of, Unit: unit, Since: at.Add(-time.Minute), At: at, Metric: "jct_mean",
		MetricUnit: "s", Values: values}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, results.ProgressFile), text, 0o600))
}

// runList requests the list of runs as JSON, and returns it and its runs by path.
func (v *visitor) runList() (serve.RunList, map[string]serve.RunItem) {
	v.t.Helper()
	w := v.ask(http.MethodGet, "/runs.json")
	require.Equal(v.t, http.StatusOK, w.Code, w.Body)
	require.Equal(v.t, "application/json", w.Header().Get("Content-Type"))
	list, by := decoded[serve.RunList](v.t, w.Body.String()), map[string]serve.RunItem{}
	for _, r := range list.Runs {
		by[r.Run] = r
	}
	return list, by
}

// Each kind of run shows its progress and its main metric, both while it runs and after its end.
func TestListShowsProgressOfAllKinds(t *testing.T) {
	all := writeAll(t)
	v := visitors(t, filepath.Dir(all["job"]))
	progressed(t, all["cluster-open"], 3, 12, "cells", v.clock.now(), 120, 90.5)
	progressed(t, all["node-open"], 1, 2, "cells", v.clock.now(), 30)
	progressed(t, all["policies-open"], 30, 40, "steps", v.clock.now())
	progressed(t, all["elastic-learning-open"], 5, 20, "steps", v.clock.now())
	progressed(t, all["evaluation-open"], 5, 20, "policies", v.clock.now(), 2, 1)
	_, by := v.runList()
	for name, want := range map[string]struct {
		kind   string
		state  serve.State
		share  float64 // negative means unknown
		of     string
		metric string
		last   float64
	}{
		"job":                   {"job", serve.Done, 1, "60 s", "validation_accuracy share", 0.75},
		"open":                  {"job", serve.Running, 1, "60 s", "validation_accuracy share", 0.5},
		"policies":              {"policies", serve.Done, 1, "1 ", "regret points", 0.5},
		"policies-open":         {"policies", serve.Running, 0.75, "40 steps", "regret points", 0.5},
		"policy":                {"policy", serve.Done, 1, "300 episodes", "expected_accuracy share", 0.6},
		"policy-open":           {"policy", serve.Running, -1, "", "expected_accuracy share", 0.6},
		"simulation":            {"simulation", serve.Done, 1, "16 sequences", "best_accuracy share", 0.738},
		"table":                 {"table", serve.Done, 1, "1 ", "best_accuracy share", 0.734},
		"original":              {"original", serve.Unknown, -1, "", "test_accuracy share", 0.5625},
		"evaluation":            {"evaluation", serve.Done, 1, "2 tables", "regret points", 0},
		"evaluation-open":       {"evaluation", serve.Running, 0.25, "20 policies", "jct_mean s", 1},
		"cluster":               {"rigid", serve.Done, 1, "", "jct_mean s", 0},
		"cluster-open":          {"rigid", serve.Running, 0.25, "12 cells", "jct_mean s", 90.5},
		"adaptive":              {"adaptive", serve.Done, 1, "", "jct_mean s", 0},
		"node":                  {"node", serve.Done, 1, "", "", 0},
		"node-open":             {"node", serve.Running, 0.5, "2 cells", "jct_mean s", 30},
		"node-profile":          {"node-profile", serve.Done, 1, "2 measurements", "speed ", 0.8},
		"pipeline":              {"pipeline", serve.Done, 1, "3 stages", "regret points", 0.5},
		"pipeline-open":         {"pipeline", serve.Running, 1. / 3, "3 stages", "", 0},
		"comparison":            {"sweep", serve.Done, 1, "12 trials", "test_accuracy share", 0},
		"comparison-open":       {"sweep", serve.Running, 4. / 12, "12 trials", "validation_accuracy share", 0.75},
		"elastic-learning":      {"elastic-learning", serve.Done, 1, "1 ", "validation_jct slots", 0},
		"elastic-learning-open": {"elastic-learning", serve.Running, 0.25, "20 steps", "validation_jct slots", 0},
		"elastic-comparison":    {"elastic-comparison", serve.Done, 1, "", "jct slots", 0},
	} {
		r, listed := by[name]
		require.True(t, listed, name)
		require.Equal(t, want.kind, r.Kind, name)
		require.Equal(t, want.state, r.State, name)
		if want.share < 0 {
			require.Nil(t, r.ProgressShare, name)
		} else {
			require.NotNil(t, r.ProgressShare, name)
			require.InDelta(t, want.share, *r.ProgressShare, 1e-9, name)
		}
		if want.of != "" {
			require.Equal(t, want.of, fmt.Sprintf("%g %s", *r.Of, r.ProgressUnit), name)
		}
		if want.metric == "" {
			continue
		}
		require.Equal(t, want.metric, r.Trend.Metric+" "+r.Trend.Unit, name)
		require.NotEmpty(t, r.Trend.Values, name)
		if want.last != 0 {
			require.InDelta(t, want.last, r.Trend.Values[len(r.Trend.Values)-1], 1e-3, name)
		}
	}
	require.InDelta(t, 180, *by["cluster-open"].LeftSeconds, 1, "nine cells, of which three took a minute")
	for name := range all {
		require.Contains(t, by, name)
	}
}

// Runs inside other runs follow them in the list, and can be opened and compared.
func TestListNestsRuns(t *testing.T) {
	all := writeAll(t)
	v := visitors(t, filepath.Dir(all["job"]))
	list, by := v.runList()
	inside := map[string]int{}
	for k, r := range list.Runs {
		if r.Parent == "" {
			continue
		}
		inside[r.Parent]++
		require.Contains(t, []string{r.Parent, list.Runs[k-1].Parent}, by[r.Parent].Run)
		require.True(t, strings.HasPrefix(r.Run, r.Parent+"/"), r.Run)
		require.Contains(t, v.get(serve.AddressOf(r.Run)), "</h1>")
	}
	require.Equal(t, map[string]int{"adaptive": 4, "cluster": 2, "node": 9, // single simulations
		"comparison": 11, "comparison-open": 4, "pipeline": 3, "pipeline-open": 1}, inside)
	page := v.get("/")
	require.Contains(t, page, `<tr data-key="comparison-open" data-inside="4">`)
	require.Contains(t, page, `data-in="comparison-open" class="inside"`)
}

// Damaged and half-written files remove a run's bar or its line, but never break the list.
func TestListOfDamagedProgress(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "torn": `{"done":1,"of":2,"un`, "text": `{"done":"one"}`,
		"a list": `[]`, "null": `null`, "negative": `{"done":-1,"of":-5}`, "huge": `{"done":1e308,"of":1e-308}`,
		"a fraction of nothing": `{"done":1,"of":0}`, "markup": `{"done":1,"of":2,"unit":"<b>","failed":"<script>"}`,
		"a wild trend": `{"done":1,"of":2,"metric":"x","values":[1e308,-1e308,0]}`} {
		all := writeAll(t)
		dir := filepath.Dir(all["job"])
		for _, folder := range all {
			require.NoError(t, os.WriteFile(filepath.Join(folder, results.ProgressFile), []byte(text), 0o600), name)
		}
		v := visitors(t, dir)
		page := v.get("/")
		require.NotContains(t, page, "<b>", name)
		list, by := v.runList()
		require.Empty(t, list.LeftOut, name)
		require.Equal(t, serve.Done, by["job"].State, name)
		require.Equal(t, 1.0, *by["job"].ProgressShare, name)
	}
	dir := t.TempDir() // tables and plans that are damaged while they grow
	writeSweep(t, filepath.Join(dir, "sweep"), true)
	write(t, filepath.Join(dir, "sweep", runs.SweepFile), `{"cases":[`)
	writeJob(t, filepath.Join(dir, "job"), writtenJob{seed: 1, epochs: 4, accuracy: 0.5})
	write(t, filepath.Join(dir, "job", "epochs.csv"), "epoch,time [s]\n1,")
	writePolicies(t, filepath.Join(dir, "policies"), true)
	write(t, filepath.Join(dir, "policies", runs.LearningFile), "seed,step\n1,\"x\"\n")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "job", results.ProgressFile), 0o700))
	v := visitors(t, dir)
	v.get("/")
	_, by := v.runList()
	require.Empty(t, by["job"].Trend.Values)
	require.Empty(t, by["policies"].Trend.Values)
	require.Contains(t, by, "sweep/trials/as-configured/seed-1", "the trials are there, whatever the plan")
}

// A killed run does not stay listed as running, and its bar keeps its position. A failed run is listed as failed at
// once.
func TestListOfKilledAndFailedRuns(t *testing.T) {
	dir := t.TempDir()
	v := visitors(t, dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"killed", "failed", "held"} {
		writeJob(t, at(name), writtenJob{seed: 1, epochs: 3, accuracy: 0.5, open: true})
		progressed(t, at(name), 15, 60, "s", v.clock.now())
	}
	run, err := results.Open(files.OS{}, at("held"))
	require.NoError(t, err)
	defer run.Close()
	results.NewTracker(files.OS{}, at("failed"), v.clock.now, "s").StopOrEnd(false, fmt.Errorf("no memory"))
	_, by := v.runList()
	require.Equal(t, []serve.State{serve.Running, serve.Failed, serve.Running}, []serve.State{by["killed"].State,
		by["failed"].State, by["held"].State})
	require.Equal(t, "no memory", by["failed"].Failed)
	require.Contains(t, v.get("/"), "3 min")
	again, err := results.Open(files.OS{}, at("failed"))
	require.NoError(t, err)
	v.clock.pass(time.Second)
	_, by = v.runList()
	require.Equal(t, serve.Running, by["failed"].State, "it runs again, although it has done nothing yet")
	require.NoError(t, again.Close())
	v.clock.pass(time.Minute)
	_, by = v.runList()
	require.Equal(t, serve.Stopped, by["killed"].State, "no process holds its lock")
	require.Nil(t, by["killed"].LeftSeconds)
	require.InDelta(t, 0.25, *by["killed"].ProgressShare, 1e-9)
	require.Equal(t, serve.Running, by["held"].State)
	require.NotNil(t, by["held"].LeftSeconds)
	page := v.get("/")
	row := page[strings.Index(page, `<tr data-key="killed"`):]
	row = row[:strings.Index(row, "</tr>")]
	require.Contains(t, row, `<td class="down">stopped</td>`)
	require.Contains(t, row, `class="bar "`)
	require.Contains(t, row, "25 % of 60 s")
	require.NotContains(t, row, "running")
}

// A sweep is running while one of its trials runs, although nothing writes into the sweep's own folder.
func TestListOfSweepFollowsItsTrials(t *testing.T) {
	dir := t.TempDir()
	writeSweep(t, filepath.Join(dir, "sweep"), true)
	v := visitors(t, dir)
	v.clock.pass(time.Hour)
	_, by := v.runList()
	require.Equal(t, serve.Stopped, by["sweep"].State)
	trial := filepath.Join(dir, "sweep", runs.TrialsFolder, "never", "seed-9")
	w := writes(t, trial)
	defer w.end()
	progressed(t, trial, 30, 60, "s", v.clock.now())
	v.clock.pass(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(trial, results.ProgressFile), time.Time{}, v.clock.now()))
	v.clock.pass(serve.EndedFactor * time.Second)
	_, by = v.runList()
	require.Equal(t, serve.Running, by["sweep/trials/never/seed-9"].State)
	require.Equal(t, serve.Running, by["sweep"].State)
}
