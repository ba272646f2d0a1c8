package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"graft/decider"
	"graft/files"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation"
)

// contender is a policy that is evaluated.
type contender struct {
	path, name string
	kind       runs.PolicyOrigin
	entrants   []simulation.Entrant // the first is whose decisions are shown
	structural *decider.Structural  // nil for one of the original's
	legacy     *decider.LegacyPolicy
}

// readPolicies reads all that are named.
func (o evaluateOptions) readPolicies(ctx context.Context) ([]*contender, error) {
	var all []*contender
	names := policyNames(o.policies)
	for k, path := range o.policies {
		kind, err := kindOfPolicy(path)
		if err != nil {
			return nil, unreadable(err)
		}
		c := &contender{path: path, name: names[k], kind: kind}
		if kind == runs.StructuralPolicy {
			err = c.readStructural()
		} else {
			err = c.readLegacy(ctx, o)
		}
		if err != nil {
			return nil, unreadable(err)
		}
		all = append(all, c)
	}
	if slices.ContainsFunc(all, func(c *contender) bool { return c.kind == runs.OriginalPolicy }) {
		return all, nil
	}
	if o.vocab != "" || o.prefix != "" {
		return nil, failure.Usagef("--vocab and --prefix are for policies of the original's, and %s is a structural policy, which reads any network; leave them away", all[0].path)
	}
	return all, nil
}

// policyNames are the last parts of paths, or all of them where those are alike.
func policyNames(paths []string) []string {
	counts := map[string]int{}
	for _, path := range paths {
		counts[filepath.Base(path)]++
	}
	names := make([]string, len(paths))
	for k, path := range paths {
		if names[k] = filepath.Base(path); counts[names[k]] > 1 {
			names[k] = filepath.Clean(path)
		}
	}
	return names
}

// samePath says whether two paths lead to the same place.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// kindOfPolicy tells a structural policy from one of the original's, by what is in the
// folder or by the header of the file.
func kindOfPolicy(path string) (runs.PolicyOrigin, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read policy: %w; name its file, or a folder with its file %s or %s", err, runs.VoteFile, decider.LegacyPolicyFile)
	}
	if !info.IsDir() {
		set, err := runs.ReadSet(path)
		if err != nil {
			return "", err
		}
		if decider.IsStructural(set) {
			return runs.StructuralPolicy, nil
		}
		return runs.OriginalPolicy, nil
	}
	if runs.IsFile(files.OS{}, filepath.Join(path, runs.VoteFile)) {
		return runs.StructuralPolicy, nil
	}
	if _, err := os.Stat(filepath.Join(path, runs.SeedFolder)); err == nil && !runs.IsFile(files.OS{}, filepath.Join(path, decider.LegacyPolicyFile)) {
		return "", fmt.Errorf("read policy %s: %w: it has no %s, so learning has not ended; go on with 'graft learn --resume'", path, fs.ErrNotExist, runs.VoteFile)
	}
	return runs.OriginalPolicy, nil
}

// readLegacy reads a policy of the original's.
func (c *contender) readLegacy(ctx context.Context, o evaluateOptions) error {
	if o.vocab == "" {
		return o.needsVocab(c.path)
	}
	p, _, err := o.readOriginal(c.path)
	if err != nil {
		return err
	}
	c.legacy = p
	chooser := simulation.OfWeigher(ctx, c.name, simulation.OfLegacy{LegacyPolicy: p})
	c.entrants = []simulation.Entrant{{Name: c.name, Role: simulation.RolePolicy, Choosers: []simulation.Chooser{chooser}}}
	return nil
}

// readStructural reads a file, or a run's folder: the policy in which all seeds vote,
// and those of each seed.
func (c *contender) readStructural() error {
	path, seeds := c.path, []string(nil)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(c.path, runs.VoteFile)
		if seeds, err = runs.SeedFiles(c.path); err != nil {
			return err
		}
	}
	p, err := runs.ReadStructuralFile(path)
	if err != nil {
		return err
	}
	c.structural = p
	policies := membersOf(p)
	for k, file := range seeds {
		if k == 0 {
			policies = nil
		}
		one, err := runs.ReadStructuralFile(file)
		if err != nil {
			return err
		}
		policies = append(policies, one)
	}
	c.entrants = simulation.SeedEntrants(c.name, []*decider.Structural{p}, policies, "")
	return nil
}

// membersOf are the policies that vote in one.
func membersOf(p *decider.Structural) []*decider.Structural {
	var all []*decider.Structural
	for _, m := range p.Members {
		one := *p
		one.Members = []decider.Member{m}
		all = append(all, &one)
	}
	return all
}

// withRivals are all who are compared. The best fixed sequence has seen the tables.
func withRivals(contenders []*contender, trees []*simulation.Tree) ([]simulation.Entrant, error) {
	var entrants []simulation.Entrant
	for _, c := range contenders {
		entrants = append(entrants, c.entrants...)
	}
	rivals, err := simulation.RivalEntrants(trees, simulation.SeenThese)
	for k, e := range entrants {
		taken := slices.Concat(entrants[:k], rivals)
		if slices.ContainsFunc(taken, func(o simulation.Entrant) bool { return o.Name == e.Name }) {
			err = errors.Join(err, failure.Usagef("--policy: %q is the name of two who are compared; name the policy by another path", e.Name))
		}
	}
	return append(entrants, rivals...), err
}
