package genetic

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyProblem draws a problem with diminishing speedups.
func anyProblem(t *rapid.T) *Problem {
	p := &Problem{
		Nodes: rapid.IntRange(1, 20).Draw(t, "nodes"), Devices: rapid.IntRange(1, MostDevices).Draw(t, "devices"),
		Fairness: -1, Mixed: rapid.Bool().Draw(t, "mixed"), Neighbour: rapid.Bool().Draw(t, "neighbour"),
		Incoming: rapid.Bool().Draw(t, "incoming"),
	}
	for range rapid.IntRange(1, 12).Draw(t, "jobs") {
		present := make([]byte, p.Nodes)
		present[rapid.IntRange(0, p.Nodes-1).Draw(t, "node")] = byte(rapid.IntRange(0, 1).Draw(t, "present"))
		slope := rapid.Float64Range(0.2, 1).Draw(t, "slope")
		p.Jobs = append(p.Jobs, Job{
			Present: present, Most: rapid.IntRange(1, 2*p.Devices).Draw(t, "most"),
			Keeps:   rapid.Float64Range(0, 1).Draw(t, "keeps"),
			Speedup: func(_ bool, devices int) float64 { return math.Pow(float64(devices), slope) },
		})
	}
	return p
}

// claims checks that a state respects the limits. It returns the first objective, computed job by job.
func claims(t require.TestingT, p *Problem, rows []byte) (fair float64) {
	free, spanning := make([]int, p.Nodes), make([]int, p.Nodes)
	for k, j := range p.Jobs {
		row := rows[k*p.Nodes : (k+1)*p.Nodes]
		nodes, devices := 0, 0
		for node, n := range row {
			if free[node] += int(n); n > 0 {
				nodes, devices = nodes+1, devices+int(n)
			}
		}
		for node, n := range row {
			if n > 0 && nodes > 1 {
				spanning[node]++
			}
		}
		require.LessOrEqual(t, devices, j.Most)
		value := 0.0
		if devices > 0 {
			value = j.Speedup(nodes > 1, devices) / float64(p.Devices)
			if !bytes.Equal(row, j.Present) {
				value *= j.Keeps
			}
		}
		fair += 1 / (value + 1e-3)
	}
	for node := range free {
		require.LessOrEqual(t, free[node], p.Devices)
		if !p.Mixed {
			require.LessOrEqual(t, spanning[node], 1)
		}
	}
	return 1 / (fair / float64(len(p.Jobs)))
}

// Every state respects the limits, ranks reflect dominance, and all states differ.
func TestStatesKeepLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t)
		o := Options{Population: rapid.IntRange(1, 30).Draw(t, "population"),
			Generations: rapid.IntRange(1, 8).Draw(t, "generations")}
		first := make([]byte, len(p.Jobs)*p.Nodes)
		for k := range first {
			first[k] = byte(rapid.IntRange(0, p.Devices).Draw(t, "held"))
		}
		seed := rapid.Uint64().Draw(t, "seed")
		found := Search(p, [][]byte{first, make([]byte, len(first))}, rand.New(rand.NewPCG(seed, 0)), o)
		seen := map[string]bool{}
		for _, m := range found {
			require.False(t, seen[string(m.Rows)])
			seen[string(m.Rows)] = true
			require.InEpsilon(t, claims(t, p, m.Rows), m.Fair, 1e-9)
			dominated := false
			for _, other := range found {
				dominated = dominated || (objectives{-other.Fair, -other.Use}).dominates(objectives{-m.Fair, -m.Use})
			}
			require.Equal(t, dominated, m.Rank > 0)
		}
		require.Equal(t, found, Search(p, [][]byte{first, make([]byte, len(first))}, rand.New(rand.NewPCG(seed, 0)), o),
			"the same seed gives the same states")
	})
}

// Operations on words agree with operations on their bytes.
func TestWordsAreBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, low := []uint64{0}, []uint64{0}, []uint64{0}
		devices, nodes := 0, 0
		for at := range perWord {
			x, y := rapid.Uint64Range(0, MostDevices).Draw(t, "x"), rapid.Uint64Range(0, MostDevices).Draw(t, "y")
			setByte(a, at, MostDevices)
			setByte(a, at, x)
			setByte(b, at, y)
			setByte(low, at, min(x, y))
			if devices += int(x); x > 0 {
				nodes++
			}
		}
		require.Equal(t, low[0], least(a[0], b[0]))
		gotNodes, gotDevices := count(a)
		require.Equal(t, []int{nodes, devices}, []int{gotNodes, gotDevices})
	})
}

func benchmarkSearch(b *testing.B, jobs int) {
	p := &Problem{Nodes: 16, Devices: 4, Fairness: -1}
	for k := range jobs {
		p.Jobs = append(p.Jobs, Job{Most: 64, Keeps: 0.9, Speedup: func(_ bool, devices int) float64 {
			return math.Pow(float64(devices), 0.5+0.4*float64(k)/float64(jobs))
		}})
	}
	r := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		Search(p, [][]byte{make([]byte, jobs*16)}, r, Options{100, 100})
	}
}

func BenchmarkSearch3Jobs(b *testing.B)  { benchmarkSearch(b, 3) }
func BenchmarkSearch33Jobs(b *testing.B) { benchmarkSearch(b, 33) }
