package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/decider"
	"graft/files"
	"graft/original"
	"graft/original/bilstm"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/torch/weights"
)

// policyKind says whose a policy is.
type policyKind string

const (
	structuralKind policyKind = "structural"
	originalKind   policyKind = "original"
)

// What a run of `graft learn` leaves of structural policies: one in which all seeds
// vote, and a folder with one for each seed.
const (
	votingFile = "policy.safetensors"
	seedFolder = "policies"
	seedBegin  = "seed-"
	seedEnd    = ".safetensors"
)

// contender is a policy that is evaluated.
type contender struct {
	path, name string
	kind       policyKind
	entrants   []evaluation.Candidate // the first is whose decisions are shown
	structural *decider.Structural    // nil for one of the original's
	legacy     *bilstm.Policy
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
		if kind == structuralKind {
			err = c.readStructural()
		} else {
			err = c.readLegacy(ctx, o)
		}
		if err != nil {
			return nil, unreadable(err)
		}
		all = append(all, c)
	}
	if slices.ContainsFunc(all, func(c *contender) bool { return c.kind == originalKind }) {
		return all, nil
	}
	if o.vocab != "" || o.prefix != "" {
		return nil, usageErrorf("--vocab and --prefix are for policies of the original's, and %s is a structural policy, which reads any network; leave them away", all[0].path)
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
func kindOfPolicy(path string) (policyKind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read policy: %w; name its file, or a folder with its file %s or %s", err, votingFile, bilstm.FileName)
	}
	if !info.IsDir() {
		set, err := readSet(path)
		if err != nil {
			return "", err
		}
		if decider.IsStructural(set) {
			return structuralKind, nil
		}
		return originalKind, nil
	}
	if isFile(filepath.Join(path, votingFile)) {
		return structuralKind, nil
	}
	if _, err := os.Stat(filepath.Join(path, seedFolder)); err == nil && !isFile(filepath.Join(path, bilstm.FileName)) {
		return "", fmt.Errorf("read policy %s: %w: it has no %s, so learning has not ended; go on with 'graft learn --resume'", path, fs.ErrNotExist, votingFile)
	}
	return originalKind, nil
}

// readSet reads a file of weights, and says what to do where that fails.
func readSet(path string) (*weights.Set, error) {
	set, err := weights.Read(files.OS{}, path, weights.Options{})
	switch {
	case err == nil:
		return set, nil
	case errors.As(err, new(*fs.PathError)):
		return nil, fmt.Errorf("read policy: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("read policy: %w: it is cut short; copy the file again", err)
	}
	return nil, fmt.Errorf("read policy: %w; copy the file again", err)
}

// readStructuralFile reads one structural policy.
func readStructuralFile(path string) (*decider.Structural, error) {
	set, err := readSet(path)
	if err != nil {
		return nil, err
	}
	p, err := decider.StructuralOf(set)
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w; give the file as 'graft learn' wrote it", path, err)
	}
	return p, nil
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
	chooser := evaluation.Stepwise(ctx, c.name, original.StepPolicy{Policy: p})
	c.entrants = []evaluation.Candidate{{Name: c.name, Role: evaluation.RolePolicy, Policies: []evaluation.Policy{chooser}}}
	return nil
}

// readStructural reads a file, or a run's folder: the policy in which all seeds vote,
// and those of each seed.
func (c *contender) readStructural() error {
	path, seeds := c.path, []string(nil)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(c.path, votingFile)
		if seeds, err = seedFiles(c.path); err != nil {
			return err
		}
	}
	p, err := readStructuralFile(path)
	if err != nil {
		return err
	}
	c.structural = p
	policies := membersOf(p)
	for k, file := range seeds {
		if k == 0 {
			policies = nil
		}
		one, err := readStructuralFile(file)
		if err != nil {
			return err
		}
		policies = append(policies, one)
	}
	c.entrants = evaluation.SeedCandidates(c.name, []*decider.Structural{p}, policies, "")
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

// seedFiles are the policies of each seed in a run's folder, by number.
func seedFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(folder, seedFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w", folder, err)
	}
	seeds := map[string]uint64{}
	var paths []string
	for _, e := range entries {
		number, ours := strings.CutPrefix(strings.TrimSuffix(e.Name(), seedEnd), seedBegin)
		if n, err := strconv.ParseUint(number, 10, 64); err == nil && ours {
			path := filepath.Join(folder, seedFolder, e.Name())
			seeds[path], paths = n, append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(seeds[a], seeds[b]) })
	return paths, nil
}

// withRivals are all who are compared. The best fixed sequence has seen the tables.
func withRivals(contenders []*contender, trees []*simulation.Tree) ([]evaluation.Candidate, error) {
	var entrants []evaluation.Candidate
	for _, c := range contenders {
		entrants = append(entrants, c.entrants...)
	}
	rivals, err := evaluation.BaselineCandidates(trees, evaluation.SeenThese)
	for k, e := range entrants {
		taken := slices.Concat(entrants[:k], rivals)
		if slices.ContainsFunc(taken, func(o evaluation.Candidate) bool { return o.Name == e.Name }) {
			err = errors.Join(err, usageErrorf("--policy: %q is the name of two who are compared; name the policy by another path", e.Name))
		}
	}
	return append(entrants, rivals...), err
}
