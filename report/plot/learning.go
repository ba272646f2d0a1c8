package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
)

// plotLearning draws the progress of learning.
func plotLearning(r *runs.Run) ([]drawing, error) {
	list, err := r.Series()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	switch r.Kind {
	case runs.PoliciesKind:
		return plotSeeds(r, list)
	case runs.PolicyKind:
		return plotStudy(r, list)
	case runs.ElasticLearningKind:
		return plotElasticLearning(r, list)
	}
	return plotEpisodes(r, list)
}

// seedCurves holds the metrics of several seeds at common steps.
type seedCurves struct {
	steps []float64
	seeds []float64
	of    map[string][][]float64 // by column, for each seed; after its end a seed keeps its last value
}

// readSeedCurves sorts the rows of these learning metrics by seed.
func readSeedCurves(list []runs.Series, metrics ...string) (*seedCurves, error) {
	columns, err := NumbersOf(list, "learning", append(metrics, "seed", "step")...)
	if err != nil {
		return nil, err
	}
	p := &seedCurves{of: map[string][][]float64{}}
	seeds, steps := columns["seed"], columns["step"]
	p.seeds, p.steps = slices.Clone(seeds), slices.Clone(steps)
	slices.Sort(p.seeds)
	slices.Sort(p.steps)
	p.seeds, p.steps = slices.Compact(p.seeds), slices.Compact(p.steps)
	for name, values := range columns {
		runs := make([][]float64, len(p.seeds))
		for k := range runs {
			runs[k] = slices.Repeat([]float64{math.NaN()}, len(p.steps))
		}
		for row := range seeds {
			k, _ := slices.BinarySearch(p.seeds, seeds[row])
			at, _ := slices.BinarySearch(p.steps, steps[row])
			runs[k][at] = values[row]
		}
		for _, run := range runs {
			fillForward(run)
		}
		p.of[name] = runs
	}
	return p, nil
}

// fillForward replaces missing values by the previous value.
func fillForward(values []float64) {
	for k := 1; k < len(values); k++ {
		if math.IsNaN(values[k]) {
			values[k] = values[k-1]
		}
	}
}

// plotSeeds draws regret, objective and entropy of structural policies.
func plotSeeds(r *runs.Run, list []runs.Series) ([]drawing, error) {
	p, err := readSeedCurves(list, "aim", "entropy", "held_out", "regret")
	if err != nil {
		return nil, err
	}
	panels := []figure.Panel{
		{Y: figure.Axis{Name: "regret", Unit: "points", Zero: true},
			Curves: []figure.Curve{seedsCurve("", p.steps, p.of["regret"], stat.Percents)}},
		{Y: figure.Axis{Name: "objective"}, Height: 70,
			Curves: []figure.Curve{seedsCurve("", p.steps, p.of["aim"], stat.Unbounded)}},
		{Y: figure.Axis{Name: "entropy", Unit: "nats", Zero: true}, Height: 55,
			Curves: []figure.Curve{seedsCurve("", p.steps, p.of["entropy"], stat.FromZero)}},
	}
	if held := p.of["held_out"]; held != nil && !math.IsNaN(held[0][len(held[0])-1]) {
		panels = append(panels, figure.Panel{Y: figure.Axis{Name: "reward held out"}, Height: 70,
			Curves: []figure.Curve{seedsCurve("", p.steps, held, stat.Unbounded)}})
	}
	return []drawing{{Figure: &figure.Chart{Title: "Learning of " + r.Base(), X: figure.Axis{Name: "steps"},
		Panels: panels, Note: "Objective: the quantity that learning maximizes, in rewards. " + p.note()}}}, nil
}

func (p *seedCurves) note() string {
	if len(p.seeds) == 1 {
		return "One seed."
	}
	return fmt.Sprintf("Faint: each of %d seeds; an ended seed keeps its last value. Line: their mean. Bands: %s",
		len(p.seeds), seedNote)
}

// plotStudy draws accuracy and objective of a policy of the original system.
func plotStudy(r *runs.Run, list []runs.Series) ([]drawing, error) {
	rows, err := NumbersOf(list, "learning", "episodes", "expected_accuracy", "objective")
	if err != nil {
		return nil, err
	}
	x := rows["episodes"]
	accuracy := []figure.Curve{{Name: "expected for the policy", X: x, Y: inPercent(rows["expected_accuracy"])}}
	objective, note := smoothed("", x, rows["objective"]), ""
	// The rule exact has none.
	if e, err := NumbersOf(list, "episodes", "episode", "accuracy", "objective"); err == nil {
		at := e["episode"]
		accuracy = append(accuracy, smoothed("episodes", at, inPercent(e["accuracy"])))
		objective, note = smoothed("", at, e["objective"]), smoothNote(len(at), "episode")
	}
	top := figure.Panel{Y: shareAxis("accuracy"), Curves: accuracy}
	if regret, ok := r.Quantity("regret"); ok {
		if greedy, ok := r.Quantity("accuracy"); ok {
			top.Levels = append(top.Levels, figure.Level{Name: "best of the table", At: 100*greedy + regret})
		}
	}
	return []drawing{{Figure: &figure.Chart{Title: "Learning of " + r.Base(), X: figure.Axis{Name: "episodes"},
		Note: note, Panels: []figure.Panel{top,
			{Y: figure.Axis{Name: "objective"}, Height: 60, Curves: []figure.Curve{objective}}}}}}, nil
}

