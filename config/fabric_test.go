package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/files"
)

// chainOfSteps is a graph of two operations.
const chainOfSteps = `{"model": "chain", "operations": [
  {"id": 1, "kind": "Linear", "forward_ms": 2, "backward_ms": 4, "activation_bytes": 4e6, "parameter_bytes": 1e6},
  {"id": 2, "kind": "Linear", "forward_ms": 1, "backward_ms": 2, "activation_bytes": 4e4, "parameter_bytes": 1e4}],
  "edges": [[1, 2]]}`

func readFabric(t *testing.T, text string, set ...string) (study.File, error) {
	t.Helper()
	return ReadNamed[study.File]("fabric", Open(files.OS{}, written(t, "cluster.toml", text)), set)
}

func TestFabricScenario(t *testing.T) {
	f, err := ReadNamed[study.File]("fabric", Open(files.OS{}, "../scenarios/fabric/mixed.toml"), nil)
	require.NoError(t, err)
	summary, err := f.Summary()
	require.NoError(t, err)
	require.Contains(t, summary, "5 episodes with 200 jobs each, of 5 networks, on ramp with 32 servers, under "+
		"best-constant, never, ")
}

// Keys of the demand without an effect are warnings, so that a command can turn off a key on which others depend.
func TestWarningsOfFabricFiles(t *testing.T) {
	base := "[fabric]\n[graphs]\nmodels = ['" + written(t, "chain.json", chainOfSteps) + "']\n"
	for assignment, want := range map[string]string{
		"demand.skewness=5":                         "demand.skewness has no effect: demand.limits is uniform.",
		"demand.values=[0.5]":                       "demand.values has no effect: demand.limits is uniform.",
		"demand.shares=[1]":                         "demand.shares has no effect: demand.limits is uniform.",
		"demand.limits=fixed\ndemand.min_limit=0.2": "demand.min_limit has no effect: demand.limits is fixed.",
		"demand.period=10":                          "demand.period has no effect: demand.swing is 0.",
		"demand.load=2\ndemand.arrival_interval=5s": "demand.load has no effect: demand.arrival_interval is set.",
		"demand.swing=0.5\ndemand.period=10":        "",
	} {
		f, err := readFabric(t, base, strings.Fields(assignment)...)
		require.NoError(t, err, assignment)
		warnings := strings.Join(f.(interface{ Warnings() []string }).Warnings(), "\n")
		require.Equal(t, want, warnings)
		if want != "" {
			require.Contains(t, f.Study().Plan().Remarks, "Warning: "+want)
		}
	}
}

