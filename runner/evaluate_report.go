package main

import (
	"graft/results/runs"
	"graft/simulation"
)

func reportEvaluation(o evaluateOptions, contenders []*contender, trees []*simulation.Tree, c *simulation.Comparison) (*runs.EvaluationReport, error) {
	r := &runs.EvaluationReport{Against: c.Against, Floor: c.Floor, Standings: c.Standings}
	for _, one := range contenders {
		r.Policies = append(r.Policies, one.report(o))
	}
	for k, t := range trees {
		table := runs.EvaluatedTable{Table: o.tables[k], Dataset: t.Dataset, Budget: t.Budget, Start: t.Start, Decisions: t.Decisions,
			Actions: append([]string{}, t.Actions...), Trial: c.Trials[k]}
		for _, one := range contenders {
			first := one.entrants[0]
			steps, err := simulation.Steps(t, first.Choosers[0])
			if err != nil {
				return nil, err
			}
			table.Steps = append(table.Steps, runs.EvaluatedSteps{Chooser: first.Name, Steps: steps})
		}
		r.Tables = append(r.Tables, table)
	}
	return r, nil
}
