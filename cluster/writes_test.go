package cluster_test

import (
	"context"
	"encoding/csv"
	"io"
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

// inTurn starts jobs in order of arrival.
type inTurn struct{ waiting *cluster.Queue }

func (s inTurn) Arrived(j *cluster.Job) { s.waiting.Put(j) }

func (s inTurn) Ended(*cluster.Job) {}

func (s inTurn) Schedule(p *cluster.Pool) int64 {
	for j := s.waiting.First(); j != nil && p.Start(j); j = s.waiting.First() {
		s.waiting.Take()
	}
	return cluster.Never
}

// written returns an outcome whose names need quotes.
func written(t *testing.T) (*cluster.Outcome, *cluster.Study) {
	t.Helper()
	s := &cluster.Study{VCs: []trace.VC{{Name: "a, b", Nodes: 2}, {Name: `c"d`, Nodes: 1}}}
	for k, vc := range []string{`c"d`, "a, b", "a, b"} {
		s.Jobs = append(s.Jobs, trace.Job{ID: string(rune('x' + k)), VC: vc, GPUs: 1 + 11*k%16, Duration: 100,
			Submit: int64(k), Training: &trace.Training{Model: "m"}})
	}
	o, err := s.Run(context.Background(), cluster.Policy{Name: "turn",
		New: func(cluster.Setup) (cluster.Scheduler, error) { return inTurn{cluster.NewQueue()}, nil }},
		cluster.Options{Series: true})
	require.NoError(t, err)
	return o, s
}

// A fault at any operation never leaves a partial table.
func TestTablesAreWrittenWholeOrNotAtAll(t *testing.T) {
	_, s := written(t)
	for name, write := range map[string]func(fsys files.FS, path string) error{
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

// All rows of a table have the same number of cells, and names read back unchanged.
func TestTablesOfJobs(t *testing.T) {
	o, _ := written(t)
	table := func(write func(io.Writer) error) [][]string {
		var text strings.Builder
		require.NoError(t, write(&text))
		rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
		require.NoError(t, err)
		return rows
	}
	require.Equal(t, [][]string{
		{"job_id", "vc", "start_time", "end_time", "queue", "ckpt_times", "nodes"},
		{"y", "a, b", "1", "101", "0", "0", "[{0: [0, 1, 2, 3, 4, 5, 6, 7]}, {1: [0, 1, 2, 3]}]"},
		{"z", "a, b", "101", "201", "99", "0", "[{0: [0, 1, 2, 3, 4, 5, 6]}]"},
		{"x", `c"d`, "0", "100", "0", "0", "[{0: [0]}]"},
	}, table(o.WriteLucidJobs))
	rows := table(o.WriteJobs)
	require.Equal(t, []string{"job", "vc", "arrival [s]", "start [s]", "end [s]", "queue [s]", "jct [s]", "preemptions",
		"nodes"}, rows[0])
	require.Equal(t, []string{"z", "a, b", "2", "101", "201", "99", "199", "0",
		"[{0: [0, 1, 2, 3, 4, 5, 6]}]"}, rows[2])
}
