package runs

import (
	"fmt"
	"io/fs"
	"slices"

	"graft/files"
	"graft/results/document"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// SimulationKind is the runs of graft simulate.
var SimulationKind = &Kind{Name: "simulation", Title: "simulation", Titles: "simulations", fits: isRunOf(PlanFile), read: readSimulationRun}

// TableKind is tables that lie alone.
var TableKind = &Kind{Name: "table", Title: "table", Titles: "tables", fits: func(f *Folder) bool { return f.Has(scenarioJSON) }, read: readTableRun}

// readSimulationRun takes the table that was collected last, if one was.
func readSimulationRun(f *Folder, r *Run) error {
	if err := f.own(r, nil); err != nil {
		return err
	}
	plan, err := ReadPlan(f.Fsys, f.At(PlanFile))
	if err != nil {
		return err
	}
	failed, err := Failures(f)
	if err != nil {
		return err
	}
	table, err := r.Collected()
	if err != nil {
		return err
	}
	r.Quantities = append(r.Quantities, seedless("failed_attempts", "", downward, float64(len(failed))))
	if table == nil {
		return nil
	}
	r.Ended = hasAll(plan, table)
	r.Quantities = append(tableQuantities(table), r.Quantities...)
	return nil
}

// Collected is the table in a simulation's folder; nil where there is none yet. A new
// one takes the place of an old one in two steps, between which there is none.
func (r *Run) Collected() (*tables.Table, error) {
	f := &Folder{Path: r.Path, Fsys: r.Fsys}
	table, err := r.ReadTable(f.At(TableFolder))
	if NotThere(err) {
		table, err = r.ReadTable(f.At(TableFolder))
	}
	if NotThere(err) {
		return nil, nil
	}
	return table, err
}

// ReadTable reads a table. What of it is damaged is kept beside the rest, if there is a
// rest.
func (r *Run) ReadTable(dir string) (*tables.Table, error) {
	table, err := tables.Read(r.Fsys, dir)
	if table != nil && len(table.Records) > 0 && err != nil {
		r.Faults, err = err, nil
	}
	return table, err
}

// Failures are the attempts that failed.
func Failures(f *Folder) ([]grid.Failure, error) {
	if _, err := f.Fsys.Stat(f.At(FailuresFolder)); NotThere(err) {
		return nil, nil
	}
	log, err := grid.OpenFailures(f.Fsys, f.At(FailuresFolder))
	if err != nil {
		return nil, err
	}
	return log.List()
}

// hasAll says whether a table has what was planned, as far as that can be told
// without the cache.
func hasAll(p *grid.Plan, t *tables.Table) bool {
	whole := func(r tables.Record) bool { return len(r.Seeds) >= len(p.Seeds) }
	if p.Design.Which == grid.All && t.Complete() != nil {
		return false
	}
	return len(t.Records) > 0 && !slices.ContainsFunc(t.Records, func(r tables.Record) bool { return !whole(r) })
}

func readTableRun(f *Folder, r *Run) error {
	table, err := r.ReadTable(f.Path)
	if err != nil {
		return err
	}
	r.Ended = table.Complete() == nil
	r.Quantities = tableQuantities(table)
	return nil
}

// tableQuantities are the figures of a table: of its best sequence, of the one without
// any action, and of all together.
func tableQuantities(t *tables.Table) []quantity {
	report := ReportTable(t)
	list := []quantity{seedless("sequences", "", noAim, float64(len(t.Records)))}
	if len(t.Records) == 0 {
		return list
	}
	list = append(list, ofSequence("best_accuracy", t, report.Best))
	if report.NoAction != nil {
		list = append(list, ofSequence("no_action_accuracy", t, report.NoAction))
	}
	return append(list, meanAccuracy(t, report), ofSequence("worst_accuracy", t, report.Worst))
}

func ofSequence(name string, t *tables.Table, row *RankRow) quantity {
	record := t.Find(row.Sequence...)
	return quantity{Name: name, Unit: document.UnitShare, Aim: upward, Seeds: record.Seeds, Values: record.Accuracy}
}

// meanAccuracy is the mean over the sequences, for each seed where all have the same.
func meanAccuracy(t *tables.Table, report *TableReport) quantity {
	q := quantity{Name: "mean_accuracy", Unit: document.UnitShare, Aim: upward, Seeds: t.Records[0].Seeds, Values: make([]float64, len(t.Records[0].Seeds))}
	for _, record := range t.Records {
		if !slices.Equal(record.Seeds, q.Seeds) {
			return seedless(q.Name, q.Unit, q.Aim, *report.Mean)
		}
		for k, a := range record.Accuracy {
			q.Values[k] += a / float64(len(t.Records))
		}
	}
	return q
}

// ReadOriginalTable reads the original's table in a folder.
func ReadOriginalTable(fsys files.FS, folder string) (*tables.Table, error) {
	file, ok := OriginalTable(fsys, folder)
	if !ok {
		return nil, fmt.Errorf("%s: %w", folder, fs.ErrNotExist)
	}
	source := &TableSource{Actions: OriginalActions}
	report, err := source.ReadOriginal(fsys, file)
	if err != nil {
		return nil, err
	}
	return report.Table, nil
}
