package plot

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"graft/internal/files"
	"graft/internal/words"
	"graft/report/figure"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// maxPolicies is the maximum number of policies with separate bars.
const maxPolicies = 3

// plotEvaluation draws a completed evaluation, or the evaluations of a pipeline.
func plotEvaluation(draw func(o *runs.EvaluationOutcome, of string) []drawing) func(r *runs.Run) ([]drawing, error) {
	return func(r *runs.Run) ([]drawing, error) {
		if r.Ended && r.Kind == runs.PipelineKind {
			return drawEvaluations(r, draw)
		}
		o, err := runs.OutcomeOf[runs.EvaluationOutcome](r)
		if o == nil || err != nil {
			return nil, err
		}
		return draw(o, r.Base()), nil
	}
}

// evaluationBars has a group per table with policies and baselines.
func evaluationBars(o *runs.EvaluationOutcome, of string) []drawing {
	c := o.Comparison()
	choosers := []string{}
	for _, s := range c.Standings {
		if s.Role == evaluation.RolePolicy && len(choosers) < maxPolicies {
			choosers = append(choosers, s.Policy)
		}
	}
	b := &figure.Bars{Title: "Accuracy by scenario of " + of, X: accuracyAxis,
		Names: slices.Concat(choosers, ChooserNames[1:]), Note: "random: the mean of all sequences.",
		Lines: "Lines: " + seedNote + " Runs of one sequence count as seeds."}
	if o.LeftOut != nil {
		b.Note = "Policies and the best fixed sequence use only the other tables. " + b.Note
	}
	var networks []string
	for k, t := range c.Tables {
		g := figure.Group{Name: t.Scenario}
		for _, name := range slices.Concat(choosers, []string{"never", "random", "best fixed", "optimum"}) {
			g.Bars = append(g.Bars, barOfChooser(o, k, name))
		}
		b.Groups, networks = append(b.Groups, g), append(networks, t.Network)
	}
	return divideBars(b, networks)
}

// barOfChooser shows a chooser's accuracy in a table with its interval; nothing if it could not choose.
func barOfChooser(o *runs.EvaluationOutcome, table int, chooser string) figure.Bar {
	verdicts := o.Comparison().Tables[table].Scores
	k := slices.IndexFunc(verdicts, func(v evaluation.Score) bool { return v.Policy == chooser })
	if k < 0 {
		return figure.Bar{Value: math.NaN()}
	}
	if values := o.Spread(table, chooser); len(values) > 1 {
		return barOf(values)
	}
	return figure.Bar{Value: 100 * verdicts[k].Accuracy}
}

// regretBars has a line for each chooser that could choose in all tables.
func regretBars(o *runs.EvaluationOutcome, of string) []drawing {
	c := o.Comparison()
	b := &figure.Bars{Title: "Regret of " + of, Values: true,
		X: figure.Axis{Name: "regret", Unit: "points", Zero: true},
		Note: fmt.Sprintf("Mean over %s: points of accuracy below the table's best. Noise floor: %.2f points.",
			words.Plural(len(c.Tables), "table"), c.Floor),
		Lines: "Lines: 95% intervals by a bootstrap over the tables."}
	if len(c.Tables) == 1 {
		b.Note, b.Lines = fmt.Sprintf("In one table: points of accuracy below its best. Noise floor: %.2f points.",
			c.Floor), "Lines: "+seedNote
	}
	whole, _ := runs.SplitStandings(c.Standings)
	for _, s := range whole {
		bar, over := figure.Bar{Value: s.Regret}, s.OverTables
		if over == nil {
			over = s.OverSeeds
		}
		if over != nil {
			bar.Low, bar.High = over.Low, over.High
		}
		b.Groups = append(b.Groups, figure.Group{Name: s.Policy, Bars: []figure.Bar{bar}})
	}
	return []drawing{{Figure: b}}
}

// drawEvaluations draws the evaluation of a pipeline's policies, on training tables and on held-out tables. If an
// evaluation's folder cannot be read, it draws the pipeline's outcome, without intervals, and returns the error.
func drawEvaluations(r *runs.Run, draw func(o *runs.EvaluationOutcome, of string) []drawing) ([]drawing, error) {
	outcome, err := r.Pipeline()
	if err != nil || outcome.Comparison == nil {
		return nil, err
	}
	type part struct {
		folder, name string
		instead      *runs.EvaluationOutcome
	}
	parts := []part{{runs.EvaluationFolder, "", &runs.EvaluationOutcome{Compared: outcome.AsEvaluation()}}}
	if outcome.LeftOut != nil {
		parts = append(parts, part{runs.LeftOutFolder, runs.LeftOutFolder,
			&runs.EvaluationOutcome{LeftOut: outcome.LeftOut}})
	}
	var all []drawing
	var faults error
	for _, p := range parts {
		o, err := readEndedEvaluation(r.Files, filepath.Join(r.Path, p.folder))
		if err != nil {
			o, faults = p.instead, errors.Join(faults, err)
		}
		of := r.Base()
		if p.name != "" {
			of += ", " + p.name
		}
		for _, d := range draw(o, of) {
			if p.name != "" && d.name != "" {
				d.name = "-" + d.name
			}
			d.name = p.name + d.name
			all = append(all, d)
		}
	}
	return all, faults
}

// readEndedEvaluation reads the run of an evaluation.
func readEndedEvaluation(fsys files.FS, folder string) (*runs.EvaluationOutcome, error) {
	r, err := runs.Open(fsys, folder)
	if err != nil {
		return nil, err
	}
	if r.Kind != runs.EvaluationKind || !r.Ended {
		return nil, fmt.Errorf("%s: expected the folder of a completed evaluation", folder)
	}
	return runs.OutcomeOf[runs.EvaluationOutcome](r)
}

// plotStages draws the duration of a pipeline's stages.
func plotStages(r *runs.Run) ([]drawing, error) {
	l, err := r.Journal()
	if err != nil {
		return nil, err
	}
	b := &figure.Bars{Title: "Stages of " + r.Base(), Values: true, X: figure.Axis{Name: "time", Unit: "s", Zero: true},
		Note: "Time of each completed stage, in the process that completed it."}
	for _, e := range l.Stages {
		if e.Seconds == 0 {
			continue
		}
		name := e.Name
		if e.Reused > 0 {
			name += fmt.Sprintf(", reused %d×", e.Reused)
		}
		b.Groups = append(b.Groups, figure.Group{Name: name, Bars: []figure.Bar{{Value: e.Seconds}}})
	}
	if len(b.Groups) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: b}}, nil
}
