package adaptive

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// small holds the files of a folder with one application.
var small = map[string]string{
	"app/placements.csv": "placement,local_bsz,step_time,sync_time\n1,8,0.1,0.001\n1,16,0.18,0.001\n2,8,0.12,0.02\n" +
		"2,16,0.2,0.02\n11,8,0.15,0.05\n11,16,0.23,0.05\n",
	"app/validation-8.csv":  "progress,iteration,metric,grad_sqr,grad_var\n100,100,1,2,8\n200,200,2,1,16\n",
	"app/validation-64.csv": "progress,iteration,metric,grad_sqr,grad_var\n101,20,1,2,8\n201,35,2,1,16\n",
	"jobs.csv":              "name,time,application,num_replicas,batch_size\nb,20,app,2,16\na,10,app,1,8\n",
}

// folder writes small with some files replaced; nil omits a file.
func folder(t testing.TB, changes map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]any{}
	for name, text := range small {
		all[name] = text
	}
	for name, text := range changes {
		all[name] = text
	}
	for name, text := range all {
		if text != nil {
			path := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text.(string)), 0o644))
		}
	}
	return dir
}

func load(dir string) ([]Spec, error) {
	apps, err := ReadApplications(files.OS{}, dir, nil)
	if err != nil {
		return nil, err
	}
	return ReadWorkload(files.OS{}, filepath.Join(dir, "jobs.csv"), apps)
}

func TestFoldersAreRead(t *testing.T) {
	jobs, err := load(folder(t, nil))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, []string{jobs[0].Name, jobs[1].Name}, "sorted by time")
	app := jobs[0].App
	require.Equal(t, 2, app.Epochs)
	require.InDelta(t, 200.0, app.Progress(2), 0, "the least of all runs")
	step, sync, err := app.times.Step([]int{1, 1}, 12)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.19, 0.05}, []float64{step, sync}, 1e-12, "between two rows")
	step, _, err = app.times.Step([]int{3}, 12)
	require.NoError(t, err, "what was not measured is fitted")
	require.Greater(t, step, 0.13)
	require.Less(t, step, 0.2)
}

// zipped compresses a text.
func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestFaultyFoldersAreRefused(t *testing.T) {
	cases := map[string]struct {
		changes map[string]any
		want    string
	}{
		"no application": {map[string]any{"app/placements.csv": nil}, "0 folders that contain placements.csv"},
		"no runs": {map[string]any{"app/validation-8.csv": nil, "app/validation-64.csv": nil},
			"0 files named validation-BATCH.csv"},
		"no number of a batch": {map[string]any{"app/validation-x.csv": "progress\n"}, "expected validation-BATCH.csv"},
		"an empty run": {map[string]any{"app/validation-8.csv": "progress,iteration,metric,grad_sqr,grad_var\n"},
			"the file has no rows"},
		"a missing column": {map[string]any{"app/validation-8.csv": "progress,iteration\n1,1\n"},
			`column "grad_sqr" is missing`},
		"progress that falls": {map[string]any{"app/validation-8.csv": "progress,iteration,grad_sqr,grad_var\n" +
			"9,9,1,1\n8,10,1,1\n"}, "at least 9, the value in the previous row"},
		"no number": {map[string]any{"app/validation-8.csv": "progress,iteration,grad_sqr,grad_var\nNaN,9,1,1\n"},
			"expected a number"},
		"a placement of nothing": {map[string]any{"app/placements.csv": "placement,local_bsz,step_time,sync_time\n" +
			"0,8,0.1,0\n"}, "one to eight digits from 1 to 9"},
		"sync above step": {map[string]any{"app/placements.csv": "placement,local_bsz,step_time,sync_time\n" +
			"1,8,0.1,0.2\n"}, "expected at least 0 and less than step_time, in seconds"},
		"facts of no folder": {map[string]any{"applications.csv": "application,epochs,device_most,alone\n" +
			"other,1,0,0\n"}, "application other has no folder"},
		"too many epochs": {map[string]any{"applications.csv": "application,epochs,device_most,alone\napp,3,0,0\n"},
			"the run with batch size 8 has 2 epochs; expected at least 3"},
		"alone out of limits": {map[string]any{"applications.csv": "application,epochs,device_most,alone\n" +
			"app,0,0,65\n"}, `column "alone" is 65`},
		"a size of no class": {map[string]any{"applications.csv": "application,epochs,device_most,alone,size\n" +
			"app,0,0,0,huge\n"}, "one of small, medium"},
		"tables of garbage": {map[string]any{"steptime_tables.json.gz": "garbage"}, "steptime_tables.json.gz"},
		"tables with bad keys": {map[string]any{"steptime_tables.json.gz": zipped(`{"app": {"interpolated": {"5": ` +
			`{"b": [1], "step": [1], "sync": [0]}}}}`)}, "malformed"},
		"a mesh without points": {map[string]any{"triangulations.json.gz": zipped(`{"app": {"points": [], "step": ` +
			`[], "sync": [], "simplices": [[0,1,2,3]]}}`)}, "a tetrahedron of the mesh refers to point 0"},
		"an unknown application": {map[string]any{"jobs.csv": "name,time,application,num_replicas,batch_size\n" +
			"a,1,x,1,8\n"}, "one of the applications: app"},
		"a workload's column": {map[string]any{"jobs.csv": "name,time\na,1\n"}, "is missing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := load(folder(t, c.changes))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestFaultyStudiesAreRefused(t *testing.T) {
	jobs, err := load(folder(t, nil))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(s *Study)
		want   string
	}{
		"no jobs":          {func(s *Study) { s.Jobs = nil }, "0 jobs"},
		"a name twice":     {func(s *Study) { s.Jobs[1].Name = "a" }, "duplicate name"},
		"too many devices": {func(s *Study) { s.Jobs[0].Devices = 99 }, "expected 1 to 64"},
		"a large batch":    {func(s *Study) { s.Jobs[0].Batch = 65 }, "app supports 8 to 64"},
		"an interval":      {func(s *Study) { s.Options.Interval = -1 }, "interval is -1"},
		"interference":     {func(s *Study) { s.Options.Interference = 1 }, "interference is 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Study{Jobs: append([]Spec(nil), jobs...)}
			c.change(&s)
			_, err := NewWorld(s, Kinds()[0])
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzFolder(f *testing.F) {
	f.Add(small["app/placements.csv"], small["app/validation-8.csv"], small["jobs.csv"],
		`{"app": {"interpolated": {"5,5": {"b": [8], "step": [1], "sync": [0]}}}}`)
	f.Fuzz(func(t *testing.T, placements, run, jobs, tables string) {
		if strings.ContainsRune(placements+run+jobs, 0) {
			return
		}
		specs, err := load(folder(t, map[string]any{"app/placements.csv": placements, "app/validation-8.csv": run,
			"jobs.csv": jobs, "steptime_tables.json.gz": zipped(tables)}))
		if err == nil && len(specs) > 0 {
			_, _ = NewWorld(Study{Jobs: specs}, Kinds()[0])
		}
	})
}
