package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	elasticworld "graft/cluster/elastic/world"
	"graft/internal/files"
)

// Elastic jobs can train applications. The speed of a job then follows from the application's step times.
func TestElasticJobsTrainApplications(t *testing.T) {
	dir := filepath.Join(adaptiveCopy(t), "applications")
	jobs := written(t, "jobs.json",
		`{"jobs": [{"id": 1, "type": 2, "arrv_time": 0, "num_epochs": 4, "real_num_epochs": 4}]}`)
	read := func(set ...string) (*elasticworld.File, error) {
		return readAs[*elasticworld.File](KindNamed("elastic"), Open(files.OS{}, ""),
			append([]string{"workload.traces=[" + Quote(jobs) + "]", "elastic.speeds=" + Quote(dir),
				"elastic.max_workers=8"}, set...))
	}
	e := must(read())
	s := e.Studies()[0]
	require.True(t, s.Options.AllReduce)
	require.Equal(t, []string{"language", "speech", "vision"},
		[]string{s.Types[0].Name, s.Types[1].Name, s.Types[2].Name})
	vision := s.Speed.(elastic.Steps)["vision"]
	require.Equal(t, 64, vision.Device)
	step, _, err := vision.Times.Step([]int{2, 1}, 64)
	require.NoError(t, err)
	epochs := s.Speed.Epochs(elastic.Deployment{Model: &s.Types[2], Workers: []int{1, 1, 2}}, 1000)
	require.InEpsilon(t, 3*1000/step/400, epochs, 1e-12, "an epoch of vision is 400 steps of 64")
	require.Positive(t, s.Speed.Epochs(elastic.Deployment{Model: &s.Types[1], Workers: []int{1}}, 1000))

	_, err = read(`elastic.types="types.json"`)
	require.ErrorContains(t, err, "remove types")
	_, err = read("elastic.max_workers=30")
	require.ErrorContains(t, err, "step times were measured for at most 20")
	path := filepath.Join(dir, "traces", "vision", "placements.csv")
	text := must(os.ReadFile(path))
	require.NoError(t, os.WriteFile(path, append(text, "9,512,1.5,0.1\n"...), 0o600))
	require.NotEqual(t, Digest(e), Digest(must(read())), "results depend on the files of the applications")
	require.NoError(t, os.WriteFile(path, append(text, "9,512,0,0.1\n"...), 0o600))
	_, err = read()
	require.ErrorContains(t, err, "more than 0 seconds")
}

// adaptiveCopy returns a folder with a copy of the adaptive example, which a test may change.
func adaptiveCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../scenarios/adaptive")))
	return dir
}
