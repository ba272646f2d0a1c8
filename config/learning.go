package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/original"
	"graft/original/learn"
	"graft/original/vocab"
	"graft/simulation/tables"
	"graft/torch/weights"
)

// Learning is the file of a policy that learns from a table.
type Learning struct {
	Run    LearningRun    // seed, folder and reports
	Table  LearningTable  // what is learned from
	Policy LearningPolicy // its sizes, and what it begins with
	Learn  learn.Options  // how it learns

	given map[string]Source
	table *tables.Table
	tree  *learn.Tree
	words *vocab.Vocabulary
	first *weights.Set // nil where the policy begins with nothing
}

// NewLearning is what a file says that says nothing, before zero is filled in.
func NewLearning() *Learning { return &Learning{Run: LearningRun{Seed: 1}} }

// ReadLearning reads the file of a policy that learns, then assignments such as
// learn.episodes=500. What it names is read as well: the table, the vocabulary and
// the policy that it begins with. Where anything that is written is wrong, the error
// wraps [Faults].
func ReadLearning(fsys files.FS, path string, set []string) (*Learning, error) {
	l := NewLearning()
	r, err := readInto(fsys, path, set, l)
	if err == nil {
		err = l.complete(fsys, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read learning: %w", err)
	}
	return l, nil
}

// IsLearning says whether a file is one of a policy that learns by the original's
// loop: it has the section table or learn, and not tables. What cannot be read is none.
func IsLearning(fsys files.FS, path string) bool {
	keys := sectionsOf(fsys, path)
	return keys["tables"] == nil && (keys["table"] != nil || keys["learn"] != nil)
}

// complete fills in defaults, reads what the file names and checks it all.
func (l *Learning) complete(fsys files.FS, r *reading) error {
	l.given = r.given
	r.defaults()
	r.validate()
	if fsys != nil {
		l.load(fsys, r)
	}
	return r.finish()
}

// EnsureDefaults fills in what zero stands for.
func (l *Learning) EnsureDefaults() {
	l.Run.EnsureDefaults()
	l.Table.EnsureDefaults()
	l.Policy.EnsureDefaults()
	l.Learn.EnsureDefaults()
}

// Validate lists all that is wrong.
func (l *Learning) Validate() error {
	return errors.Join(l.Run.Validate(), l.Table.Validate(), l.Policy.Validate(), l.Learn.Validate())
}

var learningOutline = outlineOf(reflect.TypeFor[Learning]())

// Values lists all keys in the order of a file.
func (l *Learning) Values() []Value {
	return valuesOf(learningOutline, reflect.ValueOf(l).Elem(), l.given)
}

// Resolved is the file with every value filled in. ReadLearning reads the same from
// it.
func (l *Learning) Resolved() string {
	return layoutStruct(learningOutline, reflect.ValueOf(l).Elem())
}

// Described is Resolved with what each key is for as a comment above it.
func (l *Learning) Described() string {
	return layoutDescribed(learningOutline, reflect.ValueOf(l).Elem())
}

// Digest is a SHA-256 in hex over all that results depend on: the keys but for the
// folder, TensorBoard and checkpoints, and what is in the table, the vocabulary and the first
// policy.
func (l *Learning) Digest() string {
	h := sha256.New()
	for _, v := range l.Values() {
		if !slices.Contains([]string{"run.folder", "run.checkpoint", "run.tensorboard"}, v.Key) {
			fmt.Fprintf(h, "%s = %s\n", v.Key, v.Text)
		}
	}
	if l.tree != nil {
		text, err := json.Marshal([]any{l.tree, l.Embedding(), l.table.Records})
		if err != nil {
			text = []byte(err.Error()) // no field can fail
		}
		h.Write(text)
	}
	if l.first != nil {
		for _, t := range l.first.Tensors {
			fmt.Fprintf(h, "%s %v\n", t.Name, t.Shape)
			h.Write(t.Data)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Lessons is the table that was read, and its tree.
func (l *Learning) Lessons() (*tables.Table, *learn.Tree) { return l.table, l.tree }

// Embedding is a vector for each token of the vocabulary that was read.
func (l *Learning) Embedding() learn.Embedding { return learn.EmbeddingOf(l.words) }

// First is the policy to begin with; nil where a new one is drawn.
func (l *Learning) First() *weights.Set { return l.first }

// load reads the files that are named.
func (l *Learning) load(fsys files.FS, r *reading) {
	var n *model.Network
	folder := isFolder(fsys, l.Table.File)
	r.attempt("table.file", folder, func() (err error) {
		if l.table, n, _, err = readTableFolder(fsys, l.Table.File); err == nil {
			err = l.table.Complete()
		}
		return err
	})
	if folder {
		l.agree(fsys, r, n)
	}
	r.attempt("table.network", !folder && l.Table.Network != "", func() (err error) {
		n, err = networkOf(fsys, l.Table.Network)
		return err
	})
	r.attempt("table.file", !folder && l.Table.File != "" && n != nil, func() (err error) {
		l.table, err = l.readTable(fsys, n)
		return err
	})
	r.attempt("table.vocabulary", l.Table.Vocabulary != "", func() (err error) {
		l.words, err = vocab.Read(fsys, l.Table.Vocabulary)
		return err
	})
	r.attempt("policy.embedding", l.words != nil && l.Policy.Embedding != 0, func() error {
		if has := l.words.Size(); has != l.Policy.Embedding {
			return fmt.Errorf("embedding is %d, and the vectors of the vocabulary have %d values", l.Policy.Embedding, has)
		}
		return nil
	})
	r.attempt("table.network", n != nil && l.table != nil && l.words != nil, func() (err error) {
		l.tree, err = learn.NewPolicyTree(l.table, n, learn.TreeOptions{Surgery: net2net.Options{Compat: l.Table.Compat}, Tokens: learn.VocabularyTokens(l.words, l.Table.Prefix), Waste: l.Table.Waste})
		return err
	})
	r.attempt("policy.weights", l.Policy.Weights != "", func() (err error) {
		l.first, err = weights.Read(fsys, l.Policy.Weights, weights.Options{})
		return err
	})
}

// isFolder says whether there is a folder at a path.
func isFolder(fsys files.FS, path string) bool {
	if path == "" {
		return false
	}
	info, err := fsys.Stat(path)
	return err == nil && info.IsDir()
}

// agree takes the network from a table that is a folder. A network and actions that
// are given beside it must be the table's.
func (l *Learning) agree(fsys files.FS, r *reading, n *model.Network) {
	if _, given := r.given["table.network"]; !given && n != nil {
		l.Table.Network = l.table.Network
		r.given["table.network"] = Source{File: l.Table.File}
	}
	r.attempt("table.network", n != nil, func() error {
		mine, err := networkOf(fsys, l.Table.Network)
		if err == nil && net2net.Fingerprint(mine) != net2net.Fingerprint(n) {
			err = fmt.Errorf("network is %s, and the table's sequences begin with %s; leave network out", l.Table.Network, l.table.Network)
		}
		return err
	})
	r.attempt("table.actions", n != nil && len(l.Table.Actions) > 0, func() error {
		if mine := actionTexts(l.Table.Actions); !slices.Equal(mine, l.table.Actions) {
			return fmt.Errorf("actions are %s, and the table's are %s; leave actions out", strings.Join(mine, ", "), strings.Join(l.table.Actions, ", "))
		}
		return nil
	})
}

func actionTexts(actions []net2net.Action) []string {
	var texts []string
	for _, a := range actions {
		texts = append(texts, a.String())
	}
	return texts
}

// readTable reads a table of the original's. Its actions are those of the file, or to
// deepen each of the network's marked blocks, and at last none.
func (l *Learning) readTable(fsys files.FS, n *model.Network) (*tables.Table, error) {
	s := tables.Scenario{Name: tableName(l.Table.File), Network: l.Table.Network, Actions: actionTexts(l.Table.Actions)}
	if len(s.Actions) == 0 {
		for k := range net2net.OriginalBlocks(n) {
			s.Actions = append(s.Actions, fmt.Sprintf("deepen:%d", k))
		}
		s.Actions = append(s.Actions, net2net.Action{}.String())
	}
	file, err := fsys.Open(l.Table.File)
	if err != nil {
		return nil, err
	}
	t, err := original.ReadTable(file, s, l.Run.Seed)
	return t, errors.Join(err, file.Close())
}

// tableName is the folder of a table, whose file has the same name as all others.
func tableName(path string) string {
	folder := filepath.Base(filepath.Dir(path))
	if folder == "." || folder == string(filepath.Separator) {
		return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return folder
}
