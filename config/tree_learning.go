package config

import (
	"errors"
	"fmt"
	"io"

	"graft/decider"
	"graft/internal/files"
	"graft/learn"
	"graft/simulation"
	"graft/simulation/learning"
)

// TreeLearningKind is the kind of files with a section "tables".
var TreeLearningKind = &Kind{
	Name: "tree-learning", Noun: "learning", Command: "graft learn", Files: "files for training structural policies",
	Title: "structural policies of graft that learn", Sections: []string{"tables"},
	New: func() File { return NewTreeLearning(ForKnown) }, Summary: summaryOf((*TreeLearning).Summary),
	Page: Page{Title: "Keys for training structural policies",
		Intro: "A file with the section `tables`, for `graft learn`: see [how a policy learns](learning.md).\n"},
}

// TreeLearning is the configuration of structural policies that learn from tables.
type TreeLearning struct {
	Run    learn.RunOptions   // Seeds and output of the run.
	Tables TreeLearningTables // training and validation tables
	// Size of the structural policy's own network, not of the networks that the policy changes.
	Policy decider.StructuralShape
	Learn  TreeLearningOptions // options for the learner

	sources
	trees, held []*simulation.Tree
}

// NewTreeLearning returns the options of an empty file; EnsureDefaults sets the remaining defaults. The argument
// scenarios is the value of the key learn.for, "known" or "new".
func NewTreeLearning(scenarios string) *TreeLearning {
	return &TreeLearning{Run: learn.RunOptions{Seed: 1}, Learn: learningOptionsFor(scenarios)}
}

// ReadTreeLearning reads a configuration of structural policies with TreeLearningKind.Read.
func ReadTreeLearning(fsys files.FS, path string, set []string) (*TreeLearning, error) {
	return Open(fsys, path).TreeLearning(set)
}

// TreeLearning reads the document as [ReadTreeLearning] does.
func (d *Document) TreeLearning(set []string) (*TreeLearning, error) {
	return readAs[*TreeLearning](TreeLearningKind, d, set)
}

// preset returns the defaults for new scenarios if learn.for selects them.
func (l *TreeLearning) preset() (File, bool) { return NewTreeLearning(ForNew), l.Learn.For == ForNew }

// EnsureDefaults sets zero fields to their defaults.
func (l *TreeLearning) EnsureDefaults() {
	l.Run.EnsureDefaults()
	l.Policy.EnsureDefaults()
	l.Learn.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (l *TreeLearning) Validate() error {
	return errors.Join(l.Run.Validate(), l.Tables.Validate(), l.Policy.Validate(), l.Learn.Validate())
}

// Resolved returns the text of the file with the value of every key, including defaults.
func (l *TreeLearning) Resolved() string { return Resolved(l) }

// Digest covers the contents of the tables, but not their paths.
func (l *TreeLearning) Digest() string { return digest(l, l.contents) }

func (l *TreeLearning) contents(w io.Writer) {
	for _, list := range [][]*simulation.Tree{l.trees, l.held} {
		for _, t := range list {
			fmt.Fprintln(w, t.Digest())
		}
		fmt.Fprintln(w)
	}
}

// Trees returns the tables for training and for early stopping.
func (l *TreeLearning) Trees() (learn, held []*simulation.Tree) { return l.trees, l.held }

// Options returns the options of the learner, without a seed.
func (l *TreeLearning) Options() learning.Options {
	o := l.Learn.Options
	o.StructuralShape = l.Policy
	return o
}
