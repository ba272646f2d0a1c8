package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/internal/files"
)

func TestSelectedJobs(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e", "f"}
	for n, want := range map[int][]string{1: {"d"}, 2: {"b", "e"}, 3: {"b", "d", "f"}, 6: ids, 9: ids} {
		require.Equal(t, want, Options{Count: n}.Select(ids), n)
	}
	require.Equal(t, []string{"b", "f"}, Options{Jobs: []string{"f", "b", "x"}}.Select(ids), "in order of submission")
	require.Empty(t, Options{Count: 3}.Select(nil))
}

// A job waits after 10 s, restarts with half of its devices and shares them later.
func TestTimelines(t *testing.T) {
	line := NewTimeline([]cluster.Change{{At: 100, What: "start", GPUs: 8}, {At: 110, What: "fail"},
		{At: 150, What: "start", GPUs: 4}, {At: 160, What: "pack", GPUs: 4, Shared: true}, {At: 200, What: "end"}})
	require.Equal(t, &Timeline{Budget: 60, First: 8, Waits: 1,
		Changes: []Change{{At: 10, Devices: 4}, {At: 20, Devices: 2}}}, line)
	line.Scale(6)
	require.Equal(t, []string{"time.devices=8",
		`time.events=[{at = "1s", change = "down", devices = 4}, {at = "2s", change = "down", devices = 2}]`},
		line.Assignments())
}

func TestTablesOfTimelines(t *testing.T) {
	folder := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, Table+".csv"), []byte(text), 0o600))
	}
	write("job,time [s],devices,waits\n007,0,4,1\n007,10,8,1\n007,30,0,1\nb,0,1,0\nb,5,0,0\n")
	list, err := ReadTable(files.OS{}, folder)
	require.NoError(t, err)
	require.Equal(t, []Named{{"007", Timeline{Budget: 30, First: 4, Waits: 1, Changes: []Change{{10, 8, true}}}},
		{"b", Timeline{Budget: 5, First: 1}}}, list)
	for text, says := range map[string]string{
		"job,time [s],devices,waits\na,x,1,0\n":   "timelines.csv:2: time is \"x\"",
		"job,time [s],devices,waits\na,0,1.5,0\n": "timelines.csv:2: devices is \"1.5\"",
		"job,time [s],devices,waits\na,0,1\n":     "wrong number of fields",
	} {
		write(text)
		_, err := ReadTable(files.OS{}, folder)
		require.ErrorContains(t, err, says)
	}
}

func TestSummariesOfLiveJobs(t *testing.T) {
	never := []float64{0.5, 0.6, 0.7}
	o := &Outcome{Jobs: []Job{{Scheduler: "fifo", Adaptive: 0.6}}}
	for k := range never {
		one := Job{Job: fmt.Sprint(k), Scheduler: "fair", Changes: k, Adaptive: never[k] + 0.1, Never: &never[k]}
		o.Jobs = append(o.Jobs, one)
	}
	o.Summarize()
	once := o.Summaries[1]
	for seed := range uint64(9) {
		for _, j := range o.Jobs[1:4] {
			j.Seed = 1 + seed
			o.Jobs = append(o.Jobs, j)
		}
	}
	o.Summarize()
	require.Equal(t, once.Adaptive.N, o.Summaries[1].Adaptive.N, "more simulations of the same jobs are no more jobs")
	require.InDelta(t, *once.Adaptive.Low, *o.Summaries[1].Adaptive.Low, 1e-9)
	require.Len(t, o.Summaries, 2)
	require.Nil(t, o.Summaries[0].Never, "without a decider")
	fair := o.Summaries[1]
	require.Equal(t, 1.0, fair.Changes)
	require.InDelta(t, 0.7, fair.Adaptive.Mean, 1e-12)
	require.InDelta(t, 10, fair.Difference.Mean, 1e-9)
	require.InDelta(t, 10, *fair.Difference.Low, 1e-6, "equal differences")
}
