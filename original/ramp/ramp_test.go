package ramp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/original/ramp"
)

// reference is the folder of recorded results.
const reference = "../../../shared/reference/ramp/"

// recorded reads a recorded result, or skips the test.
func recorded(t *testing.T, name string, file any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(reference + "golden/" + name))
	if os.IsNotExist(err) {
		t.Skipf("left out: %s is not there; put the recorded results beside the tree", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, file))
}

// profile reads a graph of a folder.
func profile(t testing.TB, folder, name string) *graph.Profile {
	t.Helper()
	path := filepath.FromSlash(reference + "graphs/" + folder + "/" + name)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	p, err := graph.ReadPipeDream(file, strings.TrimSuffix(name, ".txt"), path)
	require.NoError(t, err)
	return p
}

// summary is a recorded graph.
type summary struct {
	File     string  `json:"file"`
	Steps    float64 `json:"num_training_steps"`
	Nodes    int     `json:"num_nodes"`
	Edges    int     `json:"num_edges"`
	Sources  []int   `json:"source_nodes"`
	Time     float64 `json:"job_sequential_completion_time"`
	Memory   float64 `json:"job_total_op_memory_cost"`
	Transfer float64 `json:"job_total_dep_size"`

	MaxComputeNode int     `json:"max_compute_node"`
	MaxCompute     float64 `json:"max_compute_cost"`
	MaxMemoryNode  int     `json:"max_memory_node"`
	MaxMemory      float64 `json:"max_memory_cost"`
	MaxRateNode    int     `json:"max_throughput_node"`
	MaxRate        float64 `json:"max_node_throughput"`
	MaxDepthNode   int     `json:"max_depth_node"`
	MaxDepth       float64 `json:"max_depth"`
	MaxDepEnds     [3]int  `json:"max_dep_size_dep"`
	MaxDep         float64 `json:"max_dep_size"`

	NodeRows [][]any `json:"nodes"`
	EdgeRows [][]any `json:"edges"`
}

func TestGraphsAreThoseOfTheSimulator(t *testing.T) {
	var golden struct {
		Small map[string]summary `json:"small"`
		Toy   map[string]summary `json:"toy"`
		All   map[string]summary `json:"all_summary"`
	}
	recorded(t, "graphs.json", &golden)
	for folder, list := range map[string]map[string]summary{"small": golden.Small, "toy": golden.Toy,
		"all": golden.All} {
		for name, want := range list {
			t.Run(folder+"/"+name, func(t *testing.T) {
				requireGraph(t, &want, profile(t, folder, want.File).Mirror(fabric.Mirror(ramp.Quirks())))
			})
		}
	}
}

func requireGraph(t *testing.T, want *summary, g *graph.Graph) {
	t.Helper()
	d := g.Details()
	got := *want
	got.Nodes, got.Edges, got.Time, got.Memory, got.Transfer = len(g.Ops), len(g.Deps), d.Compute*want.Steps, d.Memory,
		d.Transfer
	got.MaxComputeNode, got.MaxCompute = g.Ops[d.MaxCompute.At].Node, d.MaxCompute.Value
	got.MaxMemoryNode, got.MaxMemory = g.Ops[d.MaxMemory.At].Node, d.MaxMemory.Value
	got.MaxRateNode, got.MaxRate = g.Ops[d.MaxRate.At].Node, d.MaxRate.Value
	got.MaxDepthNode, got.MaxDepth = g.Ops[d.MaxDepth.At].Node, d.MaxDepth.Value
	dep := g.Deps[d.MaxDep.At]
	got.MaxDepEnds, got.MaxDep = [3]int{g.Ops[dep.From].Node, g.Ops[dep.To].Node, 0}, d.MaxDep.Value
	got.Sources = nil
	for k := range g.Ops {
		if len(g.In[k]) == 0 {
			got.Sources = append(got.Sources, g.Ops[k].Node)
		}
	}
	if want.NodeRows != nil {
		got.NodeRows, got.EdgeRows = nil, nil
		for k := range g.Ops {
			op := &g.Ops[k]
			pass, twin := "f", g.Twin(op.Node)
			if g.Backward(op) {
				pass, twin = "b", op.Node
			}
			got.NodeRows = append(got.NodeRows, []any{float64(op.Node), op.Compute, op.Memory, pass, nil,
				(&graph.Op{Node: twin, Part: -1}).Name(), float64(d.Depth[k])})
		}
		for _, dep := range g.Deps {
			got.EdgeRows = append(got.EdgeRows, []any{float64(g.Ops[dep.From].Node), float64(g.Ops[dep.To].Node), 0.0,
				dep.Size})
		}
	}
	require.Equal(t, *want, got)
}
