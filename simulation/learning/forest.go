package learning

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/decider"
	"graft/simulation"
	"graft/torch/weights"
)

// GrowForest grows a policy of extremely randomized trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006): it
// draws one random split per input and takes the best split. The trees predict the advantage of a choice over the mean
// of all choices of the same decision. The advantage assumes random decisions after the choice, because the best
// continuation in a table is often only a lucky run.
func GrowForest(ctx context.Context, trees []*simulation.Tree, o Options) (*decider.Structural, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("train a forest: %w", err)
	}
	if len(trees) == 0 {
		return nil, errors.New("train a forest: got no tables; expected at least one")
	}
	situations := simulation.Situations(trees)
	p := &decider.Structural{StructuralShape: o.StructuralShape,
		Rows: decider.MeasureForestScale(situations).Without(o.Without), Learned: simulation.OfferedKinds(trees),
		Targets: simulation.OfferedTargets(trees)}
	g := &grower{leaf: o.Leaf}
	for _, s := range situations {
		g.rows = append(g.rows, s.ForestRows(p.Rows)...)
	}
	for k, rewards := range o.allRewards(trees) {
		g.targets = append(g.targets, advantages(trees[k], rewards)...)
	}
	if len(g.rows) < 2*o.Leaf {
		return nil, fmt.Errorf("train a forest: learn.leaf is %d, so trees of %d choices have no split and rate all "+
			"choices alike; set learn.leaf to at most %d, or add tables", o.Leaf, len(g.rows), len(g.rows)/2)
	}
	for k := range o.Trees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Forest = append(p.Forest, g.grow(rand.New(rand.NewPCG(o.Seed, uint64(k)))))
	}
	return p, nil
}

// advantages returns the advantage of each choice of each node over the mean of the node's choices, with later
// decisions drawn at random.
func advantages(t *simulation.Tree, rewards []float64) (all []float64) {
	worth := make([]float64, len(t.Nodes))
	all = make([]float64, t.ChoiceCount())
	at := len(all)
	for k := len(t.Nodes) - 1; k >= 0; k-- {
		n := t.Nodes[k]
		at -= len(n.Next)
		for j, next := range n.Next {
			if all[at+j] = rewards[next]; !n.Last {
				all[at+j] = worth[next]
			}
			worth[k] += all[at+j] / float64(len(n.Next))
		}
		for j := range n.Next {
			all[at+j] -= worth[k]
		}
	}
	return all
}

// grower grows regression trees.
type grower struct {
	rows    [][]float32
	targets []float64
	leaf    int // minimum rows of a leaf
}

func (g *grower) grow(random *rand.Rand) decider.RegressionTree {
	all := make([]int, len(g.rows))
	for k := range all {
		all[k] = k
	}
	var t decider.RegressionTree
	g.plant(&t, all, random)
	return t
}

// plant adds the subtree of some rows, and changes their order.
func (g *grower) plant(t *decider.RegressionTree, rows []int, random *rand.Rand) {
	at := len(t.Feature)
	feature, cut := g.split(rows, random)
	t.Feature, t.Cut, t.Right = append(t.Feature, int32(feature)), append(t.Cut, cut), append(t.Right, 0)
	if feature < 0 {
		sum := 0.0
		for _, k := range rows {
			sum += g.targets[k]
		}
		t.Cut[at] = float32(sum / float64(len(rows)))
		return
	}
	left := 0
	for k, row := range rows {
		if g.rows[row][feature] < cut {
			rows[left], rows[k] = row, rows[left]
			left++
		}
	}
	g.plant(t, rows[:left], random)
	t.Right[at] = int32(len(t.Feature))
	g.plant(t, rows[left:], random)
}

// split draws a cut per input and returns the one that minimises the variance of the targets; negative means none.
func (g *grower) split(rows []int, random *rand.Rand) (feature int, cut float32) {
	feature = -1
	if len(rows) < 2*g.leaf {
		return feature, 0
	}
	most := 0.0
	for j := range g.rows[rows[0]] {
		low, high := g.span(rows, j)
		if low == high {
			continue
		}
		at := low + (high-low)*float32(1-random.Float64()) // above low, so neither side is empty
		if gain := g.gain(rows, j, at); gain > most {
			feature, cut, most = j, at, gain
		}
	}
	return feature, cut
}

func (g *grower) span(rows []int, feature int) (low, high float32) {
	low, high = float32(math.Inf(1)), float32(math.Inf(-1))
	for _, k := range rows {
		low, high = min(low, g.rows[k][feature]), max(high, g.rows[k][feature])
	}
	return low, high
}

// gain is the decrease of the sum of squares around the means by a cut; zero if a side is too small.
func (g *grower) gain(rows []int, feature int, cut float32) float64 {
	var sums, counts [2]float64
	for _, k := range rows {
		side := 0
		if g.rows[k][feature] >= cut {
			side = 1
		}
		sums[side] += g.targets[k]
		counts[side]++
	}
	if min(counts[0], counts[1]) < float64(g.leaf) {
		return 0
	}
	d := sums[0]/counts[0] - sums[1]/counts[1]
	return d * d * counts[0] * counts[1] / (counts[0] + counts[1])
}

// forestLearner grows a forest in one step. That takes seconds, so it saves nothing before the end.
type forestLearner struct {
	trees  []*simulation.Tree
	o      Options
	policy *decider.Structural // nil before the step
	row    Row
}

// Advance implements [learn.Learner].
func (l *forestLearner) Advance(ctx context.Context) (err error) {
	if l.policy, err = GrowForest(ctx, l.trees, l.o); err == nil {
		l.row, err = forestRow(l.trees, l.policy, l.o)
	}
	return err
}

// Steps implements [learn.Learner].
func (l *forestLearner) Steps() int {
	if l.policy == nil {
		return 0
	}
	return l.o.Trees
}

// Ended implements [learn.Learner].
func (l *forestLearner) Ended() string {
	if l.policy == nil {
		return ""
	}
	return "all trees are complete"
}

// Figures implements [learn.Learner].
func (l *forestLearner) Figures() ([]float64, error) { return l.row.values(), nil }

// Save implements [learn.Learner].
func (l *forestLearner) Save() (*weights.Set, error) { return nil, nil }

// Restore implements [learn.Learner].
func (l *forestLearner) Restore(*weights.Set) error {
	return errors.New("resume a forest: a forest is trained in one step and has no checkpoint; start over")
}

// Policy returns the forest.
func (l *forestLearner) Policy() (*decider.Structural, error) { return l.policy, nil }

func (l *forestLearner) standing() Progress {
	return Progress{Seed: l.o.Seed, Step: l.Steps(), Aim: l.row.Aim, HeldOut: l.row.HeldOut, Why: l.Ended()}
}

// forestRow returns the figures of a forest.
func forestRow(trees []*simulation.Tree, p *decider.Structural, o Options) (Row, error) {
	r := Row{Seed: o.Seed, Step: o.Trees, HeldOut: math.NaN()}
	rewards := o.allRewards(trees)
	for k, t := range trees {
		weighed, err := p.Probabilities(simulation.Situations(trees[k : k+1])...)
		if err != nil {
			return r, err
		}
		var logits []float64
		for _, share := range slices.Concat(weighed...) {
			logits = append(logits, math.Log(share))
		}
		r.Aim += objective{o.Beta, o.Entropy}.value(t, logits, rewards[k],
			make([]float64, len(logits))) / float64(len(trees))
		r.add(t, logits, len(trees))
	}
	return r, nil
}
