package decider

import (
	"errors"
	"fmt"
	"math"

	"graft/vocab"
)

// RegressionTree predicts a number from a row of features. Its nodes are in preorder: the left child of a node is the
// next node.
type RegressionTree struct {
	Feature []int32   // feature that each node compares; negative for a leaf
	Cut     []float32 // threshold of each node, below which rows go left; for a leaf, the prediction
	Right   []int32   // index of each node's right child; zero for a leaf
}

// predict returns the prediction for a row.
func (t *RegressionTree) predict(row []float32) float64 {
	at := int32(0)
	for t.Feature[at] >= 0 {
		if row[t.Feature[at]] < t.Cut[at] {
			at++
		} else {
			at = t.Right[at]
		}
	}
	return float64(t.Cut[at])
}

// validate returns an error unless each path from the first node ends at a leaf and each node is on one.
func (t *RegressionTree) validate(inputs int) error {
	var ahead []int32 // right children not reached yet
	for k, feature := range t.Feature {
		next, cut := int32(k+1), float64(t.Cut[k])
		switch {
		case math.IsNaN(cut) || math.IsInf(cut, 0):
			return fmt.Errorf("the threshold of node %d is %v; expected a finite number", k, cut)
		case int(feature) >= inputs:
			return fmt.Errorf("node %d reads input %d; expected 0 to %d", k, feature, inputs-1)
		case feature >= 0 && (t.Right[k] <= next || int(t.Right[k]) >= len(t.Feature) ||
			len(ahead) > 0 && t.Right[k] >= ahead[len(ahead)-1]):
			return fmt.Errorf("the right child of node %d is node %d; expected a later node of the same subtree", k,
				t.Right[k])
		case feature >= 0:
			ahead = append(ahead, t.Right[k])
		case len(ahead) == 0 && k+1 == len(t.Feature):
			return nil
		case len(ahead) == 0 || ahead[len(ahead)-1] != next:
			return fmt.Errorf("node %d is unreachable", next)
		default:
			ahead = ahead[:len(ahead)-1]
		}
	}
	return errors.New("the tree has no leaf")
}

// forestFeatures are the inputs of forests: the inputs of networks, the values that networks read from tokens, and
// quantities relative to an untrained network.
var forestFeatures = append(append([]feature{}, features...), []feature{
	{"branch", func(c Choice, _ Situation) float64 { return yes(c.Action.Kind == "branch") }},
	{"kernel", func(c Choice, _ Situation) float64 { return yes(c.Action.Kind == "kernel") }},
	{"matrix", func(c Choice, s Situation) float64 { return yes(len(c.Tokens) > 0 && s.firstKind(c) == vocab.Matrix) }},
	{"steps_after", func(c Choice, s Situation) float64 {
		return known(s.Step > 0 && c.Step > 0, math.Log1p(max(0, s.Left.Seconds()/c.Step.Seconds())))
	}},
	// An untrained network of n classes has a loss of ln n and an accuracy of 1/n.
	{"loss_share", func(_ Choice, s Situation) float64 {
		return known(s.Curve.Loss > 0 && s.Outputs > 1, s.Curve.Loss/math.Log(float64(s.Outputs)))
	}},
	{"above_chance", func(_ Choice, s Situation) float64 {
		return known(s.Accuracy > 0 && s.Outputs > 1, (s.Accuracy*float64(s.Outputs)-1)/float64(s.Outputs-1))
	}},
	{gainShare, func(c Choice, s Situation) float64 { return known(s.rates(c), c.Gain/s.largest(gainOf)) }},
	{gainRate, func(c Choice, s Situation) float64 {
		return known(s.rates(c), s.gainPerCost(c)/s.largest(s.gainPerCost))
	}},
	{gainLevel, func(c Choice, s Situation) float64 {
		return known(s.rates(c) && c.Gain > 0, math.Log(c.Gain))
	}},
}...)

// forestInputs is the number of inputs of the first forests. Later inputs follow them, so old files stay readable.
var forestInputs = len(features) + 6

// InputNames returns the names of all inputs that describe a choice to a policy. Inputs that describe the network come
// first.
func InputNames() []string { return namesOf(forestFeatures) }

// ForestRows returns the inputs of a forest for each choice, standardized by the given scale. Unknown inputs are
// replaced by the mean.
func (s Situation) ForestRows(scale Scale) [][]float32 {
	values := s.rows(forestFeatures)
	scale.Apply(values)
	rows := make([][]float32, len(values))
	for k, row := range values {
		rows[k] = make([]float32, len(row))
		for j, v := range row {
			rows[k][j] = float32(v)
		}
	}
	return rows
}

// MeasureForestScale returns the mean and the standard deviation of each input of a forest over the given situations.
func MeasureForestScale(situations []Situation) Scale {
	var all [][]float64
	for _, s := range situations {
		all = append(all, s.rows(forestFeatures)...)
	}
	return newScale(all)
}

// forestScores returns the mean predictions of the trees for each choice.
func (p *Structural) forestScores(s Situation) []float64 {
	rows := s.ForestRows(p.Rows)
	scores := make([]float64, len(rows))
	for k, row := range rows {
		for t := range p.Forest {
			scores[k] += p.Forest[t].predict(row) / float64(len(p.Forest))
		}
	}
	return scores
}
