package simulation

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/decider"
)

// named is a chooser made of a function.
type named struct {
	name   string
	choose func(t *Tree) ([]float64, error)
}

// Name is what it is called.
func (n named) Name() string { return n.name }

// Choose calls the function.
func (n named) Choose(t *Tree) ([]float64, error) { return n.choose(t) }

// only is the distribution of one record.
func (t *Tree) only(record int) []float64 {
	shares := make([]float64, len(t.Records))
	shares[record] = 1
	return shares
}

// noSequence says that a table has not what a chooser takes in any.
type noSequence string

// Error says which.
func (n noSequence) Error() string { return string(n) }

// Always takes the same action each time; "none" never adapts.
func Always(name, action string) Chooser {
	return named{name, func(t *Tree) ([]float64, error) {
		record := t.same(action)
		if record < 0 {
			return nil, noSequence("the table has no sequence of " + action + " alone")
		}
		return t.only(record), nil
	}}
}

// Uniform draws among all sequences.
func Uniform() Chooser {
	return named{nameRandom, func(t *Tree) ([]float64, error) {
		shares := make([]float64, len(t.Records))
		for k := range shares {
			shares[k] = 1 / float64(len(shares))
		}
		return shares, nil
	}}
}

// Optimum is the best sequence of the table itself: nobody can do better.
func Optimum() Chooser {
	return named{nameOptimum, func(t *Tree) ([]float64, error) {
		values := meanAccuracies(t.Table)
		return t.only(slices.Index(values, slices.Max(values))), nil
	}}
}

// OneStep knows the table but looks one step ahead: at each decision it takes the
// action that would be best if the network were left alone afterwards or, where the
// table does not say, on average over what could follow.
func OneStep() Chooser {
	return named{nameOneStep, func(t *Tree) ([]float64, error) {
		values := meanAccuracies(t.Table)
		return t.only(t.follow(func(at int) int {
			best, most := 0, math.Inf(-1)
			for k, next := range t.Nodes[at].Next {
				if v := t.alone(t.Nodes[at], next, values); v > most {
					best, most = k, v
				}
			}
			return best
		})), nil
	}}
}

// alone is what a choice leads to where nothing is done after it.
func (t *Tree) alone(n Node, next int, values []float64) float64 {
	for !n.Last {
		n = t.Nodes[next]
		rest := slices.IndexFunc(n.Choices, func(c decider.Choice) bool { return c.Action.Kind == "" })
		if rest < 0 {
			sum := 0.0
			for _, further := range n.Next {
				sum += t.alone(n, further, values) / float64(len(n.Next))
			}
			return sum
		}
		next = n.Next[rest]
	}
	return values[next]
}

// BestFixed takes the one sequence that has the least regret on average over some
// trees, wherever it is asked; smoothed goes by the tables' laws in place of single
// runs.
func BestFixed(name string, trees []*Tree, smoothed bool) (Chooser, error) {
	sums, counts := map[string]float64{}, map[string]int{}
	for _, t := range trees {
		values := meanAccuracies(t.Table)
		if smoothed {
			values = Smoothed(t.Table)
		}
		for k, v := range values {
			sums[word(t.Records[k].Sequence)] += slices.Max(values) - v
			counts[word(t.Records[k].Sequence)]++
		}
	}
	best, least := "", math.Inf(1)
	for _, r := range trees[0].Records {
		if key := word(r.Sequence); counts[key] == len(trees) && sums[key] < least {
			best, least = key, sums[key]
		}
	}
	if best == "" {
		return nil, fmt.Errorf("%s: %w", name, noSequence("no sequence is in all of the tables"))
	}
	return named{name, func(t *Tree) ([]float64, error) {
		record := slices.IndexFunc(t.Records, func(r Record) bool { return word(r.Sequence) == best })
		if record < 0 {
			return nil, noSequence("the table has no sequence " + best)
		}
		return t.only(record), nil
	}}, nil
}

// The names of the rivals; an action that is always taken has its own behind the last.
const (
	nameNever    = "never"
	nameRandom   = "random"
	nameOneStep  = "one step ahead"
	nameFixed    = "best fixed"
	nameSmoothed = "best fixed, smoothed"
	nameOptimum  = "optimum"
	nameAlways   = "always "
)

// Rivals are the choosers that need no learning, for tables with these actions, and
// the best fixed sequence over the trees that a policy learns from, where one is in
// all of them.
func Rivals(learn []*Tree) ([]Chooser, error) {
	if len(learn) == 0 {
		return nil, errors.New("compare: there is no table; give some")
	}
	rivals := []Chooser{Always(nameNever, none), Uniform()}
	for _, action := range repeatable(learn) {
		rivals = append(rivals, Always(nameAlways+action, action))
	}
	rivals = append(rivals, OneStep())
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
		rivals = append(rivals, fixed)
	}
	return append(rivals, Optimum()), nil
}

// repeatable are the actions of trees that can be taken each time, but for none.
func repeatable(trees []*Tree) (actions []string) {
	for _, t := range trees {
		for _, c := range t.Nodes[0].Choices {
			action := c.Action.String()
			if action != none && !slices.Contains(actions, action) && t.same(action) >= 0 {
				actions = append(actions, action)
			}
		}
	}
	return actions
}
