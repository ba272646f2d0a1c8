package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"graft/results/figure"
	"graft/simulation/evaluation"
)

// mostPolicies is how many policies have bars of their own.
const mostPolicies = 3

// plotEvaluationBars draws the accuracies of an evaluation that ended.
func plotEvaluationBars(r *runData) ([]plotted, error) {
	if !r.Ended {
		return nil, nil
	}
	o, err := readEvaluation(r)
	if err != nil {
		return nil, err
	}
	return evaluationBars(o, r.base()), nil
}

// evaluationBars have a group for each table: policies, and who needs no learning.
func evaluationBars(o *evaluationOutcome, of string) []plotted {
	c := o.comparison()
	choosers := []string{}
	for _, s := range c.Standings {
		if s.Role == evaluation.RolePolicy && len(choosers) < mostPolicies {
			choosers = append(choosers, s.Policy)
		}
	}
	b := &figure.Bars{Title: "Accuracy by scenario of " + of, X: accuracyAxis, Names: slices.Concat(choosers, rivalNames[1:]),
		Note: "Lines: 95% intervals of the mean by a bootstrap, of a policy over its seeds, of others over the runs of a sequence where it ran more than once. random: the mean of all sequences."}
	if o.LeftOut != nil {
		b.Note = "Policies and the best fixed sequence know the other tables only. " + b.Note
	}
	var networks []string
	for k, t := range c.Tables {
		g := figure.Group{Name: t.Scenario}
		for _, name := range slices.Concat(choosers, []string{"never", "random", "best fixed", "optimum"}) {
			g.Bars = append(g.Bars, o.bar(k, name))
		}
		b.Groups, networks = append(b.Groups, g), append(networks, t.Network)
	}
	return divideBars(b, networks)
}

// bar is a chooser's accuracy in a table, with its interval; none where it could not
// choose.
func (o *evaluationOutcome) bar(table int, chooser string) figure.Bar {
	verdicts := o.comparison().Tables[table].Scores
	k := slices.IndexFunc(verdicts, func(v evaluation.Score) bool { return v.Policy == chooser })
	if k < 0 {
		return figure.Bar{Value: math.NaN()}
	}
	if values := o.spread(table, chooser); len(values) > 1 {
		return barOf(values)
	}
	return figure.Bar{Value: 100 * verdicts[k].Accuracy}
}

// plotRegret draws how much all regret over the tables.
func plotRegret(r *runData) ([]plotted, error) {
	if !r.Ended {
		return nil, nil
	}
	if r.Kind == pipelineRuns {
		return ofJudged(r, func(o *evaluationOutcome, of string) []plotted { return regretBars(o, of) })
	}
	o, err := readEvaluation(r)
	if err != nil {
		return nil, err
	}
	return regretBars(o, r.base()), nil
}

// regretBars have a line for each who could choose in all tables.
func regretBars(o *evaluationOutcome, of string) []plotted {
	c := o.comparison()
	b := &figure.Bars{Title: "Regret of " + of, Values: true, X: figure.Axis{Name: "regret", Unit: "points", Zero: true},
		Note: fmt.Sprintf("Mean over %s: points of accuracy below the best of the table. Lines: 95%% intervals by a bootstrap over the tables. Whoever knew the truth would regret %.2f.", plural(len(c.Tables), "table"), c.Floor)}
	if len(c.Tables) == 1 {
		b.Note = fmt.Sprintf("In one table: points of accuracy below its best. Lines: 95%% intervals by a bootstrap over seeds. Whoever knew the truth would regret %.2f.", c.Floor)
	}
	whole, _ := inAllTables(c.Standings)
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
	return []plotted{{figure: b}}
}

// plotPipelineBars draws the accuracies of a pipeline that ended.
func plotPipelineBars(r *runData) ([]plotted, error) {
	if !r.Ended {
		return nil, nil
	}
	return ofJudged(r, evaluationBars)
}

// ofJudged draws how the policies of a pipeline fare in what they learned from, and in
// what was left out. Where the run of an evaluation cannot be read there is the outcome,
// without intervals, and why.
func ofJudged(r *runData, draw func(o *evaluationOutcome, of string) []plotted) ([]plotted, error) {
	outcome, err := readPipelineOutcome(r.fsys, r.Path)
	if err != nil {
		return nil, err
	}
	parts := []struct {
		folder, name string
		instead      *evaluationOutcome
	}{{judgedName, "", &evaluationOutcome{Compared: outcome.asEvaluation()}}}
	if outcome.LeftOut != nil {
		parts = append(parts, struct {
			folder, name string
			instead      *evaluationOutcome
		}{unseenName, unseenName, &evaluationOutcome{LeftOut: outcome.LeftOut}})
	}
	var all []plotted
	var faults error
	for _, p := range parts {
		o, err := judgedIn(filepath.Join(r.Path, p.folder))
		if err != nil {
			o, faults = p.instead, errors.Join(faults, err)
		}
		of := r.base()
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

// judgedIn reads the run of an evaluation.
func judgedIn(folder string) (*evaluationOutcome, error) {
	r, err := openRun(folder)
	if err != nil {
		return nil, err
	}
	if r.Kind != evaluationRuns || !r.Ended {
		return nil, fmt.Errorf("%s: it is no evaluation that has ended", folder)
	}
	return readEvaluation(r)
}

// plotStages draws how long the stages of a pipeline took.
func plotStages(r *runData) ([]plotted, error) {
	l, err := readLedger(r.fsys, filepath.Join(r.Path, ledgerName))
	if err != nil {
		return nil, err
	}
	b := &figure.Bars{Title: "Stages of " + r.base(), Values: true, X: figure.Axis{Name: "time", Unit: "s", Zero: true},
		Note: "Of each stage that was done, in the process that ended it."}
	for _, e := range l.All {
		if e.Seconds == 0 {
			continue
		}
		name := e.Stage
		if e.Reused > 0 {
			name += fmt.Sprintf(", reused %d×", e.Reused)
		}
		b.Groups = append(b.Groups, figure.Group{Name: name, Bars: []figure.Bar{{Value: e.Seconds}}})
	}
	if len(b.Groups) == 0 {
		return nil, nil
	}
	return []plotted{{figure: b}}, nil
}
