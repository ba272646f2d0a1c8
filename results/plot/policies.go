package plot

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"graft/config"
	"graft/decider"
	"graft/original/learn"
	"graft/results"
	"graft/results/document"
	"graft/results/figure"
	"graft/results/runs"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/stat"
)

// learned are structural policies, and the tables that they learned from.
type learned struct {
	trees []*simulation.Tree
	vote  *decider.Structural
	seeds []*decider.Structural
}

// readLearned reads what policies came out, and the tables that their configuration
// names; nil where learning has not ended.
func readLearned(r *runs.Run) (*learned, error) {
	if !r.Ended {
		return nil, nil
	}
	l, err := config.ReadTreeLearning(r.Fsys, filepath.Join(r.Path, runs.ResolvedFile), nil)
	if err != nil {
		return nil, err
	}
	known, held := l.Trees()
	all := &learned{trees: slices.Concat(known, held)}
	if all.vote, err = runs.ReadStructuralFile(r.Fsys, filepath.Join(r.Path, runs.VoteFile)); err != nil {
		return nil, err
	}
	paths, err := runs.SeedFiles(r.Fsys, r.Path)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		p, err := runs.ReadStructuralFile(r.Fsys, path)
		if err != nil {
			return nil, err
		}
		all.seeds = append(all.seeds, p)
	}
	return all, nil
}

// RivalNames are what bars stand for, in their order.
var RivalNames = []string{"learned", "none", "random", "best fixed", "optimum"}

// plotBars draws what policies' sequences led to in each table, beside what others would
// have led to.
func plotBars(r *runs.Run) ([]plotted, error) {
	switch r.Kind {
	case runs.EvaluationKind:
		return plotEvaluationBars(r)
	case runs.PipelineKind:
		return plotPipelineBars(r)
	}
	l, err := readLearned(r)
	if l == nil || err != nil {
		return barsOfOutcome(r, err)
	}
	fixed, err := evaluation.BestFixed("best fixed", l.trees, false)
	if err != nil {
		fixed = nil // the tables have no sequence in common
	}
	b := &figure.Bars{Title: "Accuracy by scenario of " + r.Base(), X: accuracyAxis, Names: RivalNames,
		Note: fmt.Sprintf("learned: mean of %s, 95%% interval by a bootstrap over them; others over the runs of a sequence where it ran more than once. random: the mean of all sequences.", document.Plural(len(l.seeds), "seed"))}
	var networks []string
	for _, t := range l.trees {
		g := figure.Group{Name: t.Name}
		var values []float64
		for _, p := range l.seeds {
			v, err := evaluation.Evaluate([]*simulation.Tree{t}, evaluation.Structural("seed", p))
			if err != nil {
				return nil, err
			}
			values = append(values, v[0].Accuracy)
		}
		g.Bars = append(g.Bars, barOf(values))
		for _, c := range []evaluation.Policy{evaluation.Constant("none", "none"), evaluation.Uniform(), fixed, evaluation.Oracle()} {
			g.Bars = append(g.Bars, chosenBar(t, c))
		}
		b.Groups, networks = append(b.Groups, g), append(networks, t.Network)
	}
	return divideBars(b, networks), nil
}

// accuracyAxis is of accuracies by scenario.
var accuracyAxis = figure.Axis{Name: "accuracy", Unit: "%"}

// mostScenarios is how many scenarios a figure has: as many as there are of a network
// where there are many.
const mostScenarios = 12

// divideBars gives each network a figure of its own, or several, where there are more
// scenarios than one has room for.
func divideBars(b *figure.Bars, networks []string) []plotted {
	if len(b.Groups) <= mostScenarios {
		return []plotted{{Figure: b}}
	}
	groups := map[string][]figure.Group{}
	var names []string
	for k, g := range b.Groups {
		if groups[networks[k]] == nil {
			names = append(names, networks[k])
		}
		groups[networks[k]] = append(groups[networks[k]], g)
	}
	var all []plotted
	for _, name := range names {
		part := 0
		for some := range slices.Chunk(groups[name], mostScenarios) {
			one := *b
			one.Title, one.Groups = b.Title+", "+name, some
			if part++; part > 1 {
				one.Title += fmt.Sprintf(", part %d", part)
			}
			one.Note = name + ". " + b.Note
			all = append(all, plotted{name, &one})
		}
	}
	return all
}

// barOf is the mean of accuracies with its interval; nothing where there are none.
func barOf(values []float64) figure.Bar {
	if len(values) == 0 {
		return figure.Bar{Value: math.NaN()}
	}
	return scaledBar(values, 100)
}

// scaledBar is the mean of values in another unit, with its interval.
func scaledBar(values []float64, unit float64) figure.Bar {
	i := stat.MeanInterval(values, 1)
	bar := figure.Bar{Value: unit * i.Mean}
	if len(values) > 1 {
		bar.Low, bar.High = unit*i.Low, unit*i.High
	}
	return bar
}

// chosenBar is what a chooser's sequence led to; over the seeds of its runs where it is
// certain.
func chosenBar(t *simulation.Tree, c evaluation.Policy) figure.Bar {
	if c == nil {
		return barOf(nil)
	}
	v, err := evaluation.Evaluate([]*simulation.Tree{t}, c)
	if err != nil {
		return barOf(nil) // the table has no such sequence
	}
	if record := t.Find(v[0].Sequence...); v[0].Certain && record != nil {
		return barOf(record.Accuracy)
	}
	return figure.Bar{Value: 100 * v[0].Accuracy}
}

