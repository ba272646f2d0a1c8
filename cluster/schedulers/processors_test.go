package schedulers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/trace"
)

// crowd returns jobs that request processors, on nodes of four devices.
func crowd(seed uint64, jobs, cpus int) *cluster.Study {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 3}, {Name: "b", Nodes: 4}}, PerNode: 4, CPUs: cpus}
	at := int64(0)
	for k := range jobs {
		at += r.Int64N(200)
		gpus := []int{1, 1, 2, 3, 4, 6, 8}[r.IntN(7)]
		cpusOf := gpus * r.IntN(4)
		if gpus == 1 {
			cpusOf = r.IntN(10)
		}
		s.Jobs = append(s.Jobs, trace.Job{ID: fmt.Sprint(k), VC: []string{"a", "b"}[r.IntN(2)], Submit: at,
			Duration: 1 + r.Int64N(3000), GPUs: gpus, CPUs: cpusOf,
			Training: &trace.Training{Model: []string{"x", "y"}[r.IntN(2)], Memory: 1000,
				GPUUtil: float64(r.IntN(60))}})
		s.Estimates = append(s.Estimates, float64(1+r.IntN(3000)))
	}
	s.Profiles = cluster.MakeProfiles(s.Jobs)
	return s
}

// crowded returns the largest number of processors that concurrent jobs request on a node, by their last nodes.
func crowded(o *cluster.Outcome) int {
	most := 0
	for _, j := range o.Jobs {
		for _, s := range j.Nodes {
			sum := 0
			for _, other := range o.Jobs {
				if other.Trace.VC != j.Trace.VC || other.Start > j.Start || other.End <= j.Start {
					continue
				}
				for _, t := range other.Nodes {
					if t.Node == s.Node {
						for m := t.GPUs; m != 0; m &= m - 1 {
							sum += (other.Trace.CPUs + other.Trace.GPUs - 1) / other.Trace.GPUs
						}
					}
				}
			}
			most = max(most, sum)
		}
	}
	return most
}

// No processor is allocated twice, and enough processors change nothing.
func TestProcessors(t *testing.T) {
	for _, policy := range Kinds() {
		t.Run(policy.Name, func(t *testing.T) {
			waited, over := int64(0), 0
			stay := slices.Contains([]string{"fifo", "sjf", "backfill"}, policy.Name) // jobs keep their first devices
			for seed := range uint64(20) {
				few, none, plenty := crowd(seed, 60, 12), crowd(seed, 60, 0), crowd(seed, 60, 1000)
				run := func(s *cluster.Study) *cluster.Outcome {
					return must(s.Run(context.Background(), policy, cluster.Options{}))
				}
				a, b, c := run(few), run(none), run(plenty)
				require.Equal(t, b.Completions(), c.Completions())
				require.Empty(t, append(a.Refused, b.Refused...))
				for k, j := range a.Jobs {
					waited += j.Queue - b.Jobs[k].Queue
				}
				if stay {
					require.LessOrEqual(t, crowded(a), 12)
					over = max(over, crowded(b))
				}
				few.Jobs[7].GPUs, few.Jobs[7].CPUs = 1, 13
				require.Equal(t, []cluster.Refusal{{ID: "7", Why: "more processors requested than the nodes have"}},
					run(few).Refused)
			}
			require.Positive(t, waited, "jobs wait for processors")
			if stay {
				require.Greater(t, over, 12, "and would not if they were not counted")
			}
		})
	}
}

// typed divides the nodes of a study into two equally fast types.
func typed(s *cluster.Study, x, y cluster.NodeType) *cluster.Study {
	x.Name, x.Nodes = "x", map[string]int{"a": 2, "b": 1}
	y.Name, y.Nodes = "y", map[string]int{"a": 1, "b": 3}
	s.Types = []cluster.NodeType{x, y}
	return s
}

// Types can have processors and memory of their own. If all have the study's amounts, nothing changes. A job that needs
// more than the nodes of a type have runs on the others.
func TestProcessorsOfTypes(t *testing.T) {
	for _, policy := range Kinds() {
		t.Run(policy.Name, func(t *testing.T) {
			onY := 0
			for seed := range uint64(12) {
				run := func(s *cluster.Study) *cluster.Outcome {
					return must(s.Run(context.Background(), policy, cluster.Options{}))
				}
				same := run(typed(crowd(seed, 60, 12), cluster.NodeType{}, cluster.NodeType{}))
				own := run(typed(crowd(seed, 60, 0), cluster.NodeType{CPUs: 12}, cluster.NodeType{CPUs: 12}))
				require.Equal(t, same.Completions(), own.Completions())

				s := typed(crowd(seed, 60, 0), cluster.NodeType{CPUs: 6, Memory: 1000}, cluster.NodeType{Memory: 2000})
				for k := range s.Jobs {
					s.Jobs[k].RAM = int64(100 * s.Jobs[k].GPUs)
				}
				s.Jobs[7].GPUs, s.Jobs[7].CPUs = 1, 7
				s.Jobs[8].GPUs, s.Jobs[8].CPUs, s.Jobs[8].RAM = 1, 1, 1500
				s.Jobs[9].GPUs, s.Jobs[9].CPUs, s.Jobs[9].GPUType, s.Jobs[9].NeedsType = 1, 7, "x", true
				o := run(s)
				require.Contains(t, o.Refused, cluster.Refusal{ID: "9",
					Why: "more processors requested than the nodes have"})
				for _, r := range o.Refused {
					if policy.Profiles {
						break // the profiler takes nodes of the last type
					}
					require.NotContains(t, []string{"7", "8"}, r.ID, r.Why)
				}
				for _, j := range o.Jobs {
					if (j.Trace.ID == "7" || j.Trace.ID == "8") && o.TypeOf(j) != "" {
						require.Equal(t, "y", o.TypeOf(j))
						onY++
					}
				}
			}
			require.Positive(t, onY)
		})
	}
}
