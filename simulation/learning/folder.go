package learning

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"graft/files"
	"graft/results"
	"graft/torch/weights"
)

// figuresTable is the table of figures in a run folder.
const figuresTable = "learning"

// learnersName is the folder of the learners in a run folder.
const learnersName = "learners"

var treeColumns = []results.Column{
	{Name: "seed", Kind: results.Int}, {Name: "step", Kind: results.Int}, {Name: "aim"}, {Name: "entropy", Unit: "nats"},
	{Name: "held_out"}, {Name: "regret", Unit: "points"},
}

// Folder records a study in a run folder: a table of figures, and a file for
// each learner. It is made by OpenFolder.
type Folder struct {
	run  *results.Run
	fsys files.FS
	mu   sync.Mutex
	rows *results.Stream
}

// OpenFolder opens the table of a run folder, which the caller closes. Its rows are
// those of learners, which tell them again.
func OpenFolder(fsys files.FS, run *results.Run) (*Folder, error) {
	rows, err := run.Stream(figuresTable, treeColumns)
	if err != nil {
		return nil, err
	}
	if err := rows.Truncate(0); err != nil {
		return nil, err
	}
	return &Folder{run: run, fsys: fsys, rows: rows}, fsys.MkdirAll(run.Path(learnersName))
}

// Step does nothing: a folder holds no single steps.
func (f *Folder) Step(Progress) {}

// Row adds a row to the table learning.
func (f *Folder) Row(r Row) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var outside any // is missing where nothing is held out
	if !math.IsNaN(r.HeldOut) {
		outside = r.HeldOut
	}
	return f.rows.Append(r.Seed, r.Step, r.Aim, r.Entropy, outside, r.Regret)
}

// Save writes a learner into its file.
func (f *Folder) Save(seed uint64, set *weights.Set) error {
	return files.WriteAtomic(f.fsys, f.path(seed), func(w io.Writer) error { return weights.WriteSafetensors(w, set) })
}

// Load reads a learner from its file, if there is one.
func (f *Folder) Load(seed uint64) (*weights.Set, error) {
	set, err := weights.Read(f.fsys, f.path(seed), weights.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("go on with seed %d: %w; delete the file to begin that seed anew", seed, err)
	}
	return set, nil
}

func (f *Folder) path(seed uint64) string {
	return f.run.Path(filepath.Join(learnersName, fmt.Sprintf("seed-%d.safetensors", seed)))
}

// Finish puts the rows of all seeds in order: what learned at once has told them as
// they came.
func (f *Folder) Finish(all []Result) error {
	if err := f.rows.Truncate(0); err != nil {
		return err
	}
	for _, l := range slices.SortedFunc(slices.Values(all), func(a, b Result) int { return cmp.Compare(a.Seed, b.Seed) }) {
		for _, r := range l.Rows {
			if err := f.Row(r); err != nil {
				return err
			}
		}
	}
	return f.rows.Sync()
}
