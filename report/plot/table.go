package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// tableOf reads the table of a run; nil if it has no table or no records.
func tableOf(r *runs.Run) (*tables.Table, error) {
	var table *tables.Table
	var err error
	switch r.Kind {
	case runs.SimulationKind:
		table, err = r.CollectedTable()
	case runs.OriginalKind:
		if table, err = r.OriginalTable(); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	default:
		table, err = r.Table()
	}
	if err != nil || table == nil || len(table.Records) == 0 {
		return nil, err
	}
	return table, nil
}

// treeOf reads the table of a run as a tree for choosers.
func treeOf(r *runs.Run) (*simulation.Tree, error) {
	folder := r.Path
	if r.Kind == runs.SimulationKind {
		folder = filepath.Join(folder, runs.TableFolder)
	}
	return config.ReadTree(r.Files, folder)
}

// plotTrees draws the tree of a table with the path of the given policy, or the training trees of policies with their
// paths. A table in which the policy cannot choose is drawn without it.
func (g Given) plotTrees(r *runs.Run) ([]drawing, error) {
	switch r.Kind {
	case runs.PoliciesKind:
		return plotPolicyTrees(r)
	case runs.PolicyKind:
		return plotLearnedTree(r)
	}
	table, err := tableOf(r)
	if table == nil {
		return nil, err
	}
	path, err := g.path(r)
	return []drawing{{Figure: treeFigure(table, path)}}, err
}

// path returns the sequence of the given policy; nil without one.
func (g Given) path(r *runs.Run) ([]string, error) {
	if g.Policy == nil {
		return nil, nil
	}
	tree, err := treeOf(r)
	if err != nil {
		return nil, fmt.Errorf("apply policy %s: %w", g.Policy.Name, err)
	}
	verdicts, err := evaluation.Evaluate([]*simulation.Tree{tree}, g.Policy.Chooser)
	if err != nil {
		return nil, fmt.Errorf("apply policy %s: %w", g.Policy.Name, err)
	}
	return verdicts[0].Sequence, nil
}

// plotDecisions draws the first decisions of the given policy in each table, by time left. A policy of the
// original system supports only its own tables and has no figure.
func (g Given) plotDecisions(list []*runs.Run) ([]drawing, error) {
	if g.Policy == nil || g.Policy.Structural == nil {
		return nil, nil
	}
	var trees []*simulation.Tree
	var faults error
	for _, r := range list {
		if table, _ := tableOf(r); table == nil { // a folder of the original's without a table
			continue
		}
		tree, err := treeOf(r)
		if err != nil {
			faults = errors.Join(faults, fmt.Errorf("%s: %w", r.Path, err))
			continue
		}
		trees = append(trees, tree)
	}
	if len(trees) == 0 {
		return nil, faults
	}
	h, err := heatOf("First decision of "+g.Policy.Name, trees, g.Policy.Structural)
	if err != nil {
		return nil, err
	}
	return []drawing{{Figure: h}}, faults
}

// plotRanks draws the accuracy of all sequences by rank.
func plotRanks(r *runs.Run) ([]drawing, error) {
	table, err := tableOf(r)
	if table == nil {
		return nil, err
	}
	report := runs.NewTableReport(table)
	c := figure.Curve{Name: "mean over seeds of each sequence"}
	for _, row := range report.Rows {
		record := table.Find(row.Sequence...)
		c.X, c.Y = append(c.X, float64(row.Rank)), append(c.Y, 100*row.Accuracy)
		c.Low, c.High = append(c.Low, 100*slices.Min(record.Accuracy)), append(c.High, 100*slices.Max(record.Accuracy))
	}
	note := fmt.Sprintf("%s: %s, %s. Band: worst to best seed of each sequence.", table.Name,
		words.Plural(len(table.Records), "sequence"), document.SeedsText(report.Seeds))
	if report.SeedSpread == nil {
		c.Name, c.Low, c.High = "one run of each sequence", nil, nil
		note = fmt.Sprintf("%s: %s with one seed each, so the noise of the ranks is unknown.", table.Name,
			words.Plural(len(table.Records), "sequence"))
	}
	panel := figure.Panel{Y: shareAxis("accuracy"), Curves: []figure.Curve{c}}
	if report.Never != nil {
		panel.Levels = append(panel.Levels, figure.Level{Name: "never", At: 100 * report.Never.Accuracy})
	}
	if report.Mean != nil {
		panel.Levels = append(panel.Levels, figure.Level{Name: "mean of all", At: 100 * *report.Mean})
	}
	return []drawing{{Figure: &figure.Chart{Title: "Accuracies of " + table.Name, X: figure.Axis{
		Name: "rank of the sequence", Whole: true,
	}, Note: strings.TrimSpace(note), Panels: []figure.Panel{panel}}}}, nil
}
