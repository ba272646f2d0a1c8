package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/simulation"
	"graft/simulation/learning"
)

// Check reads all tables and reports tables from which policies cannot learn.
func (l *TreeLearning) Check(fsys files.FS, r *decode.Reading) {
	known := &folders{fsys: fsys}
	l.trees = known.trees(r, "folders", l.Tables.Folders)
	l.held = known.trees(r, "held_out", l.Tables.HeldOut)
}

// Complete prepares options that were created in memory. It fills in defaults, validates the options and reads the
// tables, as ReadTreeLearning does for a file.
func (l *TreeLearning) Complete(fsys files.FS) error {
	l.EnsureDefaults()
	known, faults := &folders{fsys: fsys}, []error{l.Validate()}
	read := func(key string, paths []string) (trees []*simulation.Tree) {
		for k, path := range paths {
			tree, err := known.read(fmt.Sprintf("tables.%s[%d]", key, k), path)
			trees, faults = append(trees, tree), append(faults, err)
		}
		return trees
	}
	l.trees, l.held = read("folders", l.Tables.Folders), read("held_out", l.Tables.HeldOut)
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("read learning configuration: %w", err)
	}
	return nil
}

// trees reads the tables that a key of the section tables names.
func (f *folders) trees(r *decode.Reading, key string, paths []string) (trees []*simulation.Tree) {
	if r.Broken("tables." + key) {
		return nil
	}
	for k, path := range paths {
		tree, err := f.read(fmt.Sprintf("%s[%d]", key, k), path)
		if err != nil {
			r.Blame("tables."+key, fmt.Sprintf("%s[%d]: %v", key, k, err), k)
			continue
		}
		trees = append(trees, tree)
	}
	return trees
}

// folders holds the folders named so far.
type folders struct {
	fsys   files.FS
	places []string // keys that name them
	paths  []string
	infos  []fs.FileInfo

	known []*simulation.Tree // table of each place; nil if it could not be read
}

// read reads the table of a folder that is not named before.
func (f *folders) read(place, path string) (*simulation.Tree, error) {
	if path == "" {
		return nil, errors.New("the path is empty; expected a table folder")
	}
	info, err := f.fsys.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; expected a table folder", err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file; expected a table folder", path)
	}
	for k, other := range f.infos {
		if os.SameFile(info, other) {
			return nil, fmt.Errorf("duplicate folder %s, already listed as %s; list each table once", path, f.places[k])
		}
	}
	tree, err := ReadTree(f.fsys, path)
	f.infos, f.places, f.known = append(f.infos, info), append(f.places, place), append(f.known, tree)
	f.paths = append(f.paths, path)
	if err != nil {
		return nil, err
	}
	for k, other := range f.known[:len(f.known)-1] {
		if other != nil && other.SameRuns(tree.Table) {
			return nil, fmt.Errorf("the tables %s and %s (%s) share at least half of their runs; keep the larger one, "+
				"or merge them: equal runs count twice in training, and do not test policies that learned from them",
				path, f.paths[k], f.places[k])
		}
	}
	return tree, nil
}

// Summary describes in one line how the structural policies are trained.
func (l *TreeLearning) Summary() (string, error) {
	trees, held := l.Trees()
	sequences := 0
	for _, t := range trees {
		sequences += len(t.Records)
	}
	text := fmt.Sprintf("trains structural policies with %s on %s of %s", words.Plural(l.Run.Seeds, "seed"),
		words.Plural(sequences, "sequence"), words.Plural(len(trees), "table"))
	if len(held) > 0 {
		does := "stops early by"
		if l.Learn.Method == learning.Forest {
			does = "evaluates them on"
		}
		text += fmt.Sprintf(", %s %s", does, words.Plural(len(held), "other table"))
	}
	return fmt.Sprintf("%s, for %s scenarios, %s; digest %.12s", text, l.Learn.For, l.Learn.effort(), l.Digest()), nil
}
