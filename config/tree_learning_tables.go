package config

import (
	"errors"
	"fmt"

	"graft/files"
)

// Complete fills in the defaults of a file that was made in memory, checks its values and
// reads its tables, as ReadTreeLearning does with a file of a disk.
func (l *TreeLearning) Complete(fsys files.FS) error {
	l.EnsureDefaults()
	faults := []error{l.Validate()}
	known := &folders{fsys: fsys}
	l.trees, l.held = nil, nil
	for k, path := range l.Tables.Folders {
		tree, err := known.read(fmt.Sprintf("tables.folders[%d]", k), path)
		l.trees, faults = append(l.trees, tree), append(faults, err)
	}
	for k, path := range l.Tables.HeldOut {
		tree, err := known.read(fmt.Sprintf("tables.held_out[%d]", k), path)
		l.held, faults = append(l.held, tree), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("read learning: %w", err)
	}
	return nil
}
