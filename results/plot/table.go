package plot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/results/document"
	"graft/results/figure"
	"graft/results/runs"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// tableOf is the table of a run; nil where it has none, or none with records yet.
func tableOf(r *runs.Run) (*tables.Table, error) {
	var table *tables.Table
	var err error
	switch r.Kind {
	case runs.SimulationKind:
		table, err = r.Collected()
	case runs.OriginalKind:
		if table, err = runs.ReadOriginalTable(r.Fsys, r.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	default:
		table, err = r.ReadTable(r.Path)
	}
	if err != nil || table == nil || len(table.Records) == 0 {
		return nil, err
	}
	return table, nil
}

// treeOf is the table of a run, followed by whoever chooses in it.
func treeOf(r *runs.Run) (*simulation.Tree, error) {
	folder := r.Path
	if r.Kind == runs.SimulationKind {
		folder = filepath.Join(folder, runs.TableFolder)
	}
	return config.ReadTree(r.Fsys, folder)
}

// plotTrees draws the tree of a table with the path of a policy that was named, or those
// of the tables that policies learned from with theirs. Where the policy cannot go
// through a table, that is drawn without it.
func (g Given) plotTrees(r *runs.Run) ([]plotted, error) {
	switch r.Kind {
	case runs.PoliciesKind:
		return plotPolicyTrees(r)
	case runs.PolicyKind:
		return plotLessonTree(r)
	}
	table, err := tableOf(r)
	if table == nil {
		return nil, err
	}
	path, err := g.path(r)
	return []plotted{{Figure: treeFigure(table, path)}}, err
}

// path is the sequence of the policy that was named; nil where none was.
func (g Given) path(r *runs.Run) ([]string, error) {
	if g.Policy == nil {
		return nil, nil
	}
	tree, err := treeOf(r)
	if err != nil {
		return nil, fmt.Errorf("follow %s: %w", g.Policy.Name, err)
	}
	verdicts, err := evaluation.Evaluate([]*simulation.Tree{tree}, g.Policy.Chooser)
	if err != nil {
		return nil, fmt.Errorf("follow %s: %w", g.Policy.Name, err)
	}
	return verdicts[0].Sequence, nil
}

// plotDecisions draws what the policy that was named decides first in each table, by how
// much time is left. One of the original's knows its own tables only, and has none.
func (g Given) plotDecisions(list []*runs.Run) ([]plotted, error) {
	if g.Policy == nil || g.Policy.Structural == nil {
		return nil, nil
	}
	var trees []*simulation.Tree
	var faults error
	for _, r := range list {
		if table, _ := tableOf(r); table == nil { // a folder of the original's that has none
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
	return []plotted{{Figure: h}}, faults
}

// grove is a tree of nodes that is made of records.
type grove struct {
	*tables.Table
	order map[string]int // of actions
}

// treeFigure draws a table's tree, with the best sequence and that of a policy, which may
// be nil.
func treeFigure(t *tables.Table, policy []string) *figure.Tree {
	g := grove{t, map[string]int{}}
	for _, a := range t.Actions {
		g.order[a] = len(g.order)
	}
	all := make([]*tables.Record, len(t.Records))
	for k := range t.Records {
		all[k] = &t.Records[k]
		for _, a := range t.Records[k].Sequence {
			if _, known := g.order[a]; !known {
				g.order[a] = len(g.order)
			}
		}
	}
	f := &figure.Tree{Title: "The action tree of " + t.Name, Value: figure.Axis{Name: "mean accuracy", Unit: "%"}, Root: g.node("", all, 0),
		Note: fmt.Sprintf("%s, %s. A box for each beginning of sequences, as high as there are sequences that begin so. %s", t.Name, document.Plural(len(all), "sequence"), luck(t))}
	for k := range t.Decisions {
		f.Decisions = append(f.Decisions, fmt.Sprintf("decision %d", k+1))
	}
	best := slices.MaxFunc(all, func(a, b *tables.Record) int { return cmp.Compare(a.Mean(), b.Mean()) })
	f.Paths = append(f.Paths, figure.Path{Name: "optimum, " + percentOf(best), Steps: stepsOf(f.Root, best.Sequence)})
	if chosen := t.Find(policy...); chosen != nil && len(policy) > 0 {
		f.Paths = append(f.Paths, figure.Path{Name: "policy, " + percentOf(chosen), Steps: stepsOf(f.Root, policy)})
	}
	return f
}

// luck says how much of a best sequence is chance.
func luck(t *tables.Table) string {
	r := runs.ReportTable(t)
	if r.SeedSpread == nil {
		return "Each ran once: how far the optimum is chance cannot be told."
	}
	near := -1 // not itself
	for _, row := range r.Rows {
		if r.Best.Accuracy-row.Accuracy <= *r.SeedSpread {
			near++
		}
	}
	return fmt.Sprintf("Seeds of a sequence differ by a standard deviation of %s; %d others are within that of the optimum.", document.Share(r.SeedSpread), near)
}

func percentOf(r *tables.Record) string {
	mean := r.Mean()
	return document.Share(&mean)
}

// node is the beginning that records have in common, with what follows from it.
func (g grove) node(action string, records []*tables.Record, depth int) *figure.Node {
	n := &figure.Node{Action: action}
	for _, r := range records {
		n.Value += 100 * r.Mean() / float64(len(records))
	}
	if depth == g.Decisions {
		return n
	}
	groups := map[string][]*tables.Record{}
	var actions []string
	for _, r := range records {
		a := r.Sequence[depth]
		if groups[a] == nil {
			actions = append(actions, a)
		}
		groups[a] = append(groups[a], r)
	}
	slices.SortFunc(actions, func(a, b string) int { return cmp.Compare(g.order[a], g.order[b]) })
	for _, a := range actions {
		n.Children = append(n.Children, g.node(a, groups[a], depth+1))
	}
	return n
}

// stepsOf is a sequence as places in a tree.
func stepsOf(n *figure.Node, sequence []string) []int {
	var steps []int
	for _, action := range sequence {
		k := slices.IndexFunc(n.Children, func(c *figure.Node) bool { return c.Action == action })
		if k < 0 {
			return steps
		}
		steps, n = append(steps, k), n.Children[k]
	}
	return steps
}

// plotRanks draws the accuracy of all sequences in the order of their means.
func plotRanks(r *runs.Run) ([]plotted, error) {
	table, err := tableOf(r)
	if table == nil {
		return nil, err
	}
	report := runs.ReportTable(table)
	c := figure.Curve{Name: "mean over the seeds of a sequence"}
	for _, row := range report.Rows {
		record := table.Find(row.Sequence...)
		c.X, c.Y = append(c.X, float64(row.Rank)), append(c.Y, 100*row.Accuracy)
		c.Low, c.High = append(c.Low, 100*slices.Min(record.Accuracy)), append(c.High, 100*slices.Max(record.Accuracy))
	}
	note := fmt.Sprintf("%s: %s, %s. Band: from the worst to the best seed of each sequence.", table.Name, document.Plural(len(table.Records), "sequence"), document.SeedsText(report.Seeds))
	if report.SeedSpread == nil {
		c.Name, c.Low, c.High = "one run of each sequence", nil, nil
		note = fmt.Sprintf("%s: %s, each with one seed, so that how far a rank is chance cannot be told.", table.Name, document.Plural(len(table.Records), "sequence"))
	}
	panel := figure.Panel{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{c}}
	if report.NoAction != nil {
		panel.Levels = append(panel.Levels, figure.Level{Name: "no adaptation", At: 100 * report.NoAction.Accuracy})
	}
	if report.Mean != nil {
		panel.Levels = append(panel.Levels, figure.Level{Name: "mean of all", At: 100 * *report.Mean})
	}
	return []plotted{{Figure: &figure.Chart{Title: "Accuracies of " + table.Name, X: figure.Axis{Name: "rank of the sequence", Whole: true}, Note: strings.TrimSpace(note), Panels: []figure.Panel{panel}}}}, nil
}
