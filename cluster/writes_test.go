package cluster_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/internal/files"
	"graft/internal/files/faults"
)

// inTurn starts jobs as they come.
type inTurn struct{ waiting *cluster.Queue }

func (s inTurn) Arrived(j *cluster.Job) { s.waiting.Put(j) }

func (s inTurn) Ended(*cluster.Job) {}

func (s inTurn) Schedule(p *cluster.Pool) int64 {
	for j := s.waiting.First(); j != nil && p.Start(j); j = s.waiting.First() {
		s.waiting.Take()
	}
	return cluster.Never
}

// written is an outcome whose names need quotes.
func written(t *testing.T) (*cluster.Outcome, *cluster.Study) {
	t.Helper()
	s := &cluster.Study{VCs: []trace.VC{{Name: "a, b", Nodes: 2}, {Name: `c"d`, Nodes: 1}}}
	for k, vc := range []string{`c"d`, "a, b", "a, b"} {
		s.Jobs = append(s.Jobs, trace.Job{ID: string(rune('x' + k)), VC: vc, GPUs: 1 + 11*k%16, Duration: 100,
			Submit: int64(k), Model: "m"})
	}
	o, err := s.Run(context.Background(), cluster.Policy{Name: "turn",
		New: func(cluster.Setup) (cluster.Scheduler, error) { return inTurn{cluster.NewQueue()}, nil }},
		cluster.Options{Series: true})
	require.NoError(t, err)
	return o, s
}

// What is written is there whole or not at all, whichever operation fails.
func TestTablesAreWrittenWholeOrNotAtAll(t *testing.T) {
	o, s := written(t)
	for name, write := range map[string]func(fsys files.FS, path string) error{
		"jobs":  o.WriteJobs,
		"usage": func(fsys files.FS, path string) error { return o.WriteUsage(fsys, path, 10) },
		"profiles": func(fsys files.FS, path string) error {
			return cluster.MakeProfiles(s.Jobs).Write(fsys, path, path+"2")
		},
	} {
		whole := filepath.Join(t.TempDir(), "whole.csv")
		require.NoError(t, write(files.OS{}, whole))
		want, err := os.ReadFile(whole)
		require.NoError(t, err)
		for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
			for at := 1; ; at++ {
				path := filepath.Join(t.TempDir(), "a.csv")
				broken := faults.New(files.OS{}, at, kind)
				err := write(broken, path)
				got, missing := os.ReadFile(path)
				if missing == nil {
					require.Equal(t, string(want), string(got), "%s: %s at %d: %v", name, kind, at, err)
				}
				if !broken.Fired() {
					require.NoError(t, err)
					require.Greater(t, at, 4)
					break
				}
				require.True(t, err != nil || missing == nil, "%s: %s at %d", name, kind, at)
			}
		}
	}
}

// Tables have as many cells in each row, and names come back as they were.
func TestTablesOfJobs(t *testing.T) {
	o, _ := written(t)
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, o.WriteJobs(files.OS{}, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"job_id", "vc", "start_time", "end_time", "queue", "ckpt_times", "nodes"},
		{"y", "a, b", "1", "101", "0", "0", "[{0: [0, 1, 2, 3, 4, 5, 6, 7]}, {1: [0, 1, 2, 3]}]"},
		{"z", "a, b", "101", "201", "99", "0", "[{0: [0, 1, 2, 3, 4, 5, 6]}]"},
		{"x", `c"d`, "0", "100", "0", "0", "[{0: [0]}]"},
	}, rows)
}

// What a killed attempt left does not stay beside the tables of the next one, and a second attempt
// writes the same bytes.
func TestWriteIsDoneAgain(t *testing.T) {
	o, _ := written(t)
	want := t.TempDir()
	require.NoError(t, o.Write(files.OS{}, want, 10))
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for at := 1; ; at++ {
			dir := filepath.Join(t.TempDir(), "fifo")
			broken := faults.New(files.OS{}, at, kind)
			_ = o.Write(broken, dir, 10)
			if !broken.Fired() {
				break
			}
			require.NoError(t, o.Write(files.OS{}, dir, 10), "%s at %d", kind, at)
			requireSameFiles(t, want, dir)
		}
	}
}

func requireSameFiles(t *testing.T, want, got string) {
	t.Helper()
	a, err := os.ReadDir(want)
	require.NoError(t, err)
	b, err := os.ReadDir(got)
	require.NoError(t, err)
	require.Len(t, b, len(a))
	for _, e := range a {
		x, err := os.ReadFile(filepath.Join(want, e.Name()))
		require.NoError(t, err)
		y, err := os.ReadFile(filepath.Join(got, e.Name()))
		require.NoError(t, err)
		require.Equal(t, string(x), string(y))
	}
}

// A table of usage without a bound is an error before anything is written.
func TestUsageIsBounded(t *testing.T) {
	o, _ := written(t)
	o.Pools[0].Last = 1 << 38
	path := filepath.Join(t.TempDir(), "usage.csv")
	require.ErrorContains(t, o.WriteUsage(files.OS{}, path, 1), "more than 100000000 rows")
	require.NoFileExists(t, path)
}
