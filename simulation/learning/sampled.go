package learning

import (
	"math/rand/v2"

	"graft/decider"
	"graft/simulation"
)

// sampled estimates the gradient of the expected reward from drawn sequences: each becomes likelier in proportion to
// its advantage over the mean of the others (REINFORCE, Williams 1992, with a baseline that excludes the sequence
// itself, so the estimate is unbiased). It applies to a beta of zero. It adds the gradient to gradient, and returns the
// mean reward.
func sampled(t *simulation.Tree, logits, rewards []float64, draws int, random *rand.Rand, gradient []float64) float64 {
	f := newFlow(t, logits)
	got, sum := make([]float64, draws), 0.0
	ways := make([][]visit, draws)
	for k := range draws {
		ways[k], got[k] = f.walk(rewards, random)
		sum += got[k]
	}
	for k, way := range ways {
		gain := got[k]
		if draws > 1 {
			gain -= (sum - got[k]) / float64(draws-1)
		}
		for _, v := range way {
			from := f.starts[v.node]
			for j := range t.Nodes[v.node].Next {
				gradient[from+j] -= gain * f.shares[from+j] / float64(draws)
			}
			gradient[from+v.choice] += gain / float64(draws)
		}
	}
	return sum / float64(draws)
}

type visit struct{ node, choice int }

func (f *flow) walk(rewards []float64, random *rand.Rand) (way []visit, reward float64) {
	end := f.tree.Follow(func(at int) int {
		n := f.tree.Nodes[at]
		k := decider.SampleIndex(f.shares[f.starts[at]:f.starts[at]+len(n.Next)], random)
		way = append(way, visit{at, k})
		return k
	})
	return way, rewards[end]
}
