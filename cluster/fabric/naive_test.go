package fabric_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// naive simulates a step by examining everything at every moment. It shares no code with the simulator.
type naive struct {
	placed  *fabric.Placed
	network fabric.Network
	order   []int     // position by operation in the order of placement
	compute []float64 // seconds left by operation
	work    []float64 // work left by transfer
	long    []float64 // initial seconds by operation
}

func newNaive(placed *fabric.Placed, network fabric.Network, unit float64) *naive {
	n := &naive{placed: placed, network: network, work: append([]float64(nil), placed.Work...)}
	for _, op := range placed.Parted.Graph.Ops {
		n.compute = append(n.compute, op.Compute*unit)
	}
	n.long = append([]float64(nil), n.compute...)
	return n
}

// local reports whether a transfer takes no time.
func (n *naive) local(dep int) bool {
	d := n.placed.Parted.Graph.Deps[dep]
	return d.Size == 0 || n.placed.Server[d.From] == n.placed.Server[d.To]
}

// time returns the time of the step.
func (n *naive) time(t *rapid.T) (now float64) {
	g := n.placed.Parted.Graph
	ended, moved := make([]bool, len(g.Ops)), make([]bool, len(g.Deps))
	for range 100 * (len(g.Ops) + len(g.Deps)) {
		running, rates := map[int]int{}, map[int]float64{} // by server, by transfer
		free := func(op int) bool {
			for _, dep := range g.In[op] {
				if !g.Deps[dep].Sync && !moved[dep] {
					return false
				}
			}
			return true
		}
		left := 0
		for op := range g.Ops {
			if ended[op] {
				continue
			}
			left++
			server := n.placed.Server[op]
			if other, ok := running[server]; free(op) &&
				(!ok || n.long[op] < n.long[other] || n.long[op] == n.long[other] && n.later(op, other)) {
				running[server] = op
			}
		}
		var ready []int
		at := false
		for dep := range g.Deps {
			if moved[dep] {
				continue
			}
			left++
			if ended[g.Deps[dep].From] {
				if n.local(dep) {
					moved[dep], at = true, true
				} else {
					ready = append(ready, dep)
				}
			}
		}
		if at {
			continue
		}
		if left == 0 {
			return now
		}
		n.share(ready, rates)
		length := math.Inf(1)
		for _, op := range running {
			length = min(length, n.compute[op])
		}
		for dep, rate := range rates {
			if rate > 0 {
				length = min(length, n.work[dep]/rate)
			}
		}
		require.False(t, math.IsInf(length, 1), "nothing moves")
		now += length
		for _, op := range running {
			if n.compute[op] -= length; n.compute[op] <= 1e-15 {
				ended[op] = true
			}
		}
		for dep, rate := range rates {
			if n.work[dep] -= length * rate; n.work[dep] <= 1e-12*n.placed.Work[dep] {
				moved[dep] = true
			}
		}
	}
	require.Fail(t, "the step does not end")
	return 0
}

// later reports whether an operation was placed after another one.
func (n *naive) later(op, other int) bool { return n.order[op] > n.order[other] }

// share sets the rates of transfers. On a lane, only the shortest transfer runs, the last of equals. On links, rates
// rise together until a link is full.
func (n *naive) share(ready []int, rates map[int]float64) {
	g := n.placed.Parted.Graph
	tree, ok := n.network.(*fabric.Tree)
	if !ok {
		heads := map[string]int{}
		for _, dep := range ready {
			lane := fmt.Sprint(n.placed.Server[g.Deps[dep].From], n.placed.Server[g.Deps[dep].To])
			head, taken := heads[lane]
			if !taken || n.placed.Work[dep] <= n.placed.Work[head] {
				heads[lane] = dep
			}
		}
		for _, dep := range heads {
			rates[dep] = 1
		}
		return
	}
	for {
		least, fixed := math.Inf(1), []int(nil)
		for _, dep := range ready {
			for _, link := range links(tree, n.placed, dep) {
				spare, open := tree.Bandwidth, []int(nil)
				if link[0] == 'r' {
					spare = tree.Uplink
				}
				for _, other := range ready {
					for _, l := range links(tree, n.placed, other) {
						if l != link {
							continue
						}
						if rate, done := rates[other]; done {
							spare -= rate
						} else {
							open = append(open, other)
						}
					}
				}
				if len(open) > 0 && spare/float64(len(open)) < least {
					least, fixed = spare/float64(len(open)), open
				}
			}
		}
		if fixed == nil {
			return
		}
		for _, dep := range fixed {
			rates[dep] = max(least, 0)
		}
	}
}

