package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/internal/files"
)

// chainOfSteps is a graph of two operations; %s has further keys of the first.
const chainOfSteps = `{"model": "chain", "operations": [
  {"id": 1, "kind": "Linear", "forward_ms": 2, "backward_ms": 4, "activation_bytes": 4e6, "parameter_bytes": 1e6},
  {"id": 2, "kind": "Linear", "forward_ms": 1, "backward_ms": 2, "activation_bytes": 4e4, "parameter_bytes": 1e4}],
  "edges": [[1, 2]]}`

func readFabric(t *testing.T, text string, set ...string) (*Fabric, error) {
	t.Helper()
	return ReadFabric(files.OS{}, written(t, "cluster.toml", text), set)
}

func TestFabricScenario(t *testing.T) {
	f, err := ReadFabric(files.OS{}, "../scenarios/fabric/mixed.toml", nil)
	require.NoError(t, err)
	summary, err := f.Summary()
	require.NoError(t, err)
	require.Contains(t, summary, "5 episodes of 200 jobs of 5 networks on ramp of 32 servers under "+
		"best-constant, never, ")
	require.Len(t, f.Points(), 1)
	require.Empty(t, f.Points()[0].Name())
}

// What a run would die of is seen before it.
func TestFaultsOfFabricFiles(t *testing.T) {
	graph := written(t, "chain.json", chainOfSteps)
	idle := written(t, "idle.json",
		strings.NewReplacer(`"forward_ms": 2, "backward_ms": 4`, `"forward_ms": 0, "backward_ms": 0`,
			`"forward_ms": 1, "backward_ms": 2`, `"forward_ms": 0, "backward_ms": 0`).Replace(chainOfSteps))
	cyclic := written(t, "cyclic.json", strings.Replace(chainOfSteps, "[[1, 2]]", "[[1, 2], [2, 1]]", 1))
	missing := written(t, "missing.json", strings.Replace(chainOfSteps, "[[1, 2]]", "[[1, 7]]", 1))
	negative := written(t, "negative.json", strings.Replace(chainOfSteps, `"forward_ms": 2`, `"forward_ms": -2`, 1))
	base := "[fabric]\n[graphs]\nmodels = ['" + graph + "']\n"
	_, err := readFabric(t, base)
	require.NoError(t, err)
	for assignment, want := range map[string]string{
		"graphs.models=['" + idle + "']":             "no operation takes time",
		"graphs.models=['" + cyclic + "']":           "cycle",
		"graphs.models=['" + missing + "']":          "joins 1 and 7",
		"graphs.models=['" + negative + "']":         "forward time -2",
		"graphs.models=['none.json']":                "none.json",
		"graphs.models=['NoNetwork']":                "NoNetwork",
		"graphs.sizes=[32,32]":                       "sizes has 2 values and models 1",
		"graphs.weights=[0]":                         "weights",
		"graphs.weights=[1,2]":                       "2 weights of 1 models",
		"graphs.batch=-1":                            "batch is -1",
		"fabric.bandwidth=-1":                        "bandwidth",
		"fabric.latency_seconds=-1":                  "latency",
		"fabric.size=[4,4]":                          "expected 3 numbers",
		"fabric.size=[2,4,2]":                        "racks",
		"fabric.size=[0,0,0]":                        "groups 0: expected 1",
		"fabric.network=ring":                        "ring",
		"fabric.memory_bytes=10":                     "fits on no servers at any degree",
		"fabric.speed=-1":                            "speed",
		"fabric.max_degree=5000":                     "largest degree 5000",
		"fabric.quirks=['odd']":                      "odd",
		"demand.jobs=-1":                             "jobs -1",
		"demand.jobs=2000000":                        "at most 1000000",
		"demand.load=-1":                             "load -1",
		"demand.swing=1":                             "swing 1",
		"demand.limits=odd":                          "odd",
		"demand.limits=values":                       "expected at least one",
		"demand.least=0.9\ndemand.most=0.5":          "limits from 0.9 to 0.5",
		"degree.deciders=['odd']":                    "decider \"odd\" is unknown",
		"degree.deciders=['constant-3']":             "constant-3",
		"degree.deciders=['most','most']":            "given twice",
		"degree.against=odd":                         "not among the deciders",
		"degree.workers=-1":                          "workers is -1",
		"vary.loads=[1,-1]":                          "loads[1] is -1",
		"vary.bandwidths=[0]":                        "bandwidths[0] is 0",
		"vary.max_degrees=[9000]":                    "largest degree 9000",
		"vary.skewness=[5000]\ndemand.limits=skewed": "skewness 5000",
		"vary.skewness=[5]":                          "demand.limits is uniform",
		"vary.loads=[1]\ndemand.every=5s":            "vary.loads is set beside demand.every",
		"run.seeds=-1":                               "seeds is -1",
		"vary.networks=['ring']":                     "ring",
		"vary.networks=['tree 4by8']":                "is no size",
		"vary.networks=['tree 4x8x2']":               "expected 2 numbers",
		"degree.deciders=['exact']\ndemand.jobs=300": "more than 100000 states; take fewer jobs or degrees; " +
			"demand.jobs is 300",
		"degree.deciders=['exact']\ndegree.worth=true\ndemand.jobs=3": "put another one first",
	} {
		_, err := readFabric(t, base, strings.Split(assignment, "\n")...)
		assert.ErrorContains(t, err, want, assignment)
	}
}

