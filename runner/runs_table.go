package main

import (
	"fmt"
	"io/fs"
	"slices"

	"graft/simulation/grid"
	"graft/simulation/tables"
)

// simulationRuns is the runs of graft simulate.
var simulationRuns = &runKind{name: "simulation", title: "simulation", titles: "simulations", fits: isRunOf(planFile), read: readSimulationRun, detail: readSimulationDetail}

// tableRuns is tables that lie alone.
var tableRuns = &runKind{name: "table", title: "table", titles: "tables", fits: func(f *runFolderView) bool { return f.has(scenarioJSON) }, read: readTableRun, detail: readTableDetail}

// readSimulationRun takes the table that was collected last, if one was.
func readSimulationRun(f *runFolderView, r *runData) error {
	if err := f.own(r, nil); err != nil {
		return err
	}
	plan, err := readPlan(f.at(planFile))
	if err != nil {
		return err
	}
	failed, err := failures(f)
	if err != nil {
		return err
	}
	table, err := r.collected()
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

// collected is the table in a simulation's folder; nil where there is none yet. A new
// one takes the place of an old one in two steps, between which there is none.
func (r *runData) collected() (*tables.Table, error) {
	f := &runFolderView{path: r.Path, fsys: r.fsys}
	table, err := r.readTable(f.at(tableFolder))
	if notThere(err) {
		table, err = r.readTable(f.at(tableFolder))
	}
	if notThere(err) {
		return nil, nil
	}
	return table, err
}

// readTable reads a table. What of it is damaged is kept beside the rest, if there is a
// rest.
func (r *runData) readTable(dir string) (*tables.Table, error) {
	table, err := tables.Read(r.fsys, dir)
	if table != nil && len(table.Records) > 0 && err != nil {
		r.Faults, err = err, nil
	}
	return table, err
}

// failures are the attempts that failed.
func failures(f *runFolderView) ([]grid.Failure, error) {
	if _, err := f.fsys.Stat(f.at(failuresFolder)); notThere(err) {
		return nil, nil
	}
	log, err := grid.OpenFailures(f.fsys, f.at(failuresFolder))
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

func readTableRun(f *runFolderView, r *runData) error {
	table, err := r.readTable(f.path)
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
	report := reportTable(t)
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

func ofSequence(name string, t *tables.Table, row *rankRow) quantity {
	record := t.Find(row.Sequence...)
	return quantity{Name: name, Unit: unitShare, Aim: upward, Seeds: record.Seeds, Values: record.Accuracy}
}

// meanAccuracy is the mean over the sequences, for each seed where all have the same.
func meanAccuracy(t *tables.Table, report *tableReport) quantity {
	q := quantity{Name: "mean_accuracy", Unit: unitShare, Aim: upward, Seeds: t.Records[0].Seeds, Values: make([]float64, len(t.Records[0].Seeds))}
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

// readOriginalTable reads the original's table in a folder.
func readOriginalTable(folder string) (*tables.Table, error) {
	file, ok := originalTable(folder)
	if !ok {
		return nil, fmt.Errorf("%s: %w", folder, fs.ErrNotExist)
	}
	source := &tableSource{actions: originalActions, given: func(string) bool { return false }}
	report, err := source.readOriginal(file)
	if err != nil {
		return nil, err
	}
	return report.Table, nil
}
