package runs

import (
	"slices"

	"graft/report/document"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// SimulationKind covers the runs of graft simulate.
var SimulationKind = &Kind{Name: "simulation", Title: "simulation", Titles: "simulations",
	matches: hasManifestAnd(PlanFile), read: readSimulationRun}

// TableKind covers tables that are in no simulation's folder.
var TableKind = &Kind{Name: "table", Title: "table", Titles: "tables",
	matches: func(f *Folder) bool { return f.Has(scenarioJSON) }, read: readTableRun}

// readSimulationRun reads the last collected table, if there is one.
func readSimulationRun(f *Folder, r *Run) error {
	if err := f.readOwn(r, nil); err != nil {
		return err
	}
	plan, err := ReadPlan(f.Files, f.At(PlanFile))
	if err != nil {
		return err
	}
	failed, err := Failures(f)
	if err != nil {
		return err
	}
	table, err := r.CollectedTable()
	if err != nil {
		return err
	}
	r.Quantities = append(r.Quantities, seedless("failed_attempts", "", Lower, float64(len(failed))))
	if table == nil {
		return nil
	}
	r.Ended = isComplete(plan, table)
	r.Quantities = append(tableQuantities(table), r.Quantities...)
	return nil
}

// CollectedTable reads the collected table of a simulation; nil without one. It tries twice: while
// a new table replaces an old one there is none for a moment.
func (r *Run) CollectedTable() (*tables.Table, error) {
	f := &Folder{Path: r.Path, Files: r.Files}
	table, err := r.ReadTable(f.At(TableFolder))
	if NotThere(err) {
		table, err = r.ReadTable(f.At(TableFolder))
	}
	if NotThere(err) {
		return nil, nil
	}
	return table, err
}

// ReadTable reads a table. Damaged records become faults of the run if any other is left.
func (r *Run) ReadTable(dir string) (*tables.Table, error) {
	table, err := tables.Read(r.Files, dir)
	if table != nil && len(table.Records) > 0 && err != nil {
		r.Faults, err = err, nil
	}
	return table, err
}

// Failures lists the failed attempts.
func Failures(f *Folder) ([]grid.Failure, error) {
	if _, err := f.Files.Stat(f.At(FailuresFolder)); NotThere(err) {
		return nil, nil
	}
	log, err := grid.OpenFailures(f.Files, f.At(FailuresFolder))
	if err != nil {
		return nil, err
	}
	return log.List()
}

// isComplete reports whether a table has all planned sequences, as far as the table alone can tell.
func isComplete(p *grid.Plan, t *tables.Table) bool {
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

// tableQuantities lists the accuracies of a table: best, never, mean and worst.
func tableQuantities(t *tables.Table) []Quantity {
	report := NewTableReport(t)
	list := []Quantity{seedless("sequences", "", Neutral, float64(len(t.Records)))}
	if len(t.Records) == 0 {
		return list
	}
	list = append(list, ofSequence("best_accuracy", t, report.Best))
	if report.Never != nil {
		list = append(list, ofSequence("never_accuracy", t, report.Never))
	}
	return append(list, meanAccuracy(t, report), ofSequence("worst_accuracy", t, report.Worst))
}

func ofSequence(name string, t *tables.Table, row *RankRow) Quantity {
	record := t.Find(row.Sequence...)
	return Quantity{Name: name, Unit: document.UnitShare, Better: Higher, Seeds: record.Seeds, Values: record.Accuracy}
}

// meanAccuracy averages over the sequences, for each seed if all sequences have the same seeds.
func meanAccuracy(t *tables.Table, report *TableReport) Quantity {
	q := Quantity{Name: "mean_accuracy", Unit: document.UnitShare, Better: Higher, Seeds: t.Records[0].Seeds,
		Values: make([]float64, len(t.Records[0].Seeds))}
	for _, record := range t.Records {
		if !slices.Equal(record.Seeds, q.Seeds) {
			return seedless(q.Name, q.Unit, q.Better, *report.Mean)
		}
		for k, a := range record.Accuracy {
			q.Values[k] += a / float64(len(t.Records))
		}
	}
	return q
}
