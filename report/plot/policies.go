package plot

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"graft/config"
	"graft/decider"
	"graft/internal/stat"
	"graft/internal/words"
	"graft/original/learn"
	"graft/original/policyfile"
	"graft/report/figure"
	"graft/report/runs"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// learned holds structural policies and their training tables.
type learned struct {
	trees []*simulation.Tree
	held  []*simulation.Tree // the last of trees, held out
	vote  *decider.Structural
	seeds []*decider.Structural
}

// readLearned reads learned policies and the tables in their configuration. It returns nil before the end of learning.
func readLearned(r *runs.Run) (*learned, error) {
	if !r.Ended {
		return nil, nil
	}
	l, err := config.ReadTreeLearning(r.Files, filepath.Join(r.Path, runs.ResolvedFile), nil)
	if err != nil {
		return nil, err
	}
	known, held := l.Trees()
	all := &learned{trees: slices.Concat(known, held), held: held}
	if all.vote, err = runs.ReadStructuralFile(r.Files, filepath.Join(r.Path, runs.VoteFile)); err != nil {
		return nil, err
	}
	paths, err := runs.SeedFiles(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		p, err := runs.ReadStructuralFile(r.Files, path)
		if err != nil {
			return nil, err
		}
		all.seeds = append(all.seeds, p)
	}
	return all, nil
}

// ChooserNames lists the legend entries of the figure "bars", in order.
var ChooserNames = []string{"learned", "never", "random", "best fixed", "optimum"}

// plotBars draws the accuracy of policies and baselines in each table.
func plotBars(r *runs.Run) ([]drawing, error) {
	if r.Kind != runs.PoliciesKind {
		return plotEvaluation(evaluationBars)(r)
	}
	l, err := readLearned(r)
	if l == nil || err != nil {
		return barsOfOutcome(r, err)
	}
	fixed, err := evaluation.BestFixed("best fixed", l.trees, false)
	if err != nil {
		fixed = nil // the tables have no common sequence
	}
	b := &figure.Bars{Title: "Accuracy by scenario of " + r.Base(), X: accuracyAxis, Names: ChooserNames,
		Note: fmt.Sprintf("learned: mean of %s. random: the mean of all sequences.",
			words.Plural(len(l.seeds), "seed")), Lines: "Lines: " + seedNote + " Runs of one sequence count as seeds."}
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
		for _, c := range []evaluation.Policy{evaluation.Constant("never", tables.None), evaluation.Uniform(), fixed,
			evaluation.Oracle()} {
			g.Bars = append(g.Bars, chosenBar(t, c))
		}
		b.Groups, networks = append(b.Groups, g), append(networks, t.Network)
	}
	return divideBars(b, networks), nil
}

// shareAxis returns the axis of a share in percent.
func shareAxis(name string) figure.Axis {
	return figure.Axis{Name: name, Unit: "%", Within: stat.Percents}
}

// accuracyAxis is the axis of accuracies.
var accuracyAxis = shareAxis("accuracy")

// maxScenarios is the maximum number of scenarios in one figure.
const maxScenarios = 12

// divideBars splits a figure with too many scenarios by network, and splits a network with too many into parts.
func divideBars(b *figure.Bars, networks []string) []drawing {
	if len(b.Groups) <= maxScenarios {
		return []drawing{{Figure: b}}
	}
	groups := map[string][]figure.Group{}
	var names []string
	for k, g := range b.Groups {
		if groups[networks[k]] == nil {
			names = append(names, networks[k])
		}
		groups[networks[k]] = append(groups[networks[k]], g)
	}
	var all []drawing
	for _, name := range names {
		part := 0
		for some := range slices.Chunk(groups[name], maxScenarios) {
			one := *b
			one.Title, one.Groups = b.Title+", "+name, some
			if part++; part > 1 {
				one.Title += fmt.Sprintf(", part %d", part)
			}
			one.Note = name + ". " + b.Note
			all = append(all, drawing{name, &one})
		}
	}
	return all
}

// barOf returns the mean of accuracies with its interval; empty if there are none.
func barOf(values []float64) figure.Bar {
	if len(values) == 0 {
		return figure.Bar{Value: math.NaN()}
	}
	return seedsBar(inPercent(values), stat.Percents)
}

// seedsBar returns the mean of values of seeds with its interval.
func seedsBar(values []float64, of stat.Range) figure.Bar {
	s := stat.NewOverSeeds(values, 0.05, of)
	bar := figure.Bar{Value: s.Mean}
	if s.Low != nil {
		bar.Low, bar.High = *s.Low, *s.High
	}
	return bar
}

// chosenBar returns the accuracy of a chooser's sequence; over its runs if the choice is certain.
func chosenBar(t *simulation.Tree, c evaluation.Policy) figure.Bar {
	if c == nil {
		return barOf(nil)
	}
	v, err := evaluation.Evaluate([]*simulation.Tree{t}, c)
	if err != nil {
		return barOf(nil) // the table lacks the sequence
	}
	if record := t.Find(v[0].Sequence...); v[0].Certain && record != nil {
		return barOf(record.Accuracy)
	}
	return figure.Bar{Value: 100 * v[0].Accuracy}
}

// barsOfOutcome draws the outcome if tables or policies cannot be read, and returns the reason.
func barsOfOutcome(r *runs.Run, why error) ([]drawing, error) {
	o, err := runs.OutcomeOf[runs.PoliciesOutcome](r)
	if o == nil {
		return nil, cmp.Or(err, why)
	}
	b := &figure.Bars{Title: "Accuracy by scenario of " + r.Base(), X: accuracyAxis,
		Names: []string{"vote of all seeds", "never", "random", "optimum"},
		Note:  "From the outcome. random: the mean of all sequences."}
	var networks []string
	for _, v := range slices.Concat(o.Tables, o.HeldOut) {
		networks = append(networks, v.Network)
		never := 100 * v.Never
		if never == 0 {
			never = math.NaN() // the table lacks the sequence
		}
		b.Groups = append(b.Groups, figure.Group{Name: v.Scenario, Bars: []figure.Bar{{Value: 100 * v.Accuracy},
			{Value: never}, {Value: 100 * v.Mean}, {Value: 100 * v.Best}}})
	}
	return divideBars(b, networks), why
}

// plotPolicyTrees draws a tree per table, with the vote's path.
func plotPolicyTrees(r *runs.Run) ([]drawing, error) {
	l, err := readLearned(r)
	if l == nil || err != nil {
		return nil, err
	}
	var all []drawing
	for _, t := range l.trees {
		v, err := evaluation.Evaluate([]*simulation.Tree{t}, evaluation.Structural("vote", l.vote))
		if err != nil {
			return nil, err
		}
		all = append(all, drawing{t.Name, treeFigure(t.Table, v[0].Sequence)})
	}
	return all, nil
}

// plotLearnedTree draws the training tree of a policy of the original system.
func plotLearnedTree(r *runs.Run) ([]drawing, error) {
	o, err := runs.OutcomeOf[learn.StudyOutcome](r)
	if o == nil {
		return nil, err
	}
	l, err := config.ReadNamed[*policyfile.File](policyfile.KindName,
		config.Open(r.Files, filepath.Join(r.Path, runs.ResolvedFile)), nil)
	if err != nil {
		return nil, err
	}
	table, _ := l.LoadedTable()
	return []drawing{{Figure: treeFigure(table, o.Greedy)}}, nil
}