// placedOrder returns the position of each operation in the order of placement by server.
func placedOrder(p *fabric.Placed) []int {
	order := make([]int, len(p.Parted.Graph.Ops))
	for at, op := range p.Order() {
		order[op] = at
	}
	return order
}

// The simulator and the naive one agree on the time of every step.
func TestStepsAgreeWithANaiveSimulator(t *testing.T) {
	for name, network := range map[string]fabric.Network{"ramp": ramp(), "tree": tree()} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s, placed := placedOn(t, network)
				if len(placed.Parted.Graph.Deps) > 400 {
					t.Skip("too large for the naive one")
				}
				timing := s.Timing()
				step, err := timing.Run(placed)
				require.NoError(t, err)
				n := newNaive(placed, network, timing.Unit)
				n.order = placedOrder(placed)
				require.InEpsilon(t, 1+n.time(t), 1+step.Time, 1e-9)
			})
		})
	}
}

// With more bandwidth, sorted rates rise at the first place at which they differ, so the slowest transfers gain first.
func TestFasterLinksAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slow := tree()
		_, placed := placedOn(t, slow)
		require.NoError(t, slow.Load(placed))
		var ready []int
		for dep, work := range placed.Work {
			if work > 0 && rapid.Bool().Draw(t, "ready") {
				ready = append(ready, dep)
			}
		}
		fast := *slow
		fast.Bandwidth *= rapid.Float64Range(1, 3).Draw(t, "bandwidth")
		fast.Uplink *= rapid.Float64Range(1, 3).Draw(t, "uplink")
		before, after := make([]float64, len(ready)), make([]float64, len(ready))
		slow.Rates(placed, ready, before)
		fast.Rates(placed, ready, after)
		slices.Sort(before)
		slices.Sort(after)
		for k := range before {
			if math.Abs(after[k]-before[k]) > 1e-9*before[k] {
				require.Greater(t, after[k], before[k])
				return
			}
		}
	})
}

// A faster network never lengthens a data-parallel step of a chain in a rack. If operations compete for a server it
// can: list schedules have anomalies (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied
// Mathematics 17, 1969).
func TestFasterLinksShortenSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		p.Edges = nil
		for k := 1; k < len(p.Nodes); k++ {
			p.Edges = append(p.Edges, [2]int{k - 1, k})
		}
		slow := tree()
		slow.Bandwidth *= rapid.Float64Range(0.001, 1).Draw(t, "bandwidth")
		fast := *slow
		fast.Bandwidth *= rapid.Float64Range(1, 4).Draw(t, "faster")
		degree := rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "degree")
		var times [2]float64
		for k, network := range []*fabric.Tree{slow, &fast} {
			s := &fabric.Study{Network: network,
				Models: []fabric.Model{fabric.NewModel(p.Mirror(graph.MirrorOptions{}))},
				Jobs:   []fabric.Job{{Limit: 1, Steps: 1}}}
			s.Options.EnsureDefaults()
			s.Prepare()
			placed, err := fabric.Place(&fabric.Site{Network: network, Memory: s.Options.Memory,
				Free: func(int) bool { return true }}, s.Parted(0, degree))
			require.NoError(t, err)
			timing := s.Timing()
			step, err := timing.Run(placed)
			require.NoError(t, err)
			times[k] = step.Time
		}
		require.LessOrEqual(t, times[1], times[0]*(1+1e-9))
	})
}
