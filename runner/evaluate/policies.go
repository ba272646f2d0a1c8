package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/original"
	"graft/original/bilstm"
	"graft/original/published"
	"graft/report/runs"
	"graft/runner/app"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// Policy is a policy to evaluate.
type Policy struct {
	Path       string // path of the policy, as given
	Name       string // name in reports
	Kind       runs.PolicyOrigin
	Candidates []evaluation.Candidate // candidates of a comparison; the report shows the decisions of the first
	Seen       string                 // evaluated tables that it learned from, as in evaluation.Candidate
	Structural *decider.Structural    // structural policy; nil for a policy in the original system's format
	Legacy     *bilstm.Policy         // policy in the original system's format; nil for a structural policy
	// training tables of a policy in the original system's format, if it is a run folder
	trained []published.TrainingTable
	whole   bool // the policy has no other training tables
}

// ReadPolicies reads the policies that o.Policies names. It also uses the options Vocab and Prefix, and ignores all
// others.
func ReadPolicies(ctx context.Context, fsys files.FS, o Options) ([]*Policy, error) {
	var all []*Policy
	names := policyNames(o.Policies)
	for k, path := range o.Policies {
		p := &Policy{Path: path, Name: names[k]}
		if err := p.read(ctx, fsys, o); err != nil {
			return nil, app.ReadFault(err)
		}
		all = append(all, p)
	}
	original := slices.ContainsFunc(all, func(p *Policy) bool { return p.Kind == runs.OriginalPolicy })
	if !original && (o.Vocab != "" || o.Prefix != "") {
		return nil, failure.Usagef("option \"vocab\" and option \"prefix\" apply to policies of the original system, "+
			"but %s is a structural policy, which reads any network; omit them", all[0].Path)
	}
	return all, nil
}

// policyNames returns the last parts of paths, or whole paths if these are equal.
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

func (p *Policy) read(ctx context.Context, fsys files.FS, o Options) (err error) {
	if p.Kind, err = kindOf(fsys, p.Path); err != nil {
		return err
	}
	if p.Kind == runs.StructuralPolicy {
		return p.readStructural(fsys)
	}
	if o.Vocab == "" {
		return needsVocab(p.Path)
	}
	var run *published.Run
	if p.Legacy, run, err = published.ReadPolicy(fsys, p.Path, o.Vocab, o.reading()); err != nil {
		return err
	}
	p.trained, p.whole = published.TrainingTables(fsys, p.Path, run)
	chooser := evaluation.Stepwise(ctx, p.Name, original.StepPolicy{Policy: p.Legacy})
	p.Candidates = []evaluation.Candidate{{Name: p.Name, Role: evaluation.RolePolicy,
		Policies: []evaluation.Policy{chooser}}}
	return nil
}

func needsVocab(policy string) error {
	return failure.Usagef("option \"vocab\" is missing; name the vocabulary that the policy %s was "+
		"trained with", policy)
}

// kindOf distinguishes structural policies from the original's by the content of the folder or the header of the file.
func kindOf(fsys files.FS, path string) (runs.PolicyOrigin, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return "", fmt.Errorf(
			"read policy: %w; expected a policy file, or a folder that contains %s or %s", err, runs.VoteFile,
			bilstm.FileName)
	}
	if !info.IsDir() {
		set, err := runs.ReadWeights(fsys, path)
		if err != nil {
			return "", fmt.Errorf("read policy: %w", err)
		}
		if decider.IsStructural(set) {
			return runs.StructuralPolicy, nil
		}
		return runs.OriginalPolicy, nil
	}
	if runs.IsFile(fsys, filepath.Join(path, runs.VoteFile)) {
		return runs.StructuralPolicy, nil
	}
	if _, err := fsys.Stat(filepath.Join(path, runs.SeedFolder)); err == nil &&
		!runs.IsFile(fsys, filepath.Join(path, bilstm.FileName)) {
		return "", fmt.Errorf("read policy %s: %w: %s is missing, so learning has not ended; "+
			"continue with 'graft learn --resume'", path, fs.ErrNotExist, runs.VoteFile)
	}
	return runs.OriginalPolicy, nil
}

// files returns the paths of a structural policy: of the vote of all seeds and, in a run's folder, of each seed.
func (p *Policy) files(fsys files.FS) (vote string, seeds []string, err error) {
	info, err := fsys.Stat(p.Path)
	if err != nil || !info.IsDir() {
		return p.Path, nil, err
	}
	seeds, err = runs.SeedFiles(fsys, p.Path)
	return filepath.Join(p.Path, runs.VoteFile), seeds, err
}

