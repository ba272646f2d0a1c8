package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/config"
	"graft/files"
	"graft/original/bilstm"
	"graft/results"
	"graft/simulation"
	"graft/simulation/evaluation"
)

// evaluationOutcome is what an evaluation came to, as outcome.json of its folder has it.
type evaluationOutcome struct {
	Compared *evaluationReport `json:"compared"` // null where tables were left out
	LeftOut  *leaveReport      `json:"left_out"` // null where none were
	Members  []memberVerdict   `json:"members"`  // each policy by itself that is a seed of several
	Repeats  []repeatedRuns    `json:"repeats"`  // of sequences that ran more than once
}

// repeatedRuns are the runs of a sequence that a chooser is certain of.
type repeatedRuns struct {
	Table      int       `json:"table"`      // place among the tables that were compared in, from 0
	Chooser    string    `json:"chooser"`    // who takes the sequence
	Accuracies []float64 `json:"accuracies"` // of its runs, between 0 and 1
}

// memberVerdict is how one of several policies that differ in their seed fared in a
// table.
type memberVerdict struct {
	Member int    `json:"member"` // which of them, from 1, in the order of their seeds
	Table  int    `json:"table"`  // place among the tables that were compared in, from 0: several may have one name
	Group  string `json:"group"`  // that was left out with the table; empty where nothing was
	evaluation.Score
}

// newEvaluationOutcome is of one of the two reports; the other is nil.
func newEvaluationOutcome(r *evaluationReport, left *leaveReport) *evaluationOutcome {
	o := &evaluationOutcome{Compared: r, LeftOut: left, Members: []memberVerdict{}, Repeats: []repeatedRuns{}}
	c := o.comparison()
	for at, trial := range c.Tables {
		for _, s := range c.Standings {
			if runs := trial.Runs[s.Policy]; runs != nil {
				o.Repeats = append(o.Repeats, repeatedRuns{at, s.Policy, runs})
			}
			if s.Role == evaluation.RoleBaseline {
				continue
			}
			for k, v := range trial.Each[s.Policy] {
				o.Members = append(o.Members, memberVerdict{k + 1, at, trial.Group, v})
			}
		}
	}
	return o
}

// comparison is what both kinds of evaluations have.
func (o *evaluationOutcome) comparison() *evaluation.Comparison {
	if o.LeftOut != nil && o.LeftOut.LeaveOutReport != nil {
		return o.LeftOut.Comparison
	}
	c := &evaluation.Comparison{}
	if o.Compared == nil {
		return c
	}
	c.Against, c.Floor, c.Standings = o.Compared.Against, o.Compared.Floor, o.Compared.Standings
	for _, t := range o.Compared.Tables {
		c.Tables = append(c.Tables, t.TableScores)
	}
	return c
}

// values are a figure of each member of a chooser in a table.
func (o *evaluationOutcome) values(table int, chooser string, of func(evaluation.Score) float64) (values []float64) {
	for _, m := range o.Members {
		if m.Policy == chooser && m.Table == table {
			values = append(values, of(m.Score))
		}
	}
	return values
}

// spread are the accuracies between which a chooser's lies in a table: of its members
// where there are several, or of the runs of its sequence; nil where there is but one.
func (o *evaluationOutcome) spread(table int, chooser string) []float64 {
	if values := o.values(table, chooser, accuracyOf); len(values) > 1 {
		return values
	}
	for _, r := range o.Repeats {
		if r.Table == table && r.Chooser == chooser {
			return r.Accuracies
		}
	}
	return nil
}

// evaluationGiven is what an evaluation is told.
type evaluationGiven struct {
	config.EvaluationOptions
	text     string   // of the file that says how policies learn; empty for none
	networks []string // of the tables
}

// given says what policies are held against which tables.
func (o evaluateOptions) given(m *meeting) (evaluationGiven, error) {
	g := evaluationGiven{EvaluationOptions: config.EvaluationOptions{Policies: o.policies, Tables: o.tables, Vocab: o.vocab, Prefix: o.prefix}}
	for _, c := range m.contenders {
		digest, err := c.digest()
		if err != nil {
			return g, err
		}
		g.PolicyDigests = append(g.PolicyDigests, digest)
	}
	g.know(m.trees)
	return g, nil
}

