// Package policyfile reads the configuration file for training a policy in the original system's format on a table.
package policyfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/original/learn"
	_ "graft/original/published" // reads tables of the original's
	"graft/original/vocab"
	"graft/simulation/tables"
	"graft/torch/weights"
	"graft/trainer/clock"
)

// KindName names the kind of configuration file that trains a policy on a table. A file is of this kind if it has a
// section "table" or "learn", but no section of another kind.
const KindName = "learning"

func init() {
	decode.Register(&decode.FileKind{
		Name: KindName, Noun: "learning", Command: "graft learn",
		Files: "files for training policies of the original system",
		Title: "a policy of graft that learns", Sections: []string{"table", "learn"},
		New: func() decode.CheckedFile { return New() },
		Page: decode.Page{Title: "Keys for training a policy of the original system",
			Intro: "A file with the section `table`, for `graft learn`.\n"},
	})
}

// File is the configuration for training a policy in the original system's format on a table.
type File struct {
	Run    RunOptions    // Seed and output of the run.
	Table  TableOptions  // table that the policy is trained on
	Policy PolicyOptions // sizes of the policy, and its initial weights
	Learn  learn.Options // options for the learner

	decode.Sources
	networks func(files.FS, string) (*model.Network, error)
	table    *tables.Table
	tree     *learn.Tree
	words    *vocab.Vocabulary
	first    *weights.Set // nil if the policy starts from random parameters
}

// New returns a file in which only the seed is set, to 1. EnsureDefaults sets the other defaults.
func New() *File { return &File{Run: RunOptions{Seed: 1}} }

// EnsureDefaults sets zero fields to their defaults.
func (l *File) EnsureDefaults() {
	l.Run.EnsureDefaults()
	l.Table.EnsureDefaults()
	l.Policy.EnsureDefaults()
	l.Learn.EnsureDefaults()
}

// UseNetworks sets the function that creates a network from a name. The second function, which reads clock profiles, is
// ignored. UseNetworks must be called before Check.
func (l *File) UseNetworks(network func(files.FS, string) (*model.Network, error),
	_ func(files.FS, string) (*clock.Profile, error)) {
	l.networks = network
}

// Validate returns an error that lists every invalid option.
func (l *File) Validate() error {
	return errors.Join(l.Run.Validate(), l.Table.Validate(), l.Policy.Validate(), l.Learn.Validate())
}

// Contents writes the contents of the table, the vocabulary and the initial policy, for a digest.
func (l *File) Contents(w io.Writer) {
	if l.tree != nil {
		text, err := json.Marshal([]any{l.tree, l.Embedding(), l.table.Records})
		if err != nil {
			text = []byte(err.Error()) // unreachable: no field can fail
		}
		_, _ = w.Write(text) // a hash never fails
	}
	if l.first != nil {
		for _, t := range l.first.Tensors {
			fmt.Fprintf(w, "%s %v\n", t.Name, t.Shape)
			_, _ = w.Write(t.Data)
		}
	}
}

// LoadedTable returns the table that Check read, and the tree of the table's sequences. Both are nil before Check.
func (l *File) LoadedTable() (*tables.Table, *learn.Tree) { return l.table, l.tree }

// Embedding returns a vector for each token of the vocabulary.
func (l *File) Embedding() learn.Embedding { return learn.EmbeddingOf(l.words) }

// InitialPolicy returns the weights of the initial policy. Nil means random initial weights.
func (l *File) InitialPolicy() *weights.Set { return l.first }
