package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"graft/decider"
	"graft/internal/validate"
	"graft/simulation"
	"graft/simulation/learning"
)

// Way is a way to learn, in a comparison of what was learned elsewhere.
type Way struct {
	Name string // empty is "policies"
	// Options lists options of learning; of several those are taken that do best in tables left
	// out of what is learned from. At least one.
	Options []learning.Options
}

// LeaveOutOptions say how policies are judged by tables that they did not learn from.
type LeaveOutOptions struct {
	By       By       // what is left out together; nil means ByScenario
	Ways     []Way    // to learn; none means one, of NewTransferOptions
	Seeds    []uint64 // one policy learns of each; none means 1 to 10
	Together int      // so many seeds vote together; zero means all, 1 lets none vote
	AtOnce   int      // policies that learn at a time; zero means 1
	Against  string   // the one of Rivals that differences are to; empty means the best fixed sequence
	// Tell is called each time that some policies have learned; nil means no callback.
	Tell func(LeaveOutProgress)
}

// LeaveOutProgress is the progress of leaving tables out.
type LeaveOutProgress struct {
	Group    string // that is left out now
	Groups   int    // left out before it
	Of       int    // groups in all
	Policies int    // that have learned, for all groups
	OfThem   int    // policies in all; those that tune are not counted
}

// EnsureDefaults fills in what zero stands for.
func (o *LeaveOutOptions) EnsureDefaults() {
	if o.By == nil {
		o.By = ByScenario
	}
	if len(o.Ways) == 0 {
		o.Ways = []Way{{Options: []learning.Options{learning.NewTransferOptions()}}}
	}
	for k := range o.Ways {
		o.Ways[k].Name = cmp.Or(o.Ways[k].Name, "policies")
	}
	if len(o.Seeds) == 0 {
		o.Seeds = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	}
	o.Together, o.AtOnce = cmp.Or(o.Together, len(o.Seeds)), cmp.Or(o.AtOnce, 1)
}

// Validate lists all that is wrong.
func (o LeaveOutOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Together < 0 || o.AtOnce < 0, "together is %d, and at once are %d; neither is negative", o.Together,
		o.AtOnce)
	for k, seed := range o.Seeds {
		faults.When(slices.Contains(o.Seeds[:k], seed), "the seed %d stands twice", seed)
	}
	if o.Against != "" && !slices.Contains(Rivals, o.Against) {
		faults = append(faults, fmt.Errorf("against is %q; must be one of: %s", o.Against, strings.Join(Rivals, "; ")))
	}
	for k, way := range o.Ways {
		faults.When(len(way.Options) == 0, "%s: it has no options", way.Name)
		faults.When(slices.ContainsFunc(o.Ways[:k], func(w Way) bool { return w.Name == way.Name }),
			"%s: two ways to learn have this name", way.Name)
		for _, options := range way.Options {
			faults = append(faults, options.Validate())
		}
	}
	return errors.Join(faults...)
}

// LeftOut is a group of tables, and what was learned from the others.
type LeftOut struct {
	Group   string   `json:"group"`        // what was left out
	Tables  []string `json:"tables"`       // that are in it
	Learned []string `json:"learned_from"` // names of the other tables
	// Tuned is the place of the options that were taken, for each way to learn.
	Tuned []int `json:"tuned"`
}

// LeaveOutReport compares policies and baselines on tables that they have not seen.
type LeaveOutReport struct {
	Groups []LeftOut `json:"groups"` // what was left out in turn
	*Comparison
}

// CompareLeftOut leaves each group of trees out in turn, lets policies learn from all
// others, and compares them on the group with baselines chosen on the others. Differences
// are to the best fixed sequence of the others.
func CompareLeftOut(ctx context.Context, trees []*simulation.Tree, o LeaveOutOptions) (*LeaveOutReport, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("leave tables out: %w", err)
	}
	if slices.Index(Rivals, o.Against) > slices.Index(Rivals, nameNever) && fallBounds(trees) == nil {
		return nil, fmt.Errorf("leave tables out: there is no %s, since a table does not say how the loss fell; "+
			"compare with another one", o.Against)
	}
	l := &leaving{LeaveOutOptions: o}
	l.now.Of = len(groupsOf(trees, o.By))
	l.now.OfThem = l.now.Of * len(o.Seeds) * len(o.Ways)
	err := leaveOut(trees, o.By, func(group string, inside, outside []*simulation.Tree) error {
		return l.group(ctx, group, inside, outside)
	})
	if err != nil {
		return nil, err
	}
	comparison, err := l.comparer.result(cmp.Or(o.Against, nameFixed))
	return &LeaveOutReport{l.groups, comparison}, err
}

