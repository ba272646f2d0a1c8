package evaluation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"graft/decider"
	"graft/simulation"
	"graft/simulation/learning"
)

// By says what is left out together.
type By func(t *simulation.Tree) string

// ByScenario leaves one tree out at a time.
func ByScenario(t *simulation.Tree) string { return t.Name }

// ByNetwork leaves all trees of a network out at a time.
func ByNetwork(t *simulation.Tree) string { return t.Network }

// LeaveOut says how choosers do in scenarios that they did not learn from: for each
// group of trees, learn makes choosers from all others, and they are assessed on the
// group. Learn never sees the group, so what it tunes, it tunes on the others.
func LeaveOut(ctx context.Context, trees []*simulation.Tree, by By, learn func(ctx context.Context, trees []*simulation.Tree) ([]Policy, error)) ([]Score, error) {
	var all []Score
	err := leaveOut(trees, by, func(_ string, inside, outside []*simulation.Tree) error {
		choosers, err := learn(ctx, inside)
		if err != nil {
			return err
		}
		verdicts, err := Evaluate(outside, choosers...)
		all = append(all, verdicts...)
		return err
	})
	return all, err
}

// leaveOut visits each group of trees with all others.
func leaveOut(trees []*simulation.Tree, by By, visit func(group string, inside, outside []*simulation.Tree) error) error {
	groups := groupsOf(trees, by)
	if len(groups) < 2 {
		return errors.New("leave one out: there are no two groups of tables; give more tables")
	}
	for _, group := range groups {
		var inside, outside []*simulation.Tree
		for _, t := range trees {
			if by(t) == group {
				outside = append(outside, t)
			} else {
				inside = append(inside, t)
			}
		}
		if err := visit(group, inside, outside); err != nil {
			return fmt.Errorf("leave %s out: %w", group, err)
		}
	}
	return nil
}

// groupsOf are the groups' names, in the order of the trees.
func groupsOf(trees []*simulation.Tree, by By) (names []string) {
	for _, t := range trees {
		if !slices.Contains(names, by(t)) {
			names = append(names, by(t))
		}
	}
	return names
}

// Tune picks among options the ones whose policies do best in trees that they did not
// learn from: each tree is left out in turn. What they do is read from the smoothed
// tables, which are less noisy. The regrets are means over trees and seeds, in points.
func Tune(ctx context.Context, trees []*simulation.Tree, options []learning.Options, seeds []uint64, atOnce int) (best int, regrets []float64, err error) {
	for k, o := range options {
		verdicts, err := LeaveOut(ctx, trees, ByScenario, func(ctx context.Context, inside []*simulation.Tree) ([]Policy, error) {
			policies, err := learning.Learn(ctx, inside, nil, o, seeds, atOnce)
			if err != nil {
				return nil, err
			}
			return ofPolicies(policies), nil
		})
		if err != nil {
			return 0, nil, fmt.Errorf("tune, options %d: %w", k, err)
		}
		sum := 0.0
		for _, v := range verdicts {
			sum += v.Smoothed / float64(len(verdicts))
		}
		if regrets = append(regrets, sum); sum < regrets[best] {
			best = k
		}
	}
	return best, regrets, nil
}

func ofPolicies(policies []*decider.Structural) []Policy {
	var choosers []Policy
	for k, p := range policies {
		choosers = append(choosers, Structural(fmt.Sprintf("policy %d", k), p))
	}
	return choosers
}
