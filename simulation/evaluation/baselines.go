package evaluation

import (
	"errors"
	"slices"

	"graft/decider"
	"graft/simulation"
	"graft/simulation/learning"
	"graft/simulation/tables"
)

type named struct {
	name   string
	choose func(t *simulation.Tree) ([]float64, error)
	ties   int // number of equally good choices whose results are averaged; zero for a policy without a choice
}

// Ties returns the number of equally good choices whose results are averaged.
func (n named) Ties() int { return n.ties }

// Name returns the policy's name.
func (n named) Name() string { return n.name }

// Distribution returns the probability that the policy takes each record's sequence of actions.
func (n named) Distribution(t *simulation.Tree) ([]float64, error) { return n.choose(t) }

// only is the distribution of a single record.
func only(t *simulation.Tree, record int) []float64 {
	shares := make([]float64, len(t.Records))
	shares[record] = 1
	return shares
}

// noSequence means that a table lacks the sequence of a policy.
type noSequence string

// Error names the data that the tables lack.
func (n noSequence) Error() string { return string(n) }

// Constant returns the policy that takes the same action at every decision. With the action "none" it never adapts.
func Constant(name, action string) Policy {
	return named{name: name, choose: func(t *simulation.Tree) ([]float64, error) {
		record := same(t, action)
		if record < 0 {
			return nil, noSequence("the table has no sequence that consists only of " + action)
		}
		return only(t, record), nil
	}}
}

// Uniform returns the policy that samples uniformly from all sequences.
func Uniform() Policy {
	return drawing{named{name: nameRandom, choose: func(t *simulation.Tree) ([]float64, error) {
		return slices.Repeat([]float64{1 / float64(len(t.Records))}, len(t.Records)), nil
	}}}
}

// Oracle returns the policy that takes the best sequence of the evaluated table. The oracle's accuracy is an upper
// bound for every policy.
func Oracle() Policy {
	return named{name: nameOptimum, choose: func(t *simulation.Tree) ([]float64, error) {
		values := simulation.MeanAccuracies(t.Table)
		return only(t, slices.Index(values, slices.Max(values))), nil
	}}
}

// OneStep returns the policy that looks one step ahead in the table: at each decision it takes the action that would be
// best if no other action followed. If the table lacks the sequence without further actions, the policy rates the
// action by the mean accuracy over all continuations. It breaks ties at random.
func OneStep() Policy {
	return named{name: nameOneStep, choose: func(t *simulation.Tree) ([]float64, error) {
		values := simulation.MeanAccuracies(t.Table)
		return ahead(t, func(node, choice int) float64 {
			return leftAlone(t, t.Nodes[node], t.Nodes[node].Next[choice], values)
		}), nil
	}}
}

// ahead draws among the best choices of each decision.
func ahead(t *simulation.Tree, value func(node, choice int) float64) []float64 {
	probabilities := make([][]float64, len(t.Nodes))
	for at, n := range t.Nodes {
		values := make([]float64, len(n.Next))
		for k := range values {
			values[k] = value(at, k)
		}
		probabilities[at] = evenly(len(values), largest(values))
	}
	return t.Spread(probabilities)
}

// tieRounding is the largest difference of sums of accuracies that is treated as rounding.
const tieRounding = 1e-9

// largest returns the indices of the largest values, equal up to rounding.
func largest(values []float64) (places []int) {
	most := slices.Max(values)
	for k, v := range values {
		if v >= most-tieRounding {
			places = append(places, k)
		}
	}
	return places
}

// evenly is a distribution over n that is uniform over some indices, which may repeat.
func evenly(n int, places []int) []float64 {
	shares := make([]float64, n)
	for _, k := range places {
		shares[k]++
	}
	for k := range shares {
		shares[k] /= float64(len(places)) // after counting, so that a single record has exactly 1
	}
	return shares
}

// leftAlone is the accuracy after a choice if no action follows it.
func leftAlone(t *simulation.Tree, n simulation.Node, next int, values []float64) float64 {
	for !n.Last {
		n = t.Nodes[next]
		rest := slices.IndexFunc(n.Choices, func(c decider.Choice) bool { return c.Action.Kind == "" })
		if rest < 0 {
			sum := 0.0
			for _, further := range n.Next {
				sum += leftAlone(t, n, further, values) / float64(len(n.Next))
			}
			return sum
		}
		next = n.Next[rest]
	}
	return values[next]
}

