package evaluation

import (
	"math"
	"slices"

	"graft/decider"
	"graft/simulation"
)

// DecisionShare counts the decisions at which a policy's choice is within noise of the best choice. It includes
// decisions that the policy does not reach. A choice is rated by the best sequence that it can lead to, which is
// compared with the best sequence that the best choice can lead to. The choice is within noise if the accuracies of the
// two sequences differ by at most one standard deviation of such a difference.
type DecisionShare struct {
	// number of decisions whose choice is within noise of the best choice; for a policy that samples actions, the
	// expected number
	Near float64 `json:"near_best"`
	Of   int     `json:"of"` // total number of decisions
}

// stepwise is a policy that chooses at each decision separately.
type stepwise interface {
	// choices returns the probability of each choice of a tree's nodes.
	choices(t *simulation.Tree) (func(node int) ([]float64, error), error)
}

// choices returns the choices of a policy that takes the likeliest action.
func (f follower) choices(t *simulation.Tree) (func(node int) ([]float64, error), error) {
	weigh, err := f.weigh(t)
	return func(node int) ([]float64, error) {
		weighed, err := weigh(node)
		if err != nil {
			return nil, err
		}
		shares := make([]float64, len(weighed))
		shares[decider.Likeliest(weighed)] = 1
		return shares, nil
	}, err
}

// drawing is [Uniform], which draws at each decision among its choices.
type drawing struct{ named }

func (drawing) choices(t *simulation.Tree) (func(node int) ([]float64, error), error) {
	return func(node int) ([]float64, error) {
		n := len(t.Nodes[node].Next)
		return slices.Repeat([]float64{1 / float64(n)}, n), nil
	}, nil
}

// decisions counts the decisions of a policy; nil if it chooses whole sequences.
func (j *scorer) decisions(p Policy) (*DecisionShare, error) {
	s, ok := p.(stepwise)
	if !ok {
		return nil, nil
	}
	choices, err := s.choices(j.Tree)
	if err != nil {
		return nil, err
	}
	near, count := j.nearBest(), &DecisionShare{Of: len(j.Nodes)}
	for node := range j.Nodes {
		shares, err := choices(node)
		if err != nil {
			return nil, err
		}
		for k, share := range shares {
			if near[node][k] {
				count.Near += share
			}
		}
	}
	return count, nil
}

// nearBest reports for each node's choices whether they are within noise of its best.
func (j *scorer) nearBest() [][]bool {
	tie := math.Sqrt2 * j.noise / simulation.Points // a difference has the noise of both
	worth, near := make([]float64, len(j.Nodes)), make([][]bool, len(j.Nodes))
	for at := len(j.Nodes) - 1; at >= 0; at-- {
		n, behind := j.Nodes[at], worth
		if n.Last {
			behind = j.values
		}
		best := make([]float64, len(n.Next))
		for k, next := range n.Next {
			best[k] = behind[next]
		}
		worth[at] = slices.Max(best)
		for _, v := range best {
			near[at] = append(near[at], v >= worth[at]-tie)
		}
	}
	return near
}

// and adds the decisions of another table or seed; nil if either is nil.
func (s *DecisionShare) and(other *DecisionShare) *DecisionShare {
	if s == nil || other == nil {
		return nil
	}
	return &DecisionShare{s.Near + other.Near, s.Of + other.Of}
}

// Share returns the fraction of decisions whose choice is within noise of the best choice.
func (s *DecisionShare) Share() float64 { return s.Near / float64(s.Of) }