// Reading a fabric file reports the faults that would stop a run.
func TestFaultsOfFabricFiles(t *testing.T) {
	graph := written(t, "chain.json", chainOfSteps)
	idle := written(t, "idle.json",
		strings.NewReplacer(`"forward_ms": 2, "backward_ms": 4`, `"forward_ms": 0, "backward_ms": 0`,
			`"forward_ms": 1, "backward_ms": 2`, `"forward_ms": 0, "backward_ms": 0`).Replace(chainOfSteps))
	cyclic := written(t, "cyclic.json", strings.Replace(chainOfSteps, "[[1, 2]]", "[[1, 2], [2, 1]]", 1))
	missing := written(t, "missing.json", strings.Replace(chainOfSteps, "[[1, 2]]", "[[1, 7]]", 1))
	negative := written(t, "negative.json", strings.Replace(chainOfSteps, `"forward_ms": 2`, `"forward_ms": -2`, 1))
	base := "[fabric]\n[graphs]\nmodels = ['" + graph + "']\n"
	for _, set := range []string{"", "fabric.network=tree\nfabric.uplink=1e9",
		"graphs.models=['ConvSmall']\ngraphs.batch=128",
		"fabric.strategy=tensor\nfabric.quantum_ms=0.1", "fabric.strategy=tensor\nfabric.max_degree=1",
		"fabric.network=tree\nfabric.channels=2\nvary.networks=['tree','ramp']",
		"graphs.models=['ConvSmall']\nfabric.strategy=pipeline\ngraphs.batch=8"} {
		_, err := readFabric(t, base, strings.Fields(set)...)
		require.NoError(t, err, set)
	}
	for assignment, want := range map[string]string{
		"graphs.models=['" + idle + "']":              "all operations of the graph take zero time",
		"graphs.models=['" + cyclic + "']":            "cycle",
		"graphs.models=['" + missing + "']":           "edges[0] connects 1 and 7",
		"graphs.models=['" + negative + "']":          "forward time is -2",
		"graphs.models=['none.json']":                 "none.json",
		"graphs.models=['NoNetwork']":                 "NoNetwork",
		"graphs.sizes=[32,32]":                        "sizes has 2 values, but models has 1",
		"graphs.weights=[0]":                          "weights",
		"graphs.weights=[1,2]":                        "weights has 2 values for 1 models",
		"graphs.batch=-1":                             "batch is -1",
		"fabric.bandwidth=-1":                         "bandwidth",
		"fabric.latency_seconds=-1":                   "latency",
		"fabric.size=[4,4]":                           "expected 3 numbers",
		"fabric.size=[2,4,2]":                         "racks",
		"fabric.size=[0,0,0]":                         "the number of groups is 0; expected 1",
		"fabric.network=ring":                         "ring",
		"fabric.memory_bytes=10":                      "does not fit on the servers at any degree",
		"fabric.speed=-1":                             "speed",
		"fabric.max_degree=5000":                      "max_degree is 5000",
		"fabric.max_degree=3":                         "max_degree is 3, but degrees are 1 or even; use 2 or 4",
		"vary.max_degrees=[2,5]":                      "max_degrees[1] is 5, but degrees are 1 or even",
		"fabric.uplink=1e9":                           "fabric.uplink is not used if fabric.network is ramp; remove it",
		"fabric.quantum_ms=0.1":                       "fabric.quantum_ms is not used if fabric.strategy is data",
		"fabric.network=tree\nfabric.io_seconds=1":    "fabric.io_seconds is not used if fabric.network is tree",
		"fabric.network=tree\nfabric.channels=2":      "fabric.channels is not used if fabric.network is tree",
		"graphs.batch=128":                            "graphs.batch is not used if all models are graphs",
		"graphs.profile=none":                         "graphs.profile is not used if all models are graphs",
		"graphs.sizes=[32]":                           "sizes[0] is not used, because",
		"graphs.models=['ConvSmall']\ngraphs.batch=8": "batch is 8, but up to 16 servers share a batch",
		"graphs.models=['CharGPT']":                   "CharGPT runs as a graph of operators",
		"fabric.quirks=['odd']":                       "odd",
		"demand.jobs=-1":                              "jobs is -1",
		"demand.jobs=2000000":                         "at most 1000000",
		"demand.load=-1":                              "load is -1",
		"demand.swing=1":                              "swing is 1",
		"demand.limits=odd":                           "odd",
		"demand.limits=values":                        "expected at least one",
		"demand.min_limit=0.9\ndemand.max_limit=0.5":  "min_limit is 0.9 and max_limit is 0.5",
		"schedule.schedulers=['odd']":                 "unknown decider \"odd\"",
		"schedule.schedulers=['constant-3']":          "constant-3",
		"schedule.schedulers=['most','most']":         "duplicate most",
		"schedule.against=odd":                        "expected one of the schedulers",
		"schedule.workers=-1":                         "workers is -1",
		"vary.loads=[1,-1]":                           "loads[1] is -1",
		"vary.bandwidths=[0]":                         "bandwidths[0] is 0",
		"vary.max_degrees=[9000]":                     "max_degree is 9000",
		"vary.skewness=[5000]\ndemand.limits=skewed":  "skewness is 5000",
		"vary.skewness=[5]":                           `demand.limits is "uniform"`,
		"vary.loads=[1]\ndemand.arrival_interval=5s":  "vary.loads and demand.arrival_interval are mutually exclusive",
		"run.seeds=-1":                                "seeds is -1",
		"vary.networks=['ring']":                      "ring",
		"vary.networks=['tree 4by8']":                 "invalid size \"4by8\"",
		"vary.networks=['tree 4x8x2']":                "expected 2 numbers",
		"vary.loads=[1,2,1]":                          "loads[2]: duplicate 1",
		"degree.deciders=['most']":                    "degree.deciders was renamed to schedule.schedulers",
		"schedule.schedulers=['exact']\nschedule.ablate=true\ndemand.jobs=3": "put another scheduler first",
	} {
		_, err := readFabric(t, base, strings.Split(assignment, "\n")...)
		assert.ErrorContains(t, err, want, assignment)
	}
}

// Preparing a study refuses a search that is too large. Graphs are looked up next to the file, and a network file can
// serve as a graph.
func TestFabricFilesArePrepared(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"chain.json": chainOfSteps,
		"small.toml": "input = [8]\n[[layers]]\nlayer = \"Linear(8, 4)\"\n",
		"cluster.toml": "[fabric]\n[graphs]\nmodels = ['chain.json', 'small.toml']\n[schedule]\n" +
			"schedulers = ['exact']\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	read := func(jobs string) study.File {
		f, err := ReadNamed[study.File]("fabric", Open(files.OS{}, filepath.Join(dir, "cluster.toml")),
			[]string{"demand.test_count=1", "demand.jobs=" + jobs})
		require.NoError(t, err)
		return f
	}
	require.NoError(t, read("3").Study().Prepare(t.Context(), study.Env{}, true))
	require.NotEqual(t, Digest(read("3")), Digest(read("4")))
	err := read("300").Study().Prepare(t.Context(), study.Env{}, true)
	require.ErrorContains(t, err, "exact, episode-1: the exact search is too large: more than 100000 states; use "+
		"fewer jobs or degrees (demand.jobs is 300)")
	require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err))
}