// plotExploration draws the share of episodes that left the most likely sequence, by temperature.
func plotExploration(r *runs.Run) ([]drawing, error) {
	list, err := r.Series()
	if err != nil {
		return nil, err
	}
	number, err := NumbersOf(list, "episodes", "episode")
	if err != nil {
		return nil, nil // the exact gradient draws nothing
	}
	rows, err := NumbersOf(list, "learning", "episodes", "temperature")
	if err != nil {
		return nil, err
	}
	greedy, err := TextsOf(list, "learning", "greedy")
	if err != nil {
		return nil, err
	}
	gone, err := TextsOf(list, "episodes", "sequence")
	if err != nil {
		return nil, err
	}
	temperature := rows["temperature"]
	c, x := figure.Curve{X: temperature, Y: explorationShares(rows["episodes"], greedy, number["episode"], gone)},
		figure.Axis{Name: "temperature"}
	note := "One value per row of learning.csv: the share of episodes whose sequence was not the likeliest."
	if slices.Max(temperature) == slices.Min(temperature) {
		c.X, x = rows["episodes"], figure.Axis{Name: "episodes"}
		note += fmt.Sprintf(" The temperature is constant: %s.", document.ShortText(temperature[0]))
	}
	return []drawing{{Figure: &figure.Chart{Title: "Explorations of " + r.Base(), X: x, Note: note,
		Panels: []figure.Panel{{Y: figure.Axis{Name: "explorations", Unit: "% of episodes", Low: 0, High: 100},
			Curves: []figure.Curve{c}}}}}}, nil
}

// explorationShares returns the percentage of episodes in each row whose sequence was not the greedy one; NaN for a row
// without episodes.
func explorationShares(ends []float64, greedy []string, number []float64, gone []string) []float64 {
	shares := make([]float64, len(ends))
	at := 0
	for k, end := range ends {
		away, count := 0, 0
		for ; at < len(number) && number[at] < end; at++ {
			count++
			if gone[at] != greedy[k] {
				away++
			}
		}
		shares[k] = 100 * float64(away) / float64(count)
	}
	return shares
}

// minTrainings is the minimum number of trainings that count as episodes.
const minTrainings = 5

// plotEpisodes draws the metrics of the original's agent over episodes, each with its rolling mean.
func plotEpisodes(r *runs.Run, list []runs.Series) ([]drawing, error) {
	var panels []figure.Panel
	longest := 0
	for _, s := range list {
		if len(s.Columns) != 3 || s.Columns[0].Name != "episode" || !anyNumber(s.Columns[2].Values) {
			continue
		}
		c, values := s.Columns[2], s.Columns[2].Values
		axis := figure.Axis{Name: c.Name, Unit: c.Unit}
		if strings.HasSuffix(c.Name, "acc") || c.Name == "accuracy" {
			axis, values = shareAxis(c.Name), inPercent(values)
		}
		longest = max(longest, len(values))
		panels = append(panels, figure.Panel{Y: axis, Height: 80,
			Curves: []figure.Curve{smoothed("", s.Columns[0].Values, values)}})
	}
	if ends := trainingEnds(list); len(ends) >= minTrainings {
		x := make([]float64, len(ends))
		for k := range x {
			x[k] = float64(k)
		}
		longest = max(longest, len(ends))
		panels = append(panels, figure.Panel{Y: shareAxis("accuracy"),
			Curves: []figure.Curve{smoothed("", x, inPercent(ends))}})
	}
	if len(panels) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: &figure.Chart{Title: "Episodes of " + r.Base(), X: figure.Axis{Name: "episode"},
		Note: smoothNote(longest, "episode"), Panels: panels}}}, nil
}

func anyNumber(values []float64) bool {
	return slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) })
}

// trainingEnds lists the last test accuracy of each training.
func trainingEnds(list []runs.Series) (ends []float64) {
	for _, s := range list {
		if n := len(s.Columns[0].Values); n > 0 && strings.HasSuffix(s.Name, ".epoch.test_acc") {
			ends = append(ends, s.Columns[2].Values[n-1])
		}
	}
	return ends
}