type leaving struct {
	LeaveOutOptions
	comparer comparer
	groups   []LeftOut
	now      LeaveOutProgress
}

// group lets policies learn from the trees inside, and judges them by those outside.
func (l *leaving) group(ctx context.Context, group string, inside, outside []*simulation.Tree) error {
	l.now.Group = group
	left := LeftOut{Group: group, Tables: treeNames(outside), Learned: treeNames(inside)}
	var candidates []Candidate
	for _, way := range l.Ways {
		best, err := 0, error(nil)
		if len(way.Options) > 1 { // by the first seed
			best, _, err = Tune(ctx, inside, way.Options, l.Seeds[:1], l.AtOnce)
		}
		if err != nil {
			return err
		}
		left.Tuned = append(left.Tuned, best)
		more, err := l.learn(ctx, inside, way.Name, way.Options[best])
		if err != nil {
			return err
		}
		candidates = append(candidates, more...)
	}
	baselines, err := BaselineCandidates(inside, SeenOthers)
	if err != nil {
		return err
	}
	for _, t := range outside {
		if err := l.comparer.add(t, group, append(candidates, baselines...)); err != nil {
			return err
		}
	}
	l.groups = append(l.groups, left)
	l.now.Groups++
	return nil
}

// learn makes policies of each seed, and lets them vote.
func (l *leaving) learn(ctx context.Context, inside []*simulation.Tree, name string,
	o learning.Options) ([]Candidate, error) {
	var policies []*decider.Structural
	for at := 0; at < len(l.Seeds); at += l.AtOnce {
		some, err := learning.Learn(ctx, inside, nil, o, l.Seeds[at:min(at+l.AtOnce, len(l.Seeds))], l.AtOnce)
		if err != nil {
			return nil, err
		}
		policies = append(policies, some...)
		l.now.Policies += len(some)
		if l.Tell != nil {
			l.Tell(l.now)
		}
	}
	votes, err := l.votes(policies)
	return SeedCandidates(name, votes, policies, SeenOthers), err
}

// votes joins policies, so many together.
func (l *leaving) votes(policies []*decider.Structural) (votes []*decider.Structural, err error) {
	for k := 0; l.Together > 1 && k+l.Together <= len(policies) && err == nil; k += l.Together {
		var joined *decider.Structural
		joined, err = decider.JoinStructural(policies[k : k+l.Together]...)
		votes = append(votes, joined)
	}
	return votes, err
}

// SeedCandidates are policies that differ in their seed alone: those that vote, if any,
// and each by itself. A single one is a policy like any other.
func SeedCandidates(name string, votes, policies []*decider.Structural, seen string) []Candidate {
	if len(policies) == 1 {
		return []Candidate{{Name: name, Role: RolePolicy, Seen: seen,
			Policies: []Policy{Structural(name, policies[0])}}}
	}
	vote := Candidate{Name: name + ", voting", Role: RoleVote, Seen: seen}
	for _, p := range votes {
		vote.Policies = append(vote.Policies, Structural(vote.Name, p))
	}
	alone := Candidate{Name: name + ", each seed", Role: RolePolicy, Seen: seen}
	for _, p := range policies {
		alone.Policies = append(alone.Policies, Structural(alone.Name, p))
	}
	if len(votes) == 0 {
		return []Candidate{alone}
	}
	return []Candidate{vote, alone}
}

func treeNames(trees []*simulation.Tree) (names []string) {
	for _, t := range trees {
		names = append(names, t.Name)
	}
	return names
}
