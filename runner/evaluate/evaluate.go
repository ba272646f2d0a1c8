// Package evaluate evaluates policies on tables of all sequences of actions, and compares them with baselines that need
// no learning.
package evaluate

import (
	"context"

	"graft/config"
	"graft/report/runs"
	"graft/runner/app"
	"graft/simulation/evaluation"
)

// Result holds the result of an evaluation: either Compared or LeftOut is set, and the other is nil.
type Result struct {
	Compared *runs.EvaluationReport // comparison of the given policies
	LeftOut  *runs.LeaveOutReport   // leave-one-out evaluation of learned policies
	*evaluation.Comparison
}

// Run evaluates policies and writes the result into a run folder, if the options name one. The run folder has an
// outcome only if everything succeeded.
func Run(ctx context.Context, env *app.Env, o Options) (*Result, error) {
	e, err := Prepare(ctx, env, o)
	if err != nil {
		return nil, err
	}
	folder, err := e.create()
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r, err := e.Judge(ctx)
	if err != nil {
		return nil, err
	}
	return r, folder.Finish(r.Outcome())
}

// Evaluation holds policies and tables that are ready to be evaluated. Create it with Prepare.
type Evaluation struct {
	o        Options
	env      *app.Env
	policies []*Policy                  // empty if tables are held out
	study    evaluation.LeaveOutOptions // the zero value if no tables are held out
	file     *config.Document           // configuration of learning; nil if no tables are held out
}

// Prepare validates the options and reads the files that they name.
func Prepare(ctx context.Context, env *app.Env, o Options) (*Evaluation, error) {
	err := o.Validate(env.Files)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{o: o, env: env}
	if o.Leave.By != "" {
		return e, e.prepareLeaving()
	}
	if e.policies, err = ReadPolicies(ctx, env.Files, o); err != nil {
		return nil, err
	}
	if err := e.readTrees(); err != nil {
		return nil, err
	}
	known := identify(e.o.Trees)
	for _, p := range e.policies {
		p.Seen = p.seen(known)
	}
	tellApart(e.o.Trees, o.Tables) // which renames tables
	return e, nil
}

// Judge evaluates the policies without writing files.
func (e *Evaluation) Judge(ctx context.Context) (*Result, error) {
	if e.o.Leave.By != "" {
		return e.judgeLeaving(ctx)
	}
	candidates, err := withBaselines(e.policies, e.o.Trees)
	if err != nil {
		return nil, err
	}
	c, err := evaluation.Compare(e.o.Trees, candidates, e.policies[0].Candidates[0].Name)
	if err != nil {
		return nil, err
	}
	r := &Result{Comparison: c}
	r.Compared, err = e.report(c)
	return r, err
}

// Keep writes a result into a new run folder.
func (e *Evaluation) Keep(r *Result) error {
	folder, err := e.create()
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Finish(r.Outcome())
}

// Outcome returns the result in the form of outcome.json.
func (r *Result) Outcome() *runs.EvaluationOutcome {
	return runs.NewEvaluationOutcome(r.Compared, r.LeftOut)
}

// report adds the inputs and each decision to a comparison.
func (e *Evaluation) report(c *evaluation.Comparison) (*runs.EvaluationReport, error) {
	r := &runs.EvaluationReport{Against: c.Against, Floor: c.Floor, Standings: c.Standings}
	for _, p := range e.policies {
		r.Policies = append(r.Policies, p.describe(e.o.Vocab))
	}
	for k, t := range e.o.Trees {
		table := runs.EvaluatedTable{Table: e.o.Tables[k], Dataset: t.Dataset, Budget: t.Budget, Start: t.Start,
			Decisions: t.Decisions, Actions: append([]string{}, t.Actions...), TableScores: c.Tables[k]}
		for _, p := range e.policies {
			first := p.Candidates[0]
			steps, err := evaluation.Steps(t, first.Policies[0])
			if err != nil {
				return nil, err
			}
			table.Steps = append(table.Steps, runs.EvaluatedSteps{Chooser: first.Name, Steps: steps})
		}
		r.Tables = append(r.Tables, table)
	}
	return r, nil
}