// OneEpoch returns the policy that takes, at each decision, the action with the highest accuracy at the first
// evaluation after it. It reads the accuracies from the table and is not charged the time of trying the actions, so it
// is an upper bound for rules that look one epoch ahead. It breaks ties at random.
func OneEpoch() Policy {
	return named{name: nameOneEpoch, choose: func(t *simulation.Tree) ([]float64, error) {
		if slices.ContainsFunc(t.Records, func(r tables.Record) bool { return len(r.After) == 0 }) {
			return nil, noSequence("the table has no values \"after\" (accuracy after a decision)")
		}
		return ahead(t, func(node, choice int) float64 {
			return afterOf(t, append(slices.Clip(t.Nodes[node].Prefix), t.Nodes[node].Actions()[choice]))
		}), nil
	}}
}

// afterOf is the accuracy at the first evaluation after a prefix's last action.
func afterOf(t *simulation.Tree, prefix []string) float64 {
	k := slices.IndexFunc(t.Records,
		func(r tables.Record) bool { return slices.Equal(r.Sequence[:len(prefix)], prefix) })
	return t.Records[k].After[len(prefix)-1]
}

// Plateau returns a policy that waits for a plateau of the loss. At each decision it takes a fixed action if the loss
// before the decision fell by at most a bound; otherwise it takes the action "none". The action and the bound are the
// pair with the smallest mean regret over the given trees. If several pairs have the smallest regret, their results are
// averaged.
func Plateau(trees []*simulation.Tree) (Policy, error) {
	bounds := fallBounds(trees)
	if bounds == nil {
		return nil, noSequence("no table has values \"fall\" (decrease of the training loss)")
	}
	var rules []Policy
	var values []float64
	for _, action := range offered(trees) {
		for _, bound := range bounds {
			p := plateau(action, bound)
			value, err := valueOf(p, trees)
			if errors.As(err, new(noSequence)) { // a tree does not offer the action none
				continue
			}
			if err != nil {
				return nil, err
			}
			rules, values = append(rules, p), append(values, value)
		}
	}
	if len(rules) == 0 {
		return nil, noSequence("no rule is possible in all tables")
	}
	best := largest(values)
	return named{name: namePlateau, ties: len(best), choose: func(t *simulation.Tree) ([]float64, error) {
		var records []int
		for _, k := range best {
			shares, err := rules[k].Distribution(t)
			if err != nil {
				return nil, err
			}
			records = append(records, slices.Index(shares, 1))
		}
		return evenly(len(t.Records), records), nil
	}}, nil
}

// valueOf is the sum of the accuracies of a policy that does not draw.
func valueOf(p Policy, trees []*simulation.Tree) (sum float64, err error) {
	for _, t := range trees {
		shares, err := p.Distribution(t)
		if err != nil {
			return 0, err
		}
		sum += simulation.MeanAccuracies(t.Table)[slices.Index(shares, 1)]
	}
	return sum, nil
}

// fallBounds returns bounds between the falls of the loss in trees; nil if none is known, as in tables of the original
// system. Before the first complete epoch of a job, its fall is unknown.
func fallBounds(trees []*simulation.Tree) []float64 {
	var falls []float64
	for _, t := range trees {
		for _, n := range t.Nodes {
			if n.Curve != (decider.Curve{}) {
				falls = append(falls, n.Curve.Fall)
			}
		}
	}
	if len(falls) == 0 {
		return nil
	}
	slices.Sort(falls)
	var bounds []float64
	for k := range plateauBounds {
		bounds = append(bounds, falls[(k+1)*(len(falls)-1)/plateauBounds])
	}
	return bounds
}

// Linear fits a linear model to the given trees, and returns the model's policy. The model scores each choice by the
// choice's features.
func Linear(trees []*simulation.Tree) (Policy, error) {
	o := learning.NewTransferOptions()
	o.Reward, o.Pool, o.Entropy, o.WeightDecay = learning.Points, 0, 0.01, 0.01
	l, err := learning.FitLinear(trees, o)
	if err != nil {
		return nil, err
	}
	return named{name: nameLinear, choose: func(t *simulation.Tree) ([]float64, error) {
		return only(t, l.Follow(t)), nil
	}}, nil
}

// Gradient returns the policy that takes, at each decision, the action with the largest gain per cost, as
// [decider.Gradient] does in a job. It needs tables with gains.
func Gradient() Policy {
	return named{name: nameGradient, choose: func(t *simulation.Tree) ([]float64, error) {
		if !hasGains([]*simulation.Tree{t}) {
			return nil, noSequence("the table has no gains of actions (simulate.gains)")
		}
		record, err := followOrRest(t, func(node int) int {
			n := t.Nodes[node]
			return slices.Index(n.Actions(), n.Steepest().String())
		})
		if err != nil {
			return nil, err
		}
		return only(t, record), nil
	}}
}

