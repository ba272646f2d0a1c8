package learn

import (
	"errors"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/internal/validate"
	"graft/original/bilstm"
	"graft/original/vocab"
	"graft/torch"
)

// Tree holds the states of a scenario, and the accuracy at the end of each sequence of actions. All sequences start in
// state 0.
type Tree struct {
	States   []TreeState
	Accuracy []float64 // accuracy at each end, between 0 and 1
	Actions  int       // number of actions in each state
	// Discarded is the number of random numbers to skip before the first action is drawn. The original system used
	// these numbers to initialize a network. Zero means none.
	Discarded int
}

// TreeState is a state of a Tree, in which an action is chosen.
type TreeState struct {
	Tokens []int32 // tokens of the network's layers
	Left   float64 // time left in the budget, in seconds
	Budget float64 // whole time budget, in seconds
	// Children holds one number per action. A positive number is the index of the next state; it is larger than the
	// index of this state. A negative number -1 - k denotes leaf k of the tree. All leaves are at the same depth.
	Children []int32
	// Discarded holds the number of random numbers to skip after each action. The original system used these numbers to
	// initialize a new layer, whose weights it then replaced. Nil means none.
	Discarded []int32
}

// Embedding holds a fixed vector for each token. The zero value is empty.
type Embedding struct {
	Width  int       // length of each vector
	Values []float32 // vectors one after the other, each with Width values
}

// EmbeddingOf returns the vectors of a vocabulary as an embedding.
func EmbeddingOf(v *vocab.Vocabulary) Embedding {
	return Embedding{Width: v.Size(), Values: slices.Concat(v.Vectors...)}
}

// Rows returns the number of vectors.
func (e Embedding) Rows() int {
	if e.Width < 1 {
		return 0
	}
	return len(e.Values) / e.Width
}

func (t *Tree) rewards(kind string) []float64 {
	mean, deviation := stat.Population(t.Accuracy)
	all := make([]float64, len(t.Accuracy))
	for k, a := range t.Accuracy {
		switch {
		case kind == RewardTangent:
			all[k] = 100 * math.Tan(a*math.Pi/2)
		case kind == RewardAccuracy:
			all[k] = a
		case deviation > 0:
			all[k] = (a - mean) / deviation
		}
	}
	return all
}

// Validate returns the errors in the tree. It omits errors that the training kernel detects.
func (t *Tree) Validate() error {
	var faults validate.Faults
	for k, a := range t.Accuracy {
		faults.When(!(a >= 0 && a <= 1), "end %d has accuracy %v; must be between 0 and 1", k, a)
	}
	for k, s := range t.States {
		faults.When(!(s.Budget > 0) || !(s.Left >= 0 && s.Left <= s.Budget),
			"state %d has %v s left; must be between 0 and the budget of %v s", k, s.Left, s.Budget)
	}
	return errors.Join(faults...)
}

// policyTree returns the tree in the kernel's format.
func (t *Tree) policyTree(kind string, time int) (*torch.PolicyTree, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	p := &torch.PolicyTree{Rewards: t.rewards(kind)}
	for _, s := range t.States {
		p.Tokens, p.Children = append(p.Tokens, s.Tokens), append(p.Children, s.Children)
		p.Time = append(p.Time, bilstm.TimeCode(s.Left, s.Budget, time))
		if s.Discarded != nil {
			p.Skips = append(p.Skips, s.Discarded)
		}
	}
	return p, nil
}
