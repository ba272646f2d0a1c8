package trace_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/internal/files"
	"graft/internal/files/faults"
)

func TestNodesAreWrittenAndReadBack(t *testing.T) {
	vcs := []trace.VC{{Name: "red", Nodes: 9}, {Name: "a, \"b\"", Nodes: 1}, {Name: "blue", Nodes: 20}}
	path := filepath.Join(t.TempDir(), "nodes.csv")
	require.NoError(t, trace.WriteNodes(files.OS{}, path, vcs))
	require.Equal(t, vcs, must(trace.ReadNodes(files.OS{}, path)), "in the same order")
	text := must(os.ReadFile(path))
	require.Equal(t, ",num\nred,9\n\"a, \"\"b\"\"\",1\nblue,20\n", string(text))
}

func TestFaultsInNodes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"", `nodes.csv: the file is empty; begin the file with the line ",num"`},
		"another header": {"name,size\na,1\n", `nodes.csv:1: unknown header; expected a list of virtual clusters`},
		"no clusters":    {",num\n", `nodes.csv:1: the file has no virtual clusters`},
		"no number":      {",num\nred,x\n", `nodes.csv:2:5: num is "x": expected a whole number of nodes from 1`},
		"no nodes":       {",num\nred,0\n", `nodes.csv:2:5: num is "0": expected`},
		"no name":        {",num\n,1\n", `nodes.csv:2:1: name is empty`},
		"twice": {",num\nred,1\nblue,1\nred,2\n",
			`nodes.csv:4:1: "red" is already in line 2; remove one of the two lines with this name`},
		"three fields": {",num\nred,1,2\n", `the line has 3 fields, expected 2`},
		"no type": {",num,type\nred,1,a100\nred,1,\n",
			`nodes.csv:3:7: type is empty: expected the name of a type`},
		"a type twice": {",num,type\nred,1,a100\nred,1,v100\nred,1,A100\n",
			`nodes.csv:4:1: "red" is already in line 2`},
		"no size": {",num,type,gpus_per_node\nred,1,a100,65\n",
			`nodes.csv:2:12: gpus_per_node is "65": expected a whole number from 1 to 64`},
		"five columns": {",num,type,gpus_per_node,x\n", `unknown header; expected a list of virtual clusters`},
		"two fields":   {",num,type\nred,1\n", `the line has 2 fields, expected 3`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trace.ReadNodes(files.OS{}, write(t, "nodes.csv", c.text))
			require.ErrorContains(t, err, c.want)
			require.ErrorIs(t, err, trace.ErrMalformed)
		})
	}
	_, err := trace.ReadNodes(files.OS{}, filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestNodesWithTypes(t *testing.T) {
	vcs, err := trace.ReadNodes(files.OS{}, write(t, "nodes.csv", "partition,num,type\nlong,4,A100\nshort,1,a100\n"+
		"long,2,V100\n"))
	require.NoError(t, err)
	require.Equal(t, []trace.VC{
		{Name: "long", Nodes: 6, Types: []trace.TypeOf{{Name: "A100", Nodes: 4}, {Name: "V100", Nodes: 2}}},
		{Name: "short", Nodes: 1, Types: []trace.TypeOf{{Name: "a100", Nodes: 1}}},
	}, vcs)
	require.Equal(t, 48, vcs[0].GPUs(8))

	vcs, err = trace.ReadNodes(files.OS{}, write(t, "nodes.csv", ",num,type,gpus_per_node\nlong,4,A100,8\n"+
		"long,2,V100,4\n"))
	require.NoError(t, err)
	require.Equal(t, 4, vcs[0].Types[1].GPUs)
	require.Equal(t, 40, vcs[0].GPUs(1))
}

// Summaries of rows in any order give the same times as reading all rows.
func TestDescribedTimesDoNotDependOnTheOrder(t *testing.T) {
	const head = "JobID|User|Partition|Submit|Start|End|State|AllocTRES\n"
	row := func(id, day string) string {
		return id + "|u|p|2025-01-" + day + "T01:00:00|2025-01-" + day + "T02:00:00|2025-01-" + day +
			"T03:00:00|COMPLETED|gres/gpu=1\n"
	}
	for _, text := range []string{row("1", "02") + row("2", "05"), row("2", "05") + row("1", "02")} {
		r, err := trace.Open(files.OS{}, write(t, "jobs.txt", head+text), trace.Options{})
		require.NoError(t, err)
		s, err := trace.Summarize(r, trace.SummaryOptions{})
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.EqualValues(t, 3600, s.FirstSubmit)
		require.EqualValues(t, 3*86_400+3600, s.LastSubmit)
		require.Equal(t, time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC), *s.Start)
		for _, f := range s.Findings {
			require.NotEqual(t, trace.NegativeSubmit, f.Kind)
		}
	}
}

// After any fault, the file is the old one or the new one.
func TestNodesAreWrittenWholeOrNotAtAll(t *testing.T) {
	before, after := []trace.VC{{Name: "old", Nodes: 1}}, []trace.VC{{Name: "new", Nodes: 2}}
	for at := 1; ; at++ {
		path := filepath.Join(t.TempDir(), "nodes.csv")
		require.NoError(t, trace.WriteNodes(files.OS{}, path, before))
		broken := faults.New(files.OS{}, at, faults.DiskFull)
		err := trace.WriteNodes(broken, path, after)
		read, readErr := trace.ReadNodes(files.OS{}, path)
		require.NoError(t, readErr)
		if !broken.Fired() {
			require.NoError(t, err)
			require.Equal(t, after, read)
			require.Greater(t, at, 3, "there were faults")
			return
		}
		if err != nil {
			require.Contains(t, [][]trace.VC{before, after}, read)
		} else {
			require.Equal(t, after, read)
		}
	}
}
