package evaluate

import (
	"errors"
	"fmt"

	"graft/config"
	"graft/internal/failure"
	"graft/runner/app"
	"graft/simulation"
	"graft/simulation/tables"
)

// readTrees reads the tables, unless they were supplied.
func (e *Evaluation) readTrees() error {
	if e.o.Trees != nil {
		return nil
	}
	for _, folder := range e.o.Tables {
		t, err := config.ReadTree(e.env.Files, folder)
		if err != nil {
			return tableFault(folder, err)
		}
		e.o.Trees = append(e.o.Trees, t)
	}
	return nil
}

// tableFault sets the exit code for an error in reading a table, and adds the command that lists all faults.
func tableFault(folder string, err error) error {
	var faults tables.Faults
	if errors.As(err, &faults) {
		return failure.With(failure.Damaged,
			fmt.Errorf("%w\nrun 'graft table check %s' to see which part of the table is usable", err, folder))
	}
	if errors.Is(err, tables.ErrNoTable) {
		return failure.With(failure.Damaged, err)
	}
	return app.ReadFault(err)
}

// tellApart replaces names shared by several tables by their paths.
func tellApart(trees []*simulation.Tree, folders []string) {
	names := map[string]int{}
	for _, t := range trees {
		names[t.Name]++
	}
	for k, t := range trees {
		if names[t.Name] > 1 {
			t.Name = folders[k]
		}
	}
}
