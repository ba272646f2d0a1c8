package assign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
)

// anyProblem draws a problem with values as in goodput schedulers: harmonic or weighted speedups, which drop on several
// nodes and after a move.
func anyProblem(r *rand.Rand, nodes, devices, jobs int) *Problem {
	p := &Problem{Nodes: nodes, Devices: devices}
	free, spanner := make([]int, nodes), make([]bool, nodes)
	for node := range free {
		free[node] = devices
	}
	harmonic := r.IntN(2) == 0
	for range jobs {
		slope, net, keeps, weight := 0.3+0.7*r.Float64(), 0.6+0.4*r.Float64(), r.Float64(), r.ExpFloat64()
		if r.IntN(3) == 0 {
			keeps = 1
		}
		j := Job{Most: 1 + r.IntN(2*devices+2), Value: func(n int, spans, moves bool) float64 {
			speed := math.Pow(float64(n), slope)
			if spans {
				speed *= net
			}
			if moves {
				speed *= keeps
			}
			if harmonic {
				return -1 / (speed + 1e-3)
			}
			return speed * weight
		}}
		j.Present = anyShares(r, j.Most, free, spanner)
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// anyShares draws the devices that a job holds, on one node or on several.
func anyShares(r *rand.Rand, most int, free []int, spanner []bool) (shares []Share) {
	several := r.IntN(2) == 0
	for _, node := range r.Perm(len(free)) {
		n := r.IntN(min(free[node], most) + 1)
		if n == 0 || several && spanner[node] || !several && len(shares) > 0 {
			continue
		}
		shares, most = append(shares, Share{node, n}), most-n
	}
	for _, s := range shares {
		free[s.Node] -= s.Devices
		spanner[s.Node] = spanner[s.Node] || len(shares) > 1
	}
	return shares
}

// check verifies the devices and the value of a solution.
func check(t require.TestingT, p *Problem, result Result) {
	used, spanning := make([]int, p.Nodes), make([]int, p.Nodes)
	value := 0.0
	for k, shares := range result.Shares {
		devices := sum(shares)
		for _, s := range shares {
			require.Positive(t, s.Devices)
			if used[s.Node] += s.Devices; len(shares) > 1 {
				spanning[s.Node]++
			}
		}
		moves := fmt.Sprint(shares) != fmt.Sprint(sorted(p.Jobs[k].Present))
		require.True(t, devices <= p.Jobs[k].Most || !moves)
		value += p.Jobs[k].Value(devices, len(shares) > 1, moves)
	}
	for node := range used {
		require.LessOrEqual(t, used[node], p.Devices)
		require.LessOrEqual(t, spanning[node], 1)
	}
	require.InDelta(t, value, result.Value, 1e-9*(1+math.Abs(value)))
	require.GreaterOrEqual(t, result.Bound, result.Value)
}

func sorted(shares []Share) []Share {
	list := append([]Share(nil), shares...)
	for k := range list {
		for i := k; i > 0 && list[i].Node < list[i-1].Node; i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
	}
	return list
}

func TestSolutionsKeepLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := anyProblem(r, 1+r.IntN(20), 1+r.IntN(8), r.IntN(30))
		result := Solve(p)
		check(t, p, result)
		require.Equal(t, result, Solve(p))
	})
}

// best returns the largest value of all allocations.
func best(p *Problem) float64 {
	free, spanner := make([]int, p.Nodes), make([]bool, p.Nodes)
	for node := range free {
		free[node] = p.Devices
	}
	var jobs func(k int) float64
	jobs = func(k int) float64 {
		if k == len(p.Jobs) {
			return 0
		}
		most := math.Inf(-1)
		var shares []Share
		var nodes func(node int)
		nodes = func(node int) {
			if node < p.Nodes {
				nodes(node + 1)
				for n := 1; n <= free[node]; n++ {
					shares = append(shares, Share{node, n})
					free[node] -= n
					nodes(node + 1)
					free[node] += n
					shares = shares[:len(shares)-1]
				}
				return
			}
			devices, spans := sum(shares), len(shares) > 1
			moves := fmt.Sprint(shares) != fmt.Sprint(sorted(p.Jobs[k].Present))
			if moves && devices > p.Jobs[k].Most {
				return
			}
			mine := append([]Share(nil), shares...)
			for _, s := range mine {
				if spans && spanner[s.Node] {
					return
				}
			}
			for _, s := range mine {
				spanner[s.Node] = spanner[s.Node] || spans
			}
			saved := shares
			shares = nil
			most = max(most, p.Jobs[k].Value(devices, spans, moves)+jobs(k+1))
			shares = saved
			for _, s := range mine {
				spanner[s.Node] = spanner[s.Node] && !spans
			}
		}
		nodes(0)
		return most
	}
	return jobs(0)
}

// Solve is exact for 99% of random problems that are small enough for exhaustive search. No bound is below the optimum.
func TestSolutionsOfSmallClustersAreBest(t *testing.T) {
	exact, cases := 0, 1000
	var gaps []float64
	for seed := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		p := anyProblem(r, 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(4))
		result, want := Solve(p), best(p)
		rounding := 1e-9 * (1 + math.Abs(want))
		require.LessOrEqual(t, result.Value, want+rounding)
		require.GreaterOrEqual(t, result.Bound, want-rounding)
		if want-result.Value < rounding {
			exact++
		} else {
			gaps = append(gaps, (want-result.Value)/math.Abs(want))
		}
	}
	t.Logf("%d of %d exact; the others are %.3g below in the mean, %.3g at most", exact, cases, stat.Mean(gaps),
		slices.Max(gaps))
	require.GreaterOrEqual(t, exact, cases*99/100)
}

// Solutions for 64 devices are close to their upper bounds.
func TestGapsToTheBound(t *testing.T) {
	var gaps []float64
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := anyProblem(r, 16, 4, 2+r.IntN(80))
		result := Solve(p)
		gaps = append(gaps, (result.Bound-result.Value)/math.Abs(result.Bound))
	}
	t.Logf("gap to the bound: %.3g in the mean, %.3g at most", stat.Mean(gaps), slices.Max(gaps))
	require.Less(t, stat.Mean(gaps), 0.01)
	require.Less(t, slices.Max(gaps), 0.1)
}

// benchmarkSolve divides devices among jobs. Some jobs hold devices that no longer suit them.
func benchmarkSolve(b *testing.B, nodes, devices, jobs int) {
	p := anyProblem(rand.New(rand.NewPCG(7, 7)), nodes, devices, jobs)
	for k := range p.Jobs {
		p.Jobs[k].Most = 16
	}
	gap := 0.0
	for b.Loop() {
		r := Solve(p)
		gap = (r.Bound - r.Value) / math.Abs(r.Bound)
	}
	b.ReportMetric(100*gap, "%gap")
}

func BenchmarkSolve160Jobs64Devices(b *testing.B)    { benchmarkSolve(b, 16, 4, 160) }
func BenchmarkSolve33Jobs64Devices(b *testing.B)     { benchmarkSolve(b, 16, 4, 33) }
func BenchmarkSolve1000Jobs2000Devices(b *testing.B) { benchmarkSolve(b, 500, 4, 1000) }
func BenchmarkSolve1000Jobs2000By8(b *testing.B)     { benchmarkSolve(b, 250, 8, 1000) }