// Networks that vary have a kind and a size; racks keep the share of their uplinks.
func TestNetworksThatVary(t *testing.T) {
	f, err := readFabric(t, "[fabric]\nnetwork = 'tree'\nsize = [2, 4]\nbandwidth = 1e9\nuplink = 1e9\n[graphs]\n"+
		"models = ['"+written(t, "chain.json", chainOfSteps)+"']\n[vary]\nnetworks = ['tree', 'tree 3x5', 'ramp']\n")
	require.NoError(t, err)
	var names []string
	for _, p := range f.Points() {
		names = append(names, p.Network)
		s, err := f.Cluster(p, nil)
		require.NoError(t, err)
		if tree, ok := s.Network.(*fabric.Tree); ok {
			require.InDelta(t, 0.25, tree.Uplink/(tree.Bandwidth*float64(tree.Servers)), 1e-12)
		}
	}
	require.Equal(t, []string{"tree 2x4", "tree 3x5", "ramp 4x4x2"}, names)
}

// Every combination of values is a point, and the jobs of a seed do not depend on what is not of the demand.
func TestPointsOfFabricFiles(t *testing.T) {
	f, err := readFabric(t, "[fabric]\n[graphs]\nmodels = ['"+written(t, "chain.json", chainOfSteps)+"']\n[vary]\n"+
		"loads = [0.5, 1]\nbandwidths = [1e9, 1e10, 1e11]\n")
	require.NoError(t, err)
	points := f.Points()
	require.Len(t, points, 6)
	require.Equal(t, "load 0.5, bandwidth 1e+09", points[0].Name())
	require.Equal(t, "load 1, bandwidth 1e+11", points[5].Name())
	jobs := func(at, seed int) any {
		s, err := f.Cluster(points[at], nil)
		require.NoError(t, err)
		episode, err := f.Episode(s, points[at], seed)
		require.NoError(t, err)
		return episode.Jobs
	}
	require.Equal(t, jobs(0, 0), jobs(1, 0), "another bandwidth")
	require.NotEqual(t, jobs(0, 0), jobs(3, 0), "another load")
	require.NotEqual(t, jobs(0, 0), jobs(0, 1), "another seed")
	require.NotEqual(t, f.Digest(), must(readFabric(t, f.Resolved(), "demand.seed=2")).Digest())
}
