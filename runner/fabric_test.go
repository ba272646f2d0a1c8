package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/runner/fabric"
)

// traced holds the parts of a trace that the test reads.
type traced struct {
	Events []struct {
		Name  string  `json:"name"`
		Phase string  `json:"ph"`
		Begin float64 `json:"ts"`
		Long  float64 `json:"dur"`
		Pid   int     `json:"pid"`
		Tid   int     `json:"tid"`
	} `json:"traceEvents"`
}

// A graph is written from a network and reads back, and its step is simulated at several degrees. In the trace, the
// events of a thread do not overlap, each thread has a name, and the last event ends with the step.
func TestFabricGraphAndStep(t *testing.T) {
	dir := t.TempDir()
	file, trace := filepath.Join(dir, "graph.json"), filepath.Join(dir, "trace.json")
	g := decoded[fabric.GraphReport](t, done(t, "fabric", "graph", "ConvSmall", "--out", file, "--json").stdout)
	fails(t, failure.Usage, "already exists", "fabric", "graph", "ConvSmall", "--out", file)
	fails(t, failure.Usage, "are the same file", "fabric", "graph", file, "--out", file, "--force")
	done(t, "fabric", "graph", "ConvSmall", "--out", file, "--force")
	again := decoded[fabric.GraphReport](t, done(t, "fabric", "graph", file, "--json").stdout)
	again.File = g.File
	require.Equal(t, g, again)
	r := decoded[fabric.StepReport](t, done(t, "fabric", "step", file, "--degree", "1,2,64", "--bandwidth", "1e9",
		"--critical", "2", "--trace", trace, "--figure", filepath.Join(dir, "step.svg"), "--json").stdout)
	require.Len(t, r.Degrees, 3)
	require.InDelta(t, 1, r.Degrees[0].Speedup, 1e-9)
	require.NotEmpty(t, r.Degrees[2].Reason, "32 servers")
	require.Equal(t, 2, r.Degree)
	drawn, err := os.ReadFile(filepath.Join(dir, "step.svg"))
	require.NoError(t, err)
	for _, says := range []string{"server 0-0-0", "0-0-0 to ", "backward", "transfer"} {
		require.Contains(t, string(drawn), says)
	}
	fails(t, failure.Failed, "the job cannot run at any of the requested degrees: the cluster has only 32 servers; "+
		"request a lower degree, or set --shape to a larger cluster", "fabric", "step", file, "--degree", "64")
	require.NotContains(t, graft("fabric", "step", file, "--degree", "1,64").stdout, "nil")
	fails(t, failure.Usage, "degree 3: a job runs on one server or on an even number of servers", "fabric",
		"step", file,
		"--degree", "3")
	for flags, says := range map[string]string{
		"--profile none":                `--profile applies to networks, but ` + file + ` is a graph with its own`,
		"--batch 64":                    `--batch applies to networks`,
		"--size 64":                     `--size applies to networks`,
		"--uplink 1e9":                  "--uplink applies to racks of --network tree, but the network is ramp",
		"--quantum 0.1":                 "--quantum applies to --strategy tensor, but the strategy is data",
		"--bandwidth 0":                 "--bandwidth is 0; expected more than 0; omit it for the default 1.6e+12",
		"--latency 0":                   "--latency is 0",
		"--memory 0":                    "--memory is 0",
		"--quantum 0 --batch 0":         "--batch is 0",
		"--strategy tensor --quantum 0": "--quantum is 0",
	} {
		fails(t, failure.Usage, says, append([]string{"fabric", "step", file}, strings.Fields(flags)...)...)
	}
	fails(t, failure.Usage, "--batch applies to networks", "fabric", "graph", file, "--batch", "128")
	fails(t, failure.Usage, "degree 8: the servers share a batch of 4 examples; request a lower degree, or set --batch",
		"fabric", "step", "ConvSmall", "--batch", "4", "--degree", "2,8")
	few := decoded[fabric.StepReport](t, done(t, "fabric", "step", "ConvSmall", "--batch", "4", "--json").stdout)
	require.Len(t, few.Degrees, 3, "1, 2 and 4")
	fails(t, failure.Configuration, "CharGPT runs as a graph of operators", "fabric", "step", "CharGPT")
	fails(t, failure.Usage, "expected a file name that ends in .svg", "fabric", "step", file, "--figure",
		filepath.Join(dir, "step.gif"))
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	var events traced
	require.NoError(t, json.Unmarshal(text, &events))
	ends, named, last := map[[2]int]float64{}, map[[2]int]bool{}, 0.0
	for _, e := range events.Events {
		key := [2]int{e.Pid, e.Tid}
		if e.Phase == "M" {
			named[key] = true
			continue
		}
		require.Equal(t, "X", e.Phase)
		require.True(t, named[key])
		require.GreaterOrEqual(t, e.Begin, ends[key]-1e-6, e.Name)
		ends[key] = e.Begin + e.Long
		last = max(last, ends[key])
	}
	require.InEpsilon(t, 1e6*r.Degrees[1].Time, last, 1e-9)
	sum := 0.0
	for _, leg := range r.Critical {
		sum += leg.Length
	}
	require.InEpsilon(t, r.Degrees[1].Time, sum, 1e-6)
}