// readStructural reads a structural policy, as a vote and as its members.
func (p *Policy) readStructural(fsys files.FS) error {
	vote, seeds, err := p.files(fsys)
	if err != nil {
		return err
	}
	if p.Structural, err = runs.ReadStructuralFile(fsys, vote); err != nil {
		return err
	}
	var members []*decider.Structural
	for _, file := range seeds {
		one, err := runs.ReadStructuralFile(fsys, file)
		if err != nil {
			return err
		}
		members = append(members, one)
	}
	if len(seeds) == 0 {
		members = p.Structural.Split()
	}
	p.Candidates = evaluation.SeedCandidates(p.Name, []*decider.Structural{p.Structural}, members, "")
	return nil
}

// digest hashes the files of a policy.
func (p *Policy) digest(fsys files.FS) (string, error) {
	if p.Kind == runs.StructuralPolicy {
		vote, seeds, err := p.files(fsys)
		if err != nil {
			return "", err
		}
		return runs.DigestOf(fsys, append([]string{vote}, seeds...)...)
	}
	info, err := fsys.Stat(p.Path)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return runs.DigestOf(fsys, p.Path)
	}
	return runs.DigestOf(fsys, filepath.Join(p.Path, bilstm.FileName))
}

// describe returns the policy for a report. Vocab is the vocabulary of the original's policies.
func (p *Policy) describe(vocab string) runs.EvaluatedPolicy {
	r := runs.EvaluatedPolicy{Policy: p.Path, Name: p.Name, Kind: p.Kind}
	if p.Legacy != nil {
		prefixed := p.Legacy.Prefixed()
		r.Vocab, r.Prefix = vocab, &prefixed
		return r
	}
	r.Members, r.Trees, r.Targets, r.Notes = len(p.Structural.Members), len(p.Structural.Forest), p.Structural.Targets,
		p.Structural.Notes
	for _, kind := range p.Structural.Learned {
		r.Learned = append(r.Learned, string(kind))
	}
	return r
}

// evaluated identifies a table that policies are evaluated on.
type evaluated struct {
	name   string
	digest string // digest of its runs
	hashes tables.RunHashes
}

// identify identifies tables by their names and runs.
func identify(trees []*simulation.Tree) []evaluated {
	all := make([]evaluated, len(trees))
	for k, t := range trees {
		all[k] = evaluated{t.Name, t.RunsDigest(), t.Hashes()}
	}
	return all
}

// learnedFrom returns a function that reports whether a policy learned from a table; nil means unknown. It compares
// runs, not names: a table counts if it is equal to a training table, or shares at least half of the runs of the
// smaller table. Structural policies of earlier versions state only names. Tables of the original system that cannot
// be read have only names, too.
func (p *Policy) learnedFrom() func(t evaluated) bool {
	switch {
	case p.Structural == nil && len(p.trained) == 0:
		return nil
	case p.Structural == nil:
		return p.trainedOn
	case p.Structural.Tables != nil:
		return func(t evaluated) bool {
			return slices.ContainsFunc(p.Structural.Tables, func(l decider.LearnedTable) bool {
				return l.Runs == t.digest || t.hashes.Overlaps(l.Sample)
			})
		}
	case p.Structural.Notes["tables"] == "":
		return nil
	}
	learned := strings.Split(p.Structural.Notes["tables"], ", ")
	return func(t evaluated) bool { return slices.Contains(learned, t.name) }
}

// trainedOn reports whether a policy of the original system was trained on a table.
func (p *Policy) trainedOn(t evaluated) bool {
	return slices.ContainsFunc(p.trained, func(one published.TrainingTable) bool {
		if one.Table == nil {
			return one.Name == t.name
		}
		return one.Table.RunsDigest() == t.digest || t.hashes.Overlaps(one.Table.Hashes().Sample())
	})
}

// seen describes the tables that a policy learned from; empty means unknown.
func (p *Policy) seen(all []evaluated) string {
	learned, count := p.learnedFrom(), 0
	if learned == nil {
		return ""
	}
	for _, t := range all {
		if learned(t) {
			count++
		}
	}
	switch {
	case count == 0 && p.Structural == nil && !p.whole:
		return ""
	case count == 0:
		return "other tables"
	case count < len(all):
		return "some of these tables"
	case count == 1:
		return evaluation.SeenThis
	}
	return evaluation.SeenThese
}

// withBaselines returns all choosers to compare. The best fixed sequence is selected on these tables.
func withBaselines(policies []*Policy, trees []*simulation.Tree) ([]evaluation.Candidate, error) {
	var candidates []evaluation.Candidate
	for _, p := range policies {
		for _, e := range p.Candidates {
			e.Seen = p.Seen
			candidates = append(candidates, e)
		}
	}
	baselines, err := evaluation.BaselineCandidates(trees, evaluation.SeenThese)
	for k, e := range candidates {
		taken := slices.Concat(candidates[:k], baselines)
		if slices.ContainsFunc(taken, func(o evaluation.Candidate) bool { return o.Name == e.Name }) {
			err = errors.Join(err, failure.Usagef("option \"policy\": two candidates are named %q; "+
				"give another path for one of them", e.Name))
		}
	}
	return append(candidates, baselines...), err
}
