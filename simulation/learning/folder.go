package learning

import (
	"cmp"
	"slices"

	"graft/internal/files"
	"graft/learn"
	"graft/results"
)

var treeColumns = []results.Column{{Name: "aim"}, {Name: "entropy", Unit: "nats"}, {Name: "held_out"},
	{Name: "regret", Unit: "points"}}

// Folder records a study in a run folder, as [learn.Folder] does.
type Folder struct{ *learn.Folder }

// OpenFolder opens the table of a run folder and deletes its rows, because a resumed learner reports all its rows
// again. The caller closes the table.
func OpenFolder(fsys files.FS, run *results.Run) (*Folder, error) {
	f, err := learn.OpenFolder(fsys, run, treeColumns)
	return &Folder{f}, err
}

// Step does nothing, because a folder does not record single steps.
func (f *Folder) Step(Progress) {}

// Row adds a row to the table "learning".
func (f *Folder) Row(r Row) error {
	return f.Folder.Row(learn.Row{Seed: r.Seed, Step: r.Step, Values: r.values()})
}

// Finish sorts the rows of all seeds, because parallel learners write their rows in an arbitrary order.
func (f *Folder) Finish(all []Result) error {
	var rows [][]learn.Row
	for _, l := range slices.SortedFunc(slices.Values(all),
		func(a, b Result) int { return cmp.Compare(a.Seed, b.Seed) }) {
		var own []learn.Row
		for _, r := range l.Rows {
			own = append(own, learn.Row{Seed: r.Seed, Step: r.Step, Values: r.values()})
		}
		rows = append(rows, own)
	}
	return f.Folder.Finish(rows...)
}
