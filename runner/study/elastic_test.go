package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	simulator "graft/cluster/study"
	"graft/config"
	"graft/internal/files"
	"graft/runner/study/studytest"
)

// elasticSet returns a small study of elastic jobs: two workloads, three schedulers, and an ablation.
func elasticSet(t *testing.T) []string {
	dir := t.TempDir()
	var traces []string
	for name, epochs := range map[string]string{"a": "40", "b": "25"} {
		path := filepath.Join(dir, name+".json")
		text := `{"overrides": {"LARGE_SCALE": false, "CLUSTER_NUM_NODES": 3, "MAX_NUM_WORKERS": 4}, "jobs": [
			{"id": 1, "type": 1, "arrv_time": 0, "num_epochs": ` + epochs + `, "real_num_epochs": ` + epochs + `},
			{"id": 2, "type": 6, "arrv_time": 1, "num_epochs": 20, "real_num_epochs": 20}]}`
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		traces = append(traces, path)
	}
	if traces[0] > traces[1] {
		traces[0], traces[1] = traces[1], traces[0]
	}
	return []string{"workload.traces=" + config.QuoteList(traces), `elastic.speeds="analytic"`,
		`schedule.schedulers=["drf", "optimus", "fifo"]`, "schedule.ablate=true"}
}

func TestElasticRunsSurviveFaults(t *testing.T) {
	studytest.Survives(t, "elastic", "", elasticSet(t)...)
}

func TestElasticRunsResume(t *testing.T) { studytest.Resumes(t, 20, "elastic", "", elasticSet(t)...) }

// Errors of speeds are drawn with each seed of the file.
func TestElasticSeedsDrawSpeedErrors(t *testing.T) {
	read := func(set ...string) simulator.Study {
		set = append(elasticSet(t), set...)
		f, err := config.ReadNamed[simulator.File]("elastic", config.Open(files.OS{}, ""), set)
		require.NoError(t, err)
		return f.Study()
	}
	require.Nil(t, read("schedule.seeds=3").Plan().Schedulers[0].Seeds, "speeds without errors")
	require.Nil(t, read("elastic.speed_error=0.4").Plan().Schedulers[0].Seeds)
	s := read("elastic.speed_error=0.4", "schedule.seeds=3", "schedule.seed=7")
	require.Equal(t, []uint64{7, 8, 9}, s.Plan().Schedulers[0].Seeds)
	means := map[simulator.Number]bool{}
	for run := range 3 {
		r, err := s.Simulate(t.Context(), &simulator.Cell{Run: run, Seed: uint64(7 + run)})
		require.NoError(t, err)
		means[r.Values["jct_mean_slots"]] = true
	}
	require.Len(t, means, 3)
}

// Traces with slots of different lengths are refused, because times are in slots. Jobs of a cluster trace that request
// more GPUs than a job may have workers are named.
func TestElasticTracesOfOtherSizes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	var traces []string
	for name, slot := range map[string]string{"a.json": "600", "b.json": "1200"} {
		traces = append(traces, write(name, `{"overrides": {"TS_DURATION": `+slot+`}, "jobs": [
			{"id": 1, "type": 1, "arrv_time": 0, "num_epochs": 5, "real_num_epochs": 5}]}`))
	}
	read := func(set ...string) (simulator.File, error) {
		return config.ReadNamed[simulator.File]("elastic", config.Open(files.OS{}, ""),
			append(set, `elastic.speeds="analytic"`))
	}
	both := "workload.traces=" + config.QuoteList(traces)
	_, err := read(both)
	require.ErrorContains(t, err, "but times are in slots")
	_, err = read(both, "elastic.slot_seconds=600.0")
	require.NoError(t, err)
	f, err := read("workload.traces=" + config.QuoteList([]string{write("jobs.csv",
		"id,submit [s],duration [s],gpus\n1,0,3600,64\n2,0,3600,16\n")}))
	require.NoError(t, err)
	require.Contains(t, strings.Join(f.Study().Plan().Remarks, "\n"), "1 job requested more than 16 GPUs "+
		"(elastic.max_workers); each counts as a job of 16 GPUs with the same duration.")
}

// The parameters that a trace sets belong to the inputs of a study, so that a resumed study does not keep cells with
// other parameters.
func TestElasticDigestsCoverTheParametersOfTraces(t *testing.T) {
	path, digests := filepath.Join(t.TempDir(), "jobs.json"), map[string]bool{}
	for _, overrides := range []string{`{}`, `{"CLUSTER_NUM_NODES": 3}`, `{"TS_DURATION": 300}`} {
		require.NoError(t, os.WriteFile(path, []byte(`{"overrides": `+overrides+`, "jobs": [
			{"id": 1, "type": 1, "arrv_time": 0, "num_epochs": 5, "real_num_epochs": 5}]}`), 0o600))
		f, err := config.ReadNamed[simulator.File]("elastic", config.Open(files.OS{}, ""),
			[]string{"workload.traces=" + config.QuoteList([]string{path}), `elastic.speeds="analytic"`})
		require.NoError(t, err)
		digests[config.Digest(f)] = true
		if overrides == "{}" {
			var contents strings.Builder
			f.Contents(&contents)
			require.NotContains(t, contents.String(), "1200", "the default length of a slot")
		}
	}
	require.Len(t, digests, 3)
}
