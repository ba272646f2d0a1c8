package evaluation

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/decider"
	"graft/simulation"
	"graft/simulation/tables"
)

type named struct {
	name   string
	choose func(t *simulation.Tree) ([]float64, error)
}

// Name returns its name.
func (n named) Name() string { return n.name }

// Distribution calls the function.
func (n named) Distribution(t *simulation.Tree) ([]float64, error) { return n.choose(t) }

// only is the distribution of a single record.
func only(t *simulation.Tree, record int) []float64 {
	shares := make([]float64, len(t.Records))
	shares[record] = 1
	return shares
}

// noSequence says that a table lacks the sequence of a policy.
type noSequence string

// Error says which.
func (n noSequence) Error() string { return string(n) }

// Constant takes the same action at every decision; with "none" it never adapts.
func Constant(name, action string) Policy {
	return named{name, func(t *simulation.Tree) ([]float64, error) {
		record := same(t, action)
		if record < 0 {
			return nil, noSequence("the table has no sequence of " + action + " alone")
		}
		return only(t, record), nil
	}}
}

// Uniform draws among all sequences.
func Uniform() Policy {
	return named{nameRandom, func(t *simulation.Tree) ([]float64, error) {
		shares := make([]float64, len(t.Records))
		for k := range shares {
			shares[k] = 1 / float64(len(shares))
		}
		return shares, nil
	}}
}

// Oracle takes the best sequence of the table itself: the upper bound.
func Oracle() Policy {
	return named{nameOptimum, func(t *simulation.Tree) ([]float64, error) {
		values := simulation.MeanAccuracies(t.Table)
		return only(t, slices.Index(values, slices.Max(values))), nil
	}}
}

// OneStep knows the table and looks one step ahead: at each decision it takes the action
// that would be best if the network were left alone afterwards or, where the table does
// not say, on average over what could follow.
func OneStep() Policy {
	return named{nameOneStep, func(t *simulation.Tree) ([]float64, error) {
		values := simulation.MeanAccuracies(t.Table)
		return only(t, t.Follow(func(at int) int {
			best, most := 0, math.Inf(-1)
			for k, next := range t.Nodes[at].Next {
				if v := leftAlone(t, t.Nodes[at], next, values); v > most {
					best, most = k, v
				}
			}
			return best
		})), nil
	}}
}

// leftAlone is the accuracy that a choice leads to where nothing is done after it.
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

// BestFixed takes the one sequence with the least mean regret over some trees, on every
// tree; smoothed ranks by the smoothed tables in place of single runs.
func BestFixed(name string, trees []*simulation.Tree, smoothed bool) (Policy, error) {
	sums, counts := map[string]float64{}, map[string]int{}
	for _, t := range trees {
		values := simulation.MeanAccuracies(t.Table)
		if smoothed {
			values = simulation.Smoothed(t.Table)
		}
		for k, v := range values {
			sums[tables.Tuple(t.Records[k].Sequence)] += slices.Max(values) - v
			counts[tables.Tuple(t.Records[k].Sequence)]++
		}
	}
	best, least := "", math.Inf(1)
	for _, r := range trees[0].Records {
		if key := tables.Tuple(r.Sequence); counts[key] == len(trees) && sums[key] < least {
			best, least = key, sums[key]
		}
	}
	if best == "" {
		return nil, fmt.Errorf("%s: %w", name, noSequence("no sequence is in all of the tables"))
	}
	return named{name, func(t *simulation.Tree) ([]float64, error) {
		record := slices.IndexFunc(t.Records, func(r tables.Record) bool { return tables.Tuple(r.Sequence) == best })
		if record < 0 {
			return nil, noSequence("the table has no sequence " + best)
		}
		return only(t, record), nil
	}}, nil
}

// The names of the baselines; an action that is always taken has its own behind the last.
const (
	nameNever    = "never"
	nameRandom   = "random"
	nameOneStep  = "one step ahead"
	nameFixed    = "best fixed"
	nameSmoothed = "best fixed, smoothed"
	nameOptimum  = "optimum"
	nameAlways   = "always "
)

// Baselines returns the policies that need no learning, for tables with these actions,
// and the best fixed sequence over the trees that a policy learns from, where one is in
// all of them.
func Baselines(learn []*simulation.Tree) ([]Policy, error) {
	if len(learn) == 0 {
		return nil, errors.New("compare: there is no table; give some")
	}
	baselines := []Policy{Constant(nameNever, tables.None), Uniform()}
	for _, action := range repeatable(learn) {
		baselines = append(baselines, Constant(nameAlways+action, action))
	}
	baselines = append(baselines, OneStep())
	for _, smoothed := range []bool{false, true} {
		name := nameFixed
		if smoothed {
			name = nameSmoothed
		}
		fixed, err := BestFixed(name, learn, smoothed)
		if errors.As(err, new(noSequence)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		baselines = append(baselines, fixed)
	}
	return append(baselines, Oracle()), nil
}

// repeatable are the actions of trees that can be taken each time, but for none.
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
