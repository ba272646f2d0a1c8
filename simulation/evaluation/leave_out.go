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

// Way is a learning method to compare on tables that are excluded from its training.
type Way struct {
	Name string // name in reports; empty means "policies"
	// Options lists at least one set of learning options. If there are several, cross-validation on the training tables
	// selects the best.
	Options []learning.Options
}

// LeaveOutOptions holds the options for evaluating policies on tables that are excluded from their training.
type LeaveOutOptions struct {
	By       By       // groups of trees to leave out together; nil means ByScenario
	Ways     []Way    // learning methods; empty means a single method with NewTransferOptions
	Seeds    []uint64 // seeds of the policies, one policy per seed; empty means 1 to 10
	Together int      // number of seeds that vote together; zero means all seeds, 1 means no votes
	AtOnce   int      // number of policies that learn in parallel; zero means 1
	// Baselines that policies are compared with, of BaselineNames. Differences in standings are relative to the first.
	// With several, Comparison.Contrasts compares each policy with each. Empty means the best fixed sequence.
	Against []string
	// Tell receives the progress each time that a batch of policies, which learn in parallel, has finished. Nil
	// disables the callback.
	Tell func(LeaveOutProgress)
}

// LeaveOutProgress reports the progress of a leave-one-out evaluation.
type LeaveOutProgress struct {
	Group    string // group that is currently left out
	Groups   int    // number of finished groups
	Of       int    // total number of groups
	Policies int    // number of policies that have learned, over all groups
	OfThem   int    // total number of policies, without policies for tuning
}

// EnsureDefaults replaces zero values with defaults.
func (o *LeaveOutOptions) EnsureDefaults() {
	if len(o.Ways) == 0 {
		o.Ways = []Way{{Options: []learning.Options{learning.NewTransferOptions()}}}
	}
	for k := range o.Ways {
		o.Ways[k].Name = cmp.Or(o.Ways[k].Name, "policies")
	}
	if len(o.Seeds) == 0 {
		o.Seeds = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	}
	if len(o.Against) == 0 {
		o.Against = []string{nameFixed}
	}
	o.Together, o.AtOnce = cmp.Or(o.Together, len(o.Seeds)), cmp.Or(o.AtOnce, 1)
}

// Validate returns an error that lists every invalid option.
func (o LeaveOutOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Together < 0 || o.AtOnce < 0, "Together is %d and AtOnce is %d; both must be at least 0", o.Together,
		o.AtOnce)
	for k, seed := range o.Seeds {
		faults.When(slices.Contains(o.Seeds[:k], seed), "duplicate seed %d; remove one", seed)
	}
	faults = append(faults, CheckAgainst(o.Against))
	for k, way := range o.Ways {
		faults.When(len(way.Options) == 0, "%s: got no options; expected at least one set", way.Name)
		faults.When(slices.ContainsFunc(o.Ways[:k], func(w Way) bool { return w.Name == way.Name }),
			"%s: duplicate learning method; rename one", way.Name)
		for _, options := range way.Options {
			faults = append(faults, options.Validate())
		}
	}
	return errors.Join(faults...)
}

// CheckAgainst returns an error if the names are not different names of baselines.
func CheckAgainst(names []string) error {
	var faults validate.Faults
	for k, name := range names {
		faults.Unless(slices.Contains(BaselineNames, name), "option \"against\" is %q; expected one of: %s", name,
			strings.Join(BaselineNames, "; "))
		faults.When(slices.Contains(names[:k], name), "option \"against\" has %q twice; remove one", name)
	}
	return errors.Join(faults...)
}

// LeftOut describes a group of tables that was excluded from training, and the other tables, from which policies
// learned.
type LeftOut struct {
	Group   string   `json:"group"`        // name of the group
	Tables  []string `json:"tables"`       // names of the tables in the group
	Learned []string `json:"learned_from"` // names of the other tables
	// Tuned holds the index of the selected options for each learning method.
	Tuned []int `json:"tuned"`
}

// LeaveOutReport holds the comparison of policies and baselines on tables outside of their training data.
type LeaveOutReport struct {
	Groups []LeftOut `json:"groups"` // groups in the order in which they were left out
	*Comparison
}

// CompareLeftOut excludes each group of trees in turn and trains policies on all other trees. On the excluded group, it
// compares these policies with baselines that were selected on the other trees.
func CompareLeftOut(ctx context.Context, trees []*simulation.Tree, o LeaveOutOptions) (*LeaveOutReport, error) {
	o.EnsureDefaults()
	if o.By == nil {
		o.By = ByScenario(trees)
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("leave tables out: %w", err)
	}
	if err := o.available(trees); err != nil {
		return nil, fmt.Errorf("leave tables out: %w", err)
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
	comparison, err := l.comparer.result(o.Against[0])
	if err == nil && len(o.Against) > 1 {
		comparison.Contrasts = l.comparer.contrasts(o.Against)
	}
	return &LeaveOutReport{l.groups, comparison}, err
}

// available returns an error if the tables lack the data of a baseline that policies are compared with.
func (o LeaveOutOptions) available(trees []*simulation.Tree) error {
	var faults validate.Faults
	for _, name := range o.Against {
		lacks := ""
		switch {
		case slices.Index(BaselineNames, name) > slices.Index(BaselineNames, nameNever) && fallBounds(trees) == nil:
			lacks = "no table has values \"fall\" (decrease of the training loss)"
		case name == nameGradient && !hasGains(trees):
			lacks = "a table has no gains of actions (simulate.gains)"
		}
		faults.When(lacks != "", "baseline %s is not available, because %s; compare with another baseline", name,
			lacks)
	}
	return errors.Join(faults...)
}

type leaving struct {
	LeaveOutOptions
	comparer comparer
	groups   []LeftOut
	now      LeaveOutProgress
}

// group trains policies on the trees inside, and evaluates them on the trees outside.
func (l *leaving) group(ctx context.Context, group string, inside, outside []*simulation.Tree) error {
	l.now.Group = group
	left := LeftOut{Group: group, Tables: treeNames(outside), Learned: treeNames(inside)}
	var candidates []Candidate
	for _, way := range l.Ways {
		best, err := 0, error(nil)
		if len(way.Options) > 1 { // with the first seed
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

// learn trains a policy per seed, and joins them to votes.
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

// votes joins policies in groups of Together.
func (l *leaving) votes(policies []*decider.Structural) (votes []*decider.Structural, err error) {
	for k := 0; l.Together > 1 && k+l.Together <= len(policies) && err == nil; k += l.Together {
		var joined *decider.Structural
		joined, err = decider.JoinStructural(policies[k : k+l.Together]...)
		votes = append(votes, joined)
	}
	return votes, err
}

// SeedCandidates returns the candidates of a comparison for policies that differ only in their seed. The policies are
// one candidate, whose result is their mean. The argument votes holds policies that each decide by a vote of several
// seeds; if there are any, they are a second candidate. For a single policy, votes is ignored.
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
