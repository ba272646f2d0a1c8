package plot

import (
	"fmt"
	"graft/internal/stat"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
	"strings"
)

// learningCurve holds the score of a learning run over its steps, for each of its seeds.
type learningCurve struct {
	name  string
	steps []float64
	seeds []int64
	runs  [][]float64 // one curve per seed
	mean  []float64
}

// plotTransfer compares learning runs of one kind with the first: the difference at the start and the step at which the
// threshold is reached. The default threshold is the last value of the first run. Runs that differ only in their seed
// are one curve.
func (g Given) plotTransfer(list []*runs.Run) ([]drawing, error) {
	names := fileNames(list)
	var all []learningCurve
	groups := groupBySeed(list)
	called := groupNames(groups, names)
	for k, group := range groups {
		p, err := groupProgress(group, called[k])
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) < 2 {
		return nil, nil // only seeds of one configuration: there is nothing to compare with
	}
	axis, up := shareAxis("expected accuracy"), true
	x := figure.Axis{Name: "episodes"}
	if list[0].Kind == runs.PoliciesKind {
		axis, up, x = figure.Axis{Name: "regret", Unit: "points", Zero: true}, false, figure.Axis{Name: "steps"}
	}
	threshold := all[0].mean[len(all[0].mean)-1]
	said := fmt.Sprintf("Threshold: %s %s, the final value of %s.", document.ShortText(threshold), axis.Unit,
		all[0].name)
	if g.Threshold != nil {
		threshold = *g.Threshold
		said = fmt.Sprintf("Threshold: %s %s, from the options.", document.ShortText(threshold), axis.Unit)
	}
	panel := figure.Panel{Y: axis, Levels: []figure.Level{{Name: "threshold", At: threshold}}}
	lines := []string{said + groupsNote(groups)}
	for k, p := range all {
		panel.Curves = append(panel.Curves, seedsCurve(p.name, p.steps, p.runs, stat.Percents))
		text := p.name + ":"
		if k > 0 {
			text += strings.Replace(fmt.Sprintf(" %+.2f points of jump-start,", jumpStart(all[0], p, up)),
				" -", " −", 1)
		}
		lines = append(lines, text+" "+thresholdText(p, threshold, up, x.Name)+".")
	}
	return []drawing{{Figure: &figure.Chart{Title: "Transfer", X: x, Panels: []figure.Panel{panel},
		Note: strings.Join(lines, " ")}}}, nil
}

// groupProgress reads the scores of runs that differ in their seed, at their common steps.
func groupProgress(group []*runs.Run, name string) (all learningCurve, err error) {
	for k, r := range group {
		p, err := progress(r, name, seedsOf(group)[k])
		if err != nil {
			return all, fmt.Errorf("%s: %w", r.Path, err)
		}
		if k == 0 {
			all = p
			continue
		}
		shared := 0
		for shared < min(len(all.steps), len(p.steps)) && all.steps[shared] == p.steps[shared] {
			shared++
		}
		if shared == 0 {
			return all, fmt.Errorf("%s: the steps do not match run %s, although the runs differ only in their seeds",
				r.Path, group[0].Path)
		}
		all.steps, all.runs, all.seeds = all.steps[:shared], append(all.runs, p.runs...), append(all.seeds, p.seeds...)
		for at := range all.runs {
			all.runs[at] = all.runs[at][:shared]
		}
	}
	all.runs = meanCurves(all.seeds, all.runs)
	all.mean, _, _ = meanInterval(all.runs, stat.Percents)
	return all, nil
}

// progress reads the score of a run. The argument seed is the seed of a run with a single curve.
func progress(r *runs.Run, name string, seed int64) (p learningCurve, err error) {
	list, err := r.Series()
	if err != nil {
		return p, err
	}
	p.name = name
	if r.Kind == runs.PoliciesKind {
		all, err := readSeedCurves(list, "regret")
		if err != nil {
			return p, err
		}
		p.steps, p.runs = all.steps, all.of["regret"]
		for _, own := range all.seeds {
			p.seeds = append(p.seeds, int64(own))
		}
	} else {
		rows, err := NumbersOf(list, "learning", "episodes", "expected_accuracy")
		if err != nil {
			return p, err
		}
		p.steps, p.runs = rows["episodes"], [][]float64{inPercent(rows["expected_accuracy"])}
		p.seeds = []int64{seed}
	}
	p.mean, _, _ = meanInterval(p.runs, stat.Percents)
	return p, nil
}

// jumpStart returns the improvement of a run over another at the first row.
func jumpStart(from, to learningCurve, up bool) float64 {
	if up {
		return to.mean[0] - from.mean[0]
	}
	return from.mean[0] - to.mean[0]
}

// thresholdText describes when a run first reaches a threshold.
func thresholdText(p learningCurve, threshold float64, up bool, unit string) string {
	for k, v := range p.mean {
		if up && v >= threshold || !up && v <= threshold {
			return fmt.Sprintf("reaches the threshold after %s %s", document.ShortText(p.steps[k]), unit)
		}
	}
	return fmt.Sprintf("does not reach the threshold within %s %s", document.ShortText(p.steps[len(p.steps)-1]), unit)
}