// givenLeaving says from what policies learn, and how.
func (o evaluateOptions) givenLeaving(trees []*simulation.Tree, study evaluation.LeaveOutOptions) (evaluationGiven, error) {
	g := evaluationGiven{EvaluationOptions: config.EvaluationOptions{Policies: []string{}, Tables: o.tables, LeaveOut: o.leave.by, LearningFile: o.leave.learn,
		For: o.leave.target, Seeds: len(study.Seeds), Steps: study.Ways[0].Options[0].Steps}}
	g.know(trees)
	if o.leave.learn == "" {
		return g, nil
	}
	text, err := os.ReadFile(o.leave.learn)
	if err != nil {
		return g, err
	}
	l, err := config.ReadTreeLearning(files.OS{}, o.leave.learn, nil)
	if err != nil {
		return g, faultyConfig(err)
	}
	g.text, g.LearningDigest, g.Tables = string(text), l.Digest(), slices.Concat(l.Tables.Folders, l.Tables.HeldOut)
	return g, nil
}

// know takes digests of what tables hold.
func (g *evaluationGiven) know(trees []*simulation.Tree) {
	for _, t := range trees {
		g.TableDigests = append(g.TableDigests, t.Digest())
		g.networks = append(g.networks, t.Network)
	}
}

// digest is of the files that make a policy.
func (c *contender) digest() (string, error) {
	info, err := os.Stat(c.path)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return digestOf(c.path)
	case c.kind == originalKind:
		return digestOf(filepath.Join(c.path, bilstm.FileName))
	}
	seeds, err := seedFiles(c.path)
	if err != nil {
		return "", err
	}
	return digestOf(append([]string{filepath.Join(c.path, votingFile)}, seeds...)...)
}

// keep makes the run folder that was asked for. It is nil where none was.
func (o evaluateOptions) keep(given func() (evaluationGiven, error)) (*evaluationBook, error) {
	if o.out == "" {
		return nil, nil
	}
	g, err := given()
	if err != nil {
		return nil, err
	}
	m := results.Manifest{Created: time.Now().UTC(), Graft: thisVersion(), Device: "cpu", CommandLine: os.Args}
	m.Host, _ = os.Hostname() // without a name the manifest has none
	return createEvaluation(files.OS{}, o.out, o.force, g, m)
}

// evaluationBook is the run folder of an evaluation. Nil keeps nothing.
type evaluationBook struct {
	run                          *results.Run
	verdicts, members, standings *results.Stream
	folds                        *results.Stream // nil where nothing is left out
}

// createEvaluation makes the folder, in which there is no outcome yet.
func createEvaluation(fsys files.FS, folder string, force bool, g evaluationGiven, m results.Manifest) (*evaluationBook, error) {
	slices.Sort(g.networks)
	m.Network = strings.Join(slices.Compact(g.networks), ", ")
	resolved := (&config.Evaluation{Evaluate: g.EvaluationOptions}).Resolved()
	run, err := results.Create(fsys, folder, results.CreateOptions{Force: force, Config: g.text, Resolved: resolved}, m)
	if errors.Is(err, results.ErrExists) {
		err = withCode(exitUsage, err)
	}
	if err != nil {
		return nil, err
	}
	b := &evaluationBook{run: run}
	if err := b.open(g.LeaveOut != ""); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return b, nil
}

// open makes the tables, by which the folder is known.
func (b *evaluationBook) open(folds bool) (err error) {
	for _, one := range []struct {
		stream  **results.Stream
		name    string
		columns []results.Column
	}{{&b.verdicts, "verdicts", verdictColumns}, {&b.members, "members", memberColumns}, {&b.standings, "standings", standingColumns}, {&b.folds, "folds", foldColumns}} {
		if one.name == "folds" && !folds {
			continue
		}
		if *one.stream, err = b.run.Stream(one.name, one.columns); err != nil {
			return err
		}
	}
	return nil
}

// close gives the folder back; what is not finished then has no outcome.
func (b *evaluationBook) close() {
	if b != nil {
		_ = b.run.Close()
	}
}

// finish writes all rows, and then the outcome, without which the rest does not count.
func (b *evaluationBook) finish(o *evaluationOutcome) error {
	if b == nil {
		return nil
	}
	if err := errors.Join(b.fill(o), b.fold(o)); err != nil {
		return fmt.Errorf("keep the evaluation: %w", err)
	}
	if err := b.run.WriteOutcome(o); err != nil {
		return fmt.Errorf("keep the evaluation: %w", err)
	}
	return b.run.Close()
}
