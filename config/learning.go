package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graft/internal/files"
	"graft/original/learn"
	"graft/original/vocab"
	"graft/simulation/tables"
	"graft/torch/weights"
)

// LearningKind is the kind of files with the section table or learn and no other kind's.
var LearningKind = &Kind{
	Name: "learning", Noun: "learning", Command: "graft learn", Files: "files of policies of the original's that learn",
	Title: "a policy of graft that learns", Sections: []string{"table", "learn"},
	New: func() File { return NewLearning() }, Summary: summaryOf((*Learning).Summary),
	Page: Page{Title: "Keys of the file of a policy of the original's that learns",
		Intro: "A file with the section `table`, for `graft learn`.\n"},
}

// Learning is the file of a policy of the original's that learns from a table.
type Learning struct {
	Run    LearningRun    // seed and output
	Table  LearningTable  // training table
	Policy LearningPolicy // sizes of the policy, and its initial weights
	Learn  learn.Options  // options of the learner

	sources
	table *tables.Table
	tree  *learn.Tree
	words *vocab.Vocabulary
	first *weights.Set // nil where the policy begins with nothing
}

// NewLearning returns an empty file, before EnsureDefaults.
func NewLearning() *Learning { return &Learning{Run: LearningRun{Seed: 1}} }

// ReadLearning is LearningKind.Read.
func ReadLearning(fsys files.FS, path string, set []string) (*Learning, error) {
	return Open(fsys, path).Learning(set)
}

// Learning is [ReadLearning] of the document.
func (d *Document) Learning(set []string) (*Learning, error) {
	return readAs[*Learning](LearningKind, d, set)
}

// EnsureDefaults fills in what zero stands for.
func (l *Learning) EnsureDefaults() {
	l.Run.EnsureDefaults()
	l.Table.EnsureDefaults()
	l.Policy.EnsureDefaults()
	l.Learn.EnsureDefaults()
}

// Validate joins all that is wrong.
func (l *Learning) Validate() error {
	return errors.Join(l.Run.Validate(), l.Table.Validate(), l.Policy.Validate(), l.Learn.Validate())
}

// Resolved is the text of the file with every value.
func (l *Learning) Resolved() string { return Resolved(l) }

// Digest covers the contents of the table, the vocabulary and the first policy.
func (l *Learning) Digest() string { return digest(l, l.contents) }

func (l *Learning) contents(w io.Writer) {
	if l.tree != nil {
		text, err := json.Marshal([]any{l.tree, l.Embedding(), l.table.Records})
		if err != nil {
			text = []byte(err.Error()) // unreachable: no field can fail
		}
		_, _ = w.Write(text) // a hash takes everything
	}
	if l.first != nil {
		for _, t := range l.first.Tensors {
			fmt.Fprintf(w, "%s %v\n", t.Name, t.Shape)
			_, _ = w.Write(t.Data)
		}
	}
}

// LoadedTable is the table that was read, and its tree.
func (l *Learning) LoadedTable() (*tables.Table, *learn.Tree) { return l.table, l.tree }

// Embedding is a vector for each token of the vocabulary that was read.
func (l *Learning) Embedding() learn.Embedding { return learn.EmbeddingOf(l.words) }

// InitialPolicy is the policy to begin with; nil where a new one is drawn.
func (l *Learning) InitialPolicy() *weights.Set { return l.first }
