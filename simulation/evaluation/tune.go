package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"graft/simulation"
	"graft/simulation/learning"
)

// By returns the name of a tree's group. All trees of a group are left out together. A tree whose group has an empty
// name is never left out.
type By func(t *simulation.Tree) string

// ByHeld leaves out all held-out trees as one group, and no other trees.
func ByHeld(held []*simulation.Tree) By {
	return func(t *simulation.Tree) string {
		if slices.Contains(held, t) {
			return "held out"
		}
		return ""
	}
}

// ByScenario leaves out one scenario at a time, with all of its trees. Trees of one scenario may have different names
// and seeds, see [tables.Scenario.Content]. Trees with the same name are also one scenario. The name of the group is
// the name of its first tree.
func ByScenario(trees []*simulation.Tree) By {
	groups := map[string]string{} // group of each name and of each content
	for _, t := range trees {
		keys := []string{"name " + t.Name}
		if content := t.Content(); content != "" {
			keys = append(keys, "content "+content)
		}
		joinGroups(groups, t.Name, keys)
	}
	return func(t *simulation.Tree) string { return cmp.Or(groups["name "+t.Name], t.Name) }
}

// joinGroups puts keys into one group: into the first known group of a key, or else into a new group with the given
// name. Other groups of the keys are joined with it.
func joinGroups(groups map[string]string, name string, keys []string) {
	var known []string
	for _, key := range keys {
		if group, ok := groups[key]; ok {
			known = append(known, group)
		}
	}
	if len(known) > 0 {
		name = known[0]
	}
	for key, group := range groups {
		if slices.Contains(known, group) {
			groups[key] = name
		}
	}
	for _, key := range keys {
		groups[key] = name
	}
}

// ByNetwork groups trees by network and leaves out one group at a time.
func ByNetwork(t *simulation.Tree) string { return t.Network }

// ByDataset groups trees by dataset and leaves out one group at a time. If the tables identify their images, datasets
// that have the same name but different images count as different datasets.
func ByDataset(t *simulation.Tree) string {
	if t.Origin == nil || t.Origin.Data == "" {
		return t.Dataset
	}
	return fmt.Sprintf("%s %.6s", t.Dataset, t.Origin.Data)
}

// ByBudget groups trees by budget and leaves out one group at a time.
func ByBudget(t *simulation.Tree) string { return fmt.Sprintf("%g s", t.Budget) }

// leaveOut visits each group of trees with all others.
func leaveOut(trees []*simulation.Tree, by By,
	visit func(group string, inside, outside []*simulation.Tree) error) error {
	groups := groupsOf(trees, by)
	stay := slices.ContainsFunc(trees, func(t *simulation.Tree) bool { return by(t) == "" })
	if len(groups) < 2 && !(stay && len(groups) == 1) {
		return errors.New("leave one out: got fewer than two groups of tables; add tables")
	}
	if err := twice(trees, by); err != nil {
		return err
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

// twice returns an error if a table is in two groups under two names: it would be in the training data while it is left
// out. Tables need not be identical, see [tables.Table.SameRuns].
func twice(trees []*simulation.Tree, by By) error {
	for k, t := range trees {
		for _, other := range trees[:k] {
			if by(other) != by(t) && other.SameRuns(t.Table) {
				return fmt.Errorf("leave one out: the tables %s and %s share at least half of their runs; keep the "+
					"larger one, or merge them", other.Name, t.Name)
			}
		}
	}
	return nil
}

// groupsOf returns the names of the groups that are left out, in the order of the trees.
func groupsOf(trees []*simulation.Tree, by By) (names []string) {
	for _, t := range trees {
		if name := by(t); name != "" && !slices.Contains(names, name) {
			names = append(names, by(t))
		}
	}
	return names
}

// tuneParts is the number of parts that Tune leaves out in turn. Ten are usual (Kohavi, A Study of Cross-Validation,
// IJCAI 1995).
const tuneParts = 10

// byPart assigns scenarios with their trees to parts, or leaves each scenario out alone if there are few.
func byPart(trees []*simulation.Tree) By {
	by := ByScenario(trees)
	scenarios := groupsOf(trees, by)
	return func(t *simulation.Tree) string { return fmt.Sprint(1 + slices.Index(scenarios, by(t))%tuneParts) }
}

// Tune selects options by cross-validation with at most ten folds. It excludes each fold of the trees from training in
// turn, and returns the index of the options whose policies have the smallest regret on the excluded trees, and the
// regret for each set of options. Regrets are means over trees and seeds, in points; they are computed from smoothed
// accuracies, which are less noisy.
func Tune(ctx context.Context, trees []*simulation.Tree, options []learning.Options, seeds []uint64,
	atOnce int) (best int, regrets []float64, err error) {
	for k, o := range options {
		var all []Score
		err := leaveOut(trees, byPart(trees), func(_ string, inside, outside []*simulation.Tree) error {
			learned, err := learning.Learn(ctx, inside, nil, o, seeds, atOnce)
			if err != nil {
				return err
			}
			var policies []Policy
			for k, p := range learned {
				policies = append(policies, Structural(fmt.Sprintf("policy %d", k), p))
			}
			scores, err := Evaluate(outside, policies...)
			all = append(all, scores...)
			return err
		})
		if err != nil {
			return 0, nil, fmt.Errorf("tune with option set %d: %w", k, err)
		}
		sum := 0.0
		for _, s := range all {
			sum += s.Smoothed / float64(len(all))
		}
		if regrets = append(regrets, sum); sum < regrets[best] {
			best = k
		}
	}
	return best, regrets, nil
}
