package learn

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sync"

	"graft/internal/files"
	"graft/results"
	"graft/torch/weights"
)

// figuresTable is the name of the table of metrics in a run folder.
const figuresTable = "learning"

// learnersName is the folder of the learners in a run folder.
const learnersName = "learners"

// Folder records a study in a run folder: a table of metrics, and one file per learner. Create it with OpenFolder.
type Folder struct {
	run  *results.Run
	fsys files.FS
	mu   sync.Mutex
	rows *results.Stream
}

// OpenFolder opens the table of metrics in a run folder and deletes the table's rows, because resumed learners report
// all their rows again. The caller closes the table. The columns of the table are the seed, the step, and the given
// values.
func OpenFolder(fsys files.FS, run *results.Run, values []results.Column) (*Folder, error) {
	columns := append([]results.Column{{Name: "seed", Kind: results.Int}, {Name: "step", Kind: results.Int}}, values...)
	rows, err := run.Stream(figuresTable, columns)
	if err != nil {
		return nil, err
	}
	if err := rows.Truncate(0); err != nil {
		return nil, err
	}
	return &Folder{run: run, fsys: fsys, rows: rows}, fsys.MkdirAll(run.Path(learnersName))
}

// Step does nothing, because a folder does not record single steps.
func (f *Folder) Step(uint64, Learner) {}

// Row adds a row of metrics to the table. NaN values are stored as missing values.
func (f *Folder) Row(r Row) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	cells := []any{r.Seed, r.Step}
	for _, v := range r.Values {
		if math.IsNaN(v) {
			cells = append(cells, nil)
			continue
		}
		cells = append(cells, v)
	}
	return f.rows.Append(cells...)
}

// Save writes the state of a seed's learner to a file.
func (f *Folder) Save(seed uint64, set *weights.Set) error {
	return files.WriteAtomic(f.fsys, f.path(seed), func(w io.Writer) error { return weights.WriteSafetensors(w, set) })
}

// Load reads the state of a seed's learner from its file. It returns nil if there is no file.
func (f *Folder) Load(seed uint64) (*weights.Set, error) {
	set, err := weights.Read(f.fsys, f.path(seed), weights.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume seed %d: %w; delete the file to restart this seed", seed, err)
	}
	return set, nil
}

func (f *Folder) path(seed uint64) string {
	return f.run.Path(filepath.Join(learnersName, fmt.Sprintf("seed-%d.safetensors", seed)))
}

// Finish replaces the rows of the table with the given rows of all seeds, in the given order. Until then, the rows of
// parallel learners are in the order in which they were produced.
func (f *Folder) Finish(all ...[]Row) error {
	if err := f.rows.Truncate(0); err != nil {
		return err
	}
	for _, rows := range all {
		for _, r := range rows {
			if err := f.Row(r); err != nil {
				return err
			}
		}
	}
	return f.rows.Sync()
}