// hasGains reports whether all trees have the gains of actions.
func hasGains(trees []*simulation.Tree) bool {
	return !slices.ContainsFunc(trees, func(t *simulation.Tree) bool {
		return slices.ContainsFunc(t.Nodes, func(n simulation.Node) bool { return n.Gains == nil })
	})
}

// plateauBounds is the number of bounds that Plateau tries, spread over the existing falls.
const plateauBounds = 10

func plateau(action string, bound float64) Policy {
	return named{name: namePlateau, choose: func(t *simulation.Tree) ([]float64, error) {
		record, err := followOrRest(t, func(node int) int {
			n := t.Nodes[node]
			if n.Curve == (decider.Curve{}) || n.Curve.Fall > bound {
				return -1
			}
			return slices.Index(rolesOf(t, n.Actions()), action)
		})
		if err != nil {
			return nil, err
		}
		return only(t, record), nil
	}}
}

// Names of the baselines. Baselines that take a constant action are named separately and come last.
const (
	nameNever    = "never"
	nameRandom   = "random"
	nameOneStep  = "one step ahead"
	nameFixed    = "best fixed"
	nameSmoothed = "best fixed, smoothed"
	nameAction   = "best fixed action"
	nameOneEpoch = "one epoch ahead"
	namePlateau  = "grow on a plateau"
	nameLinear   = "linear model"
	nameGradient = "largest gain per cost"
	nameOptimum  = "optimum"
	nameAlways   = "always "
)

// BaselineNames lists the names of the baselines that do not read left-out tables. The baselines that follow nameNever
// in the list need tables that record the decrease of the loss. The last one also needs tables with gains.
var BaselineNames = []string{nameFixed, nameSmoothed, nameRandom, nameNever, nameAction, namePlateau, nameLinear,
	nameGradient}

// Baselines returns the baseline policies for tables that have the same actions as the trees in learn. Baselines with
// parameters, such as the best fixed sequence, are fitted to these trees, which should be the training tables of the
// learned policies.
func Baselines(learn []*simulation.Tree) ([]Policy, error) {
	if len(learn) == 0 {
		return nil, errors.New("compare policies: got no tables; expected at least one")
	}
	baselines := []Policy{Constant(nameNever, tables.None), Uniform()}
	for _, action := range repeatable(learn) {
		baselines = append(baselines, Constant(nameAlways+action, action))
	}
	baselines = append(baselines, OneStep())
	choose := []fitted{
		{nameFixed, func() (Policy, error) { return BestFixed(nameFixed, learn, false) }},
		{nameSmoothed, func() (Policy, error) { return BestFixed(nameSmoothed, learn, true) }},
	}
	if fallBounds(learn) != nil { // tables of graft's own, with actions of their own
		baselines = append(baselines, OneEpoch())
		if hasGains(learn) {
			baselines = append(baselines, Gradient())
		}
		choose = append(choose, fitted{nameAction, func() (Policy, error) { return BestAction(nameAction, learn) }},
			fitted{namePlateau, func() (Policy, error) { return Plateau(learn) }},
			fitted{nameLinear, func() (Policy, error) { return Linear(learn) }})
	}
	for _, one := range choose {
		p, err := one.policy()
		if err != nil {
			return nil, err
		}
		baselines = append(baselines, p)
	}
	return append(baselines, Oracle()), nil
}

// fitted is a baseline that is fitted to tables.
type fitted struct {
	name string
	fit  func() (Policy, error)
}

// policy fits the baseline. If the tables do not allow it, the policy cannot choose on any table, for this reason.
func (f fitted) policy() (Policy, error) {
	p, err := f.fit()
	if why := noSequence(""); errors.As(err, &why) {
		return named{name: f.name, choose: func(*simulation.Tree) ([]float64, error) { return nil, why }}, nil
	}
	return p, err
}

// repeatable returns the actions of trees that can be taken every time, except none.
func repeatable(trees []*simulation.Tree) (actions []string) {
	for _, t := range trees {
		for _, c := range t.Nodes[0].Choices {
			action := c.Action.String()
			if action != tables.None && !slices.Contains(actions, action) && same(t, action) >= 0 {
				actions = append(actions, action)
			}
		}
	}
	return actions
}
