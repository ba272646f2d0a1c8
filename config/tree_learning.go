package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"

	"graft/decider"
	"graft/files"
	"graft/simulation"
	"graft/simulation/learning"
)

// TreeLearning is the file of structural policies that learn from tables.
type TreeLearning struct {
	Run    TreeLearningRun         // seeds, folder and checkpoints
	Tables TreeLearningTables      // what is learned from
	Policy decider.StructuralShape // how large a policy is
	Learn  TreeLearningLessons     // how it learns

	given       map[string]Source
	trees, held []*simulation.Tree
}

// NewTreeLearning is what a file says that says nothing, before zero is filled in.
// Scenarios are known or new.
func NewTreeLearning(scenarios string) *TreeLearning {
	return &TreeLearning{Run: TreeLearningRun{Seed: 1}, Learn: lessonsFor(scenarios)}
}

// ReadTreeLearning reads the file of structural policies that learn, then assignments
// such as learn.steps=500, and all tables that it names. Where anything that is
// written is wrong, the error wraps [Faults].
func ReadTreeLearning(fsys files.FS, path string, set []string) (*TreeLearning, error) {
	l := NewTreeLearning(ForKnown)
	r, err := readInto(fsys, path, set, l)
	if err == nil && l.Learn.For == ForNew { // whose defaults are others
		l = NewTreeLearning(ForNew)
		r, err = readInto(fsys, path, set, l)
	}
	if err == nil {
		err = l.complete(fsys, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read learning: %w", err)
	}
	return l, nil
}

// IsTreeLearning says whether a file is one of structural policies that learn: it has
// the section tables. What cannot be read is none.
func IsTreeLearning(fsys files.FS, path string) bool {
	return sectionsOf(fsys, path)["tables"] != nil
}

// sectionsOf is what a file says, as far as it can be read.
func sectionsOf(fsys files.FS, path string) map[string]any {
	text, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil
	}
	keys, err := newDocument(path, text).readLoosely()
	if err != nil {
		return nil
	}
	return keys
}

// complete fills in defaults, reads the tables and checks it all.
func (l *TreeLearning) complete(fsys files.FS, r *reading) error {
	l.given = r.given
	r.defaults()
	r.validate()
	if fsys != nil {
		l.load(fsys, r)
	}
	return r.finish()
}

// EnsureDefaults fills in what zero stands for.
func (l *TreeLearning) EnsureDefaults() {
	l.Run.EnsureDefaults()
	l.Policy.EnsureDefaults()
	l.Learn.EnsureDefaults()
}

// Validate lists all that is wrong.
func (l *TreeLearning) Validate() error {
	return errors.Join(l.Run.Validate(), l.Tables.Validate(), l.Policy.Validate(), l.Learn.Validate())
}

var treeLearningOutline = outlineOf(reflect.TypeFor[TreeLearning]())

// Values lists all keys in the order of a file.
func (l *TreeLearning) Values() []Value {
	return valuesOf(treeLearningOutline, reflect.ValueOf(l).Elem(), l.given)
}

// Resolved is the file with every value filled in. ReadTreeLearning reads the same
// from it.
func (l *TreeLearning) Resolved() string {
	return layoutStruct(treeLearningOutline, reflect.ValueOf(l).Elem())
}

// Described is Resolved with what each key is for as a comment above it.
func (l *TreeLearning) Described() string {
	return layoutDescribed(treeLearningOutline, reflect.ValueOf(l).Elem())
}

// immaterialToTrees are the keys that change no result: tables count by what is in
// them.
var immaterialToTrees = []string{"run.folder", "run.checkpoint", "run.at_once", "run.tensorboard", "tables.folders", "tables.held_out"}

// Digest is a SHA-256 in hex over all that results depend on: the keys but for the
// folder, TensorBoard, checkpoints and how many learn at once, and what is in the tables, wherever
// they lie.
func (l *TreeLearning) Digest() string {
	h := sha256.New()
	for _, v := range l.Values() {
		if !slices.Contains(immaterialToTrees, v.Key) {
			fmt.Fprintf(h, "%s = %s\n", v.Key, v.Text)
		}
	}
	for _, list := range [][]*simulation.Tree{l.trees, l.held} {
		for _, t := range list {
			fmt.Fprintln(h, t.Digest())
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Differences lists the keys on which results depend and that another file has other
// values for, each as "key was its value and is ours".
func (l *TreeLearning) Differences(was *TreeLearning) []string {
	return differences(l.Values(), was.Values(), func(key string) bool { return slices.Contains(immaterialToTrees, key) })
}

// Trees are the tables that were read, to learn from and to stop early by.
func (l *TreeLearning) Trees() (learn, held []*simulation.Tree) { return l.trees, l.held }

// Options are those of the learner, for any seed.
func (l *TreeLearning) Options() learning.Options {
	o := l.Learn.Options
	o.StructuralShape = l.Policy
	return o
}

// load reads all tables, and says of each that cannot be learned from what is wrong
// with it.
func (l *TreeLearning) load(fsys files.FS, r *reading) {
	known := &folders{fsys: fsys}
	l.trees = r.trees(known, "tables.folders", l.Tables.Folders)
	l.held = r.trees(known, "tables.held_out", l.Tables.HeldOut)
}

// trees reads the tables that a key names.
func (r *reading) trees(known *folders, key string, paths []string) (trees []*simulation.Tree) {
	if r.broken[key] {
		return nil
	}
	o, _ := r.outline.lookUp(key)
	for k, path := range paths {
		tree, err := known.read(fmt.Sprintf("%s[%d]", o.key, k), path)
		if err != nil {
			r.blame(o, fmt.Sprintf("%s[%d]: %v", o.key, k, err), k)
			continue
		}
		trees = append(trees, tree)
	}
	return trees
}

// folders are those that were named so far.
type folders struct {
	fsys   files.FS
	places []string // where each was named
	infos  []os.FileInfo
}

// read reads the table of a folder that was not named before.
func (f *folders) read(place, path string) (*simulation.Tree, error) {
	if path == "" {
		return nil, errors.New("it is empty; name the folder of a table")
	}
	info, err := f.fsys.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; name the folder of a table", err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file; name the folder of a table", path)
	}
	for k, other := range f.infos {
		if os.SameFile(info, other) {
			return nil, fmt.Errorf("%s is the folder of %s too; name each table once", path, f.places[k])
		}
	}
	f.infos, f.places = append(f.infos, info), append(f.places, place)
	return ReadTree(f.fsys, path)
}
