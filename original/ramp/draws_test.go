package ramp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric/graph"
	"graft/internal/random/numpy"
)

// recordings is the folder of recorded results.
const recordings = "../../../shared/reference/ramp/golden/"

func read(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if os.IsNotExist(err) {
		t.Skipf("left out: %s is not there; put the recorded results beside the tree", path)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, v))
}

// Distributions draw the recorded values.
func TestDistributions(t *testing.T) {
	var golden struct {
		RNG struct {
			Seed     uint32    `json:"seed"`
			Uniform  []float64 `json:"uniform_samples"`
			Values   []float64 `json:"uniform_vals"`
			Randint  []int     `json:"randint_seq"`
			Choice   []int     `json:"np_choice_list"`
			Shuffled []int     `json:"py_shuffle_25"`
			Masses   []float64 `json:"pmf_samples"`
			Length   int       `json:"uniform_1_1000_len"`
			Long     []float64 `json:"uniform_1_1000_samples"`
		} `json:"rng"`
		Skewed map[string]struct {
			Values []float64 `json:"vals"`
			Shares []float64 `json:"probs"`
			Next   []float64 `json:"next_samples"`
		} `json:"custom_skew_norm_seed0"`
	}
	read(t, recordings+"misc.json", &golden)
	g := &golden.RNG
	random := numpy.New(g.Seed) // one stream, in the order of the recording
	draws := func(d *distribution, n int) (all []float64) {
		draw, err := d.drawer(random)
		require.NoError(t, err)
		for range n {
			all = append(all, draw.draw(random))
		}
		return all
	}
	uniform := distribution{Target: "Uniform", Min: 0.1, Max: 1}
	require.Equal(t, g.Values, uniform.grid(0.01))
	require.Equal(t, g.Uniform, draws(&uniform, len(g.Uniform)))
	for k, want := range g.Randint {
		require.Equal(t, want, random.IntN(0, 100-k))
	}
	for _, want := range g.Choice {
		require.Equal(t, want, []int{1, 2, 4, 8, 16}[random.IntN(0, 5)])
	}
	quarters := distribution{Target: "ProbabilityMassFunction",
		Masses: masses{[]float64{0.25, 0.5, 0.75, 1}, []float64{0.25, 0.25, 0.25, 0.25}}}
	require.Equal(t, g.Masses, draws(&quarters, len(g.Masses)))
	long := distribution{Target: "Uniform", Min: 1, Max: 1000}
	require.Len(t, long.grid(0.01), g.Length)
	require.Equal(t, g.Long, draws(&long, len(g.Long)))
	order := make([]int, len(g.Shuffled))
	for k := range order {
		order[k] = k
	}
	newPython(g.Seed).shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	require.Equal(t, g.Shuffled, order)
	for text, want := range golden.Skewed {
		d := distribution{Target: "CustomSkewNorm", Min: 0.1, Max: 1}
		require.NoError(t, json.Unmarshal([]byte(text), &d.Skewness))
		random := numpy.New(0)
		values, shares := d.skewed(random)
		require.Equal(t, want.Values, values, text)
		require.Equal(t, want.Shares, shares, text)
		s := newSampler(values, shares)
		for _, next := range want.Next {
			require.Equal(t, next, s.draw(random), text)
		}
	}
	for _, d := range []distribution{{Target: "Odd"}, {Target: "Uniform", Min: 2, Max: 1},
		{Target: "ProbabilityMassFunction"}, {Target: "CustomSkewNorm", Min: 1, Max: 1},
		{Target: "Uniform", Max: 1e12}} {
		_, err := d.drawer(nil)
		require.ErrorContains(t, err, "expected", d.Target)
	}
}

// The seed of each recorded episode determines its jobs. A random agent is the exception: its draws come in between.
func TestArrivals(t *testing.T) {
	paths, err := filepath.Glob(filepath.FromSlash(recordings + "ep_*.json"))
	require.NoError(t, err)
	for _, path := range paths {
		var e Episode
		read(t, path, &e)
		if e.Agent == "random" || strings.HasSuffix(path, "betaD.json") {
			continue // other tests play the random agent; betaD is slow to draw
		}
		d, err := e.draws()
		require.NoError(t, err)
		d.until(len(e.Arrivals) - 1)
		requireDrawn(t, &e, d, path)
	}
}

func requireDrawn(t *testing.T, e *Episode, d *Draws, path string) {
	t.Helper()
	require.GreaterOrEqual(t, len(d.arrived), len(e.Arrivals))
	for k, want := range e.Arrivals {
		got := d.arrived[k]
		require.Equal(t, []any{want[1], want[3], want[4]}, []any{float64(got.id), d.limits[got.entry], got.at},
			"%s, job %d", path, k)
	}
}

// The jobs of the paper's experiments follow from their seeds.
func TestStudyArrivals(t *testing.T) {
	var golden struct {
		Arrivals map[string][][3]any `json:"arrivals"`
	}
	read(t, recordings+"arrivals_paper_scale.json", &golden)
	var profiles []*graph.Profile
	for _, name := range StudyGraphs {
		profiles = append(profiles, &graph.Profile{Model: strings.TrimSuffix(name, ".txt")})
	}
	for _, name := range []string{"A0", "A1", "A2", "C1"} { // skewed limits are slow to draw
		e, err := StudyEpisode(name[:1], uint32(name[1]-'0'), StudyAgent{Name: "random"})
		require.NoError(t, err)
		require.NoError(t, e.Draw(profiles))
		require.Len(t, e.Arrivals, len(golden.Arrivals[name]))
		for k, want := range golden.Arrivals[name] {
			require.Equal(t, want[:], e.Arrivals[k][1:4], "%s, job %d", name, k)
		}
	}
	_, err := StudyEpisode("E", 0, StudyAgent{})
	require.ErrorContains(t, err, "limits \"E\"")
}
