package plot

import (
	"cmp"
	"fmt"
	elasticworld "graft/cluster/elastic/world"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/internal/stat"
	"graft/learn/candidates"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
)

// mostRivals limits the reference lines in addition to the lower bound and the teacher.
const mostRivals = 2

// plotElasticLearning draws the validation and the entropy of learning schedulers.
func plotElasticLearning(r *runs.Run, list []runs.Series) ([]drawing, error) {
	p, err := readSeedCurves(list, "validation_jct", "entropy")
	if err != nil {
		return nil, err
	}
	steps, times, left, err := p.validations(list)
	if err != nil || len(steps) == 0 { // before the first validation
		return nil, err
	}
	o, err := runs.OutcomeOf[runs.ElasticLearningOutcome](r)
	if err != nil {
		return nil, err
	}
	possible, unit := stat.FromZero, document.UnitSlots
	if o != nil {
		possible.Low, unit = o.Bound, cmp.Or(o.Unit, unit)
	}
	axis := figure.Axis{Name: "mean completion time", Unit: unit}
	if unit == document.UnitShare {
		axis = figure.Axis{Name: "share of jobs blocked"}
	}
	top := figure.Panel{Y: axis, Curves: []figure.Curve{seedsCurve("learned", steps, times, possible)}}
	note := []string{"Times on the validation workloads.", p.note()}
	if left {
		note = append(note, "Gaps: a scheduler did not complete all jobs.")
	}
	if o != nil {
		var shown string
		top.Levels, shown = rivalLevels(o)
		note = append(note, shown)
	}
	chart := &figure.Chart{Title: "Learning of " + r.Base(), X: figure.Axis{Name: "steps"}, Panels: []figure.Panel{top},
		Events: roundsBegin(r, p.steps)}
	if entropy := p.of["entropy"]; slices.ContainsFunc(entropy, anyNumber) {
		chart.Panels = append(chart.Panels, figure.Panel{Y: figure.Axis{Name: "entropy", Unit: "nats", Zero: true},
			Height: 55, Curves: []figure.Curve{seedsCurve("learned", p.steps, entropy, stat.FromZero)}})
	}
	chart.Note = strings.TrimSpace(strings.Join(note, " "))
	return []drawing{{Figure: chart}}, nil
}

// validations returns the steps at which a seed was validated, and the times of all seeds there. A scheduler that left
// jobs unfinished has no time.
func (p *seedCurves) validations(list []runs.Series) (steps []float64, times [][]float64, left bool, err error) {
	rows, err := NumbersOf(list, "learning", "step", "validation_jct")
	if err != nil {
		return nil, nil, false, err
	}
	validated := map[float64]bool{}
	for k, v := range rows["validation_jct"] {
		validated[rows["step"][k]] = validated[rows["step"][k]] || !math.IsNaN(v)
	}
	times = make([][]float64, len(p.seeds))
	for at, step := range p.steps {
		if !validated[step] {
			continue
		}
		steps = append(steps, step)
		for k, run := range p.of["validation_jct"] {
			v := run[at]
			if math.IsInf(v, 0) {
				v, left = math.NaN(), true
			}
			times[k] = append(times[k], v)
		}
	}
	return steps, times, left, nil
}

// rivalLevels returns the lower bound, the teacher and the best of the other schedulers, and a remark on the omitted
// ones.
func rivalLevels(o *runs.ElasticLearningOutcome) (levels []figure.Level, remark string) {
	names := slices.SortedFunc(maps.Keys(o.Baselines),
		func(a, b string) int { return cmp.Or(cmp.Compare(o.Baselines[a], o.Baselines[b]), cmp.Compare(a, b)) })
	if o.Bound > 0 {
		levels = []figure.Level{{Name: "lower bound", At: o.Bound}}
	}
	var others []string
	drawn := 0
	for _, name := range names {
		level := figure.Level{Name: name, At: o.Baselines[name]}
		if name == o.Teacher {
			level.Name += ", teacher"
		}
		switch last := len(levels) - 1; {
		case last > 0 && level.At == levels[last].At: // one line would cover the other
			levels[last].Name += "; " + level.Name
		case name == o.Teacher:
			levels = append(levels, level)
		case drawn < mostRivals:
			levels, drawn = append(levels, level), drawn+1
		default:
			others = append(others, name+" at "+document.ValueText(level.At, ""))
		}
	}
	if len(others) == 0 {
		return levels, ""
	}
	return levels, "Not drawn: " + strings.Join(others, ", ") + " " + cmp.Or(o.Unit, document.UnitSlots) + "."
}

// roundsBegin marks the end of lessons and the start of rounds; nil unless there are both.
func roundsBegin(r *runs.Run, steps []float64) []figure.Event {
	setting := func(key string) string { text, _ := r.Setting(key); return strings.Trim(text, `"`) }
	lessons, label := setting("learn.imitation_workloads"), "rounds of "+setting("learn.method")
	if setting("elastic.compat") == elasticworld.CompatDL2 {
		lessons, label = setting("dl2.supervised.steps"), "reinforcement"
	}
	last, err := strconv.ParseFloat(lessons, 64)
	if err != nil || last <= 0 || last >= steps[len(steps)-1] || setting("learn.teacher") == candidates.NoTeacher {
		return nil
	}
	return []figure.Event{{X: last, Label: label}}
}

// plotElasticComparison draws the mean time to completion under each scheduler.
func plotElasticComparison(r *runs.Run, c *runs.ElasticComparison) ([]drawing, error) {
	return []drawing{{Figure: rankingBars(&c.Ranking, "Schedulers of "+r.Base(),
		figure.Axis{Name: "mean completion time", Unit: "slots", Zero: true})}}, nil
}

// rankingBars draws the means of a ranking, with the lower bound if there is one.
func rankingBars(c *runs.Ranking, title string, axis figure.Axis) *figure.Bars {
	b := &figure.Bars{Title: title, X: axis, Values: true, Lines: "Lines: 95% intervals over workloads and seeds.",
		Note: "Numbers after names are ranks: schedulers share a rank if the 95% interval of their paired difference " +
			"from the best scheduler of the rank contains zero."}
	if len(c.Bounds) > 0 {
		b.Levels = []figure.Level{{Name: "lower bound", At: stat.Mean(c.Bounds)}}
	}
	for _, s := range c.Standings {
		g := figure.Group{Name: fmt.Sprintf("%s  %d", s.Scheduler, s.Rank), Bars: []figure.Bar{{Value: math.NaN()}}}
		switch {
		case s.Mean == nil:
			g.Name = s.Scheduler + ", incomplete"
		case s.Interval == nil:
			g.Bars[0].Value = *s.Mean
		default:
			g.Bars[0] = figure.Bar{Value: *s.Mean, Low: s.Interval.Low, High: s.Interval.High}
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}
