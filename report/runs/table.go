package runs

import (
	"path/filepath"
	"slices"

	"graft/report/document"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// SimulationKind describes the run folders that 'graft simulate' writes.
var SimulationKind = &Kind{Name: "simulation", By: "graft simulate", Title: "simulation", Titles: "simulations",
	matches: hasManifestAnd(PlanFile), read: readSimulationRun, list: simulationOverview}

// TableKind describes the folders of single tables, outside the run folders of simulations.
var TableKind = &Kind{Name: "table", By: "graft table convert", Title: "table", Titles: "tables",
	matches: func(f *Folder) bool { return f.Has(scenarioJSON) }, read: readTableRun,
	list: tableOverview}

// readSimulationRun reads the last collected table, if there is one.
func readSimulationRun(f *Folder, r *Run) error {
	if err := f.readOwn(r, nil); err != nil {
		return err
	}
	plan, err := r.plan()
	if err != nil {
		return err
	}
	failed, err := r.Failures()
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

// CollectedTable reads the collected table of a simulation. It returns nil if the simulation has not collected a table
// yet.
func (r *Run) CollectedTable() (*tables.Table, error) {
	table, err := r.table(TableFolder)
	if NotThere(err) {
		return nil, nil
	}
	return table, err
}

// Table reads the table of a run. The kind of the run must be [TableKind].
func (r *Run) Table() (*tables.Table, error) { return r.table(".") }

// table reads a table in the folder of the run. Damaged records become faults of the run unless all are damaged.
func (r *Run) table(name string) (*tables.Table, error) {
	return keep(&r.folder.kept, filepath.Join("table of", name), func() (*tables.Table, error) {
		table, err := tables.Read(r.Files, r.folder.At(name))
		if NotThere(err) { // while a new table replaces an old one, the file is briefly missing
			table, err = tables.Read(r.Files, r.folder.At(name))
		}
		if table != nil && len(table.Records) > 0 && err != nil {
			r.Faults, err = err, nil
		}
		return table, err
	})
}

// Failures lists the failed attempts of a simulation.
func (r *Run) Failures() ([]grid.Failure, error) {
	return keep(&r.folder.kept, FailuresFolder, func() ([]grid.Failure, error) {
		if _, err := r.Files.Stat(r.folder.At(FailuresFolder)); NotThere(err) {
			return nil, nil
		}
		log, err := grid.OpenFailures(r.Files, r.folder.At(FailuresFolder))
		if err != nil {
			return nil, err
		}
		return log.List()
	})
}

// plan returns the plan of a simulation.
func (r *Run) plan() (*grid.Plan, error) {
	return keep(&r.folder.kept, PlanFile, func() (*grid.Plan, error) {
		return ReadPlan(r.Files, r.folder.At(PlanFile))
	})
}

// isComplete reports whether a table has all planned sequences, as far as the table alone shows.
func isComplete(p *grid.Plan, t *tables.Table) bool {
	whole := func(r tables.Record) bool { return len(r.Seeds) >= len(p.Seeds) }
	if p.Design.Which == grid.All && t.Complete() != nil {
		return false
	}
	return len(t.Records) > 0 && !slices.ContainsFunc(t.Records, func(r tables.Record) bool { return !whole(r) })
}

func readTableRun(f *Folder, r *Run) error {
	table, err := r.Table()
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

// meanAccuracy averages over the sequences, per seed if all sequences have the same seeds.
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