// barsOfOutcome draws what the outcome says, where the tables or the policies cannot be
// read; why is told as well.
func barsOfOutcome(r *runs.Run, why error) ([]plotted, error) {
	o := &runs.PoliciesOutcome{}
	if !r.Ended {
		return nil, why
	}
	if err := results.ReadOutcome(r.Fsys, r.Path, o); err != nil {
		return nil, err
	}
	b := &figure.Bars{Title: "Accuracy by scenario of " + r.Base(), X: accuracyAxis, Names: []string{"vote of all seeds", "none", "random", "optimum"},
		Note: "From the outcome, without intervals. random: the mean of all sequences."}
	var networks []string
	for _, v := range slices.Concat(o.Tables, o.HeldOut) {
		networks = append(networks, v.Network)
		never := 100 * v.Never
		if never == 0 {
			never = math.NaN() // the table has no such sequence
		}
		b.Groups = append(b.Groups, figure.Group{Name: v.Scenario, Bars: []figure.Bar{{Value: 100 * v.Accuracy}, {Value: never}, {Value: 100 * v.Mean}, {Value: 100 * v.Best}}})
	}
	return divideBars(b, networks), why
}

// timesShown is how many times left a heat map has.
const timesShown = 20

// plotHeat draws which kind of action the vote finds likeliest at the first decision of
// each scenario, by how much time is left.
func plotHeat(r *runs.Run) ([]plotted, error) {
	l, err := readLearned(r)
	if l == nil || err != nil {
		return nil, err
	}
	h, err := heatOf("First decision of "+r.Base(), l.trees, l.vote)
	if err != nil {
		return nil, err
	}
	return []plotted{{Figure: h}}, nil
}

// heatOf asks a policy about the first decision of trees.
func heatOf(title string, trees []*simulation.Tree, p *decider.Structural) (*figure.Heat, error) {
	most := 0.0
	for _, t := range trees {
		most = max(most, t.Budget)
	}
	h := &figure.Heat{Title: title, X: figure.Axis{Name: "time left", Unit: "s"},
		Note: "Colour: the likeliest action of the policy on the scenario's first network. Weaker: less likely. Empty: more than the budget."}
	for k := range timesShown {
		h.Columns = append(h.Columns, timeLeft(most*float64(k+1)/timesShown, most))
	}
	for _, t := range trees {
		cells, err := heatRow(h, t, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		h.Rows, h.Cells = append(h.Rows, t.Name), append(h.Cells, cells)
	}
	return h, nil
}

// timeLeft is a time in as few digits as tell the columns of a map apart.
func timeLeft(seconds, most float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(most/timesShown))-1)
	return math.Round(seconds/unit) * unit
}

// heatRow asks a policy about the first decision of a tree, at each time.
func heatRow(h *figure.Heat, t *simulation.Tree, p *decider.Structural) ([]figure.Cell, error) {
	var asked []decider.Situation
	for _, left := range h.Columns {
		s := t.Nodes[0].Situation
		s.Left = min(seconds(left), s.Budget)
		asked = append(asked, s)
	}
	weighed, err := p.Probabilities(asked...)
	if err != nil {
		return nil, err
	}
	cells := make([]figure.Cell, len(asked))
	for k := range asked {
		if h.Columns[k] > t.Budget+h.Columns[0]/timesShown { // rounded, it may be a little above
			cells[k] = figure.Cell{Kind: -1}
			continue
		}
		likeliest := decider.Likeliest(weighed[k])
		name := actionWords(t.Nodes[0].Choices[likeliest].Action.String())
		kind := slices.Index(h.Kinds, name)
		if kind < 0 {
			kind, h.Kinds = len(h.Kinds), append(h.Kinds, name)
		}
		cells[k] = figure.Cell{Kind: kind, Share: weighed[k][likeliest]}
	}
	return cells, nil
}

// plotPolicyTrees draws a tree for each table, with the vote's path.
func plotPolicyTrees(r *runs.Run) ([]plotted, error) {
	l, err := readLearned(r)
	if l == nil || err != nil {
		return nil, err
	}
	var all []plotted
	for _, t := range l.trees {
		v, err := evaluation.Evaluate([]*simulation.Tree{t}, evaluation.Structural("vote", l.vote))
		if err != nil {
			return nil, err
		}
		all = append(all, plotted{t.Name, treeFigure(t.Table, v[0].Sequence)})
	}
	return all, nil
}

// plotLessonTree draws the tree that a policy of the original's learned from.
func plotLessonTree(r *runs.Run) ([]plotted, error) {
	if !r.Ended {
		return nil, nil
	}
	o := &learn.StudyOutcome{}
	if err := results.ReadOutcome(r.Fsys, r.Path, o); err != nil {
		return nil, err
	}
	l, err := config.ReadLearning(r.Fsys, filepath.Join(r.Path, runs.ResolvedFile), nil)
	if err != nil {
		return nil, err
	}
	table, _ := l.LoadedTable()
	return []plotted{{Figure: treeFigure(table, o.Greedy)}}, nil
}
