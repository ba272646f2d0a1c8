package runs

import (
	"math"
	"path/filepath"
	"strings"

	"graft/report/document"
	"graft/results"
)

// sweepOverview shows a sweep by its ended trials and their accuracies.
var sweepOverview = overview{progress: sweepShare, trend: sweepTrend,
	members: []string{filepath.Join(TrialsFolder, "*", "*")}}

// maxTrials is the maximum number of trials whose files a list reads.
const maxTrials = 2 * maxTrend

// sweepShare counts the ended trials, and the finished parts of the running ones.
func sweepShare(r *Run, written *results.Progress) (*results.Progress, error) {
	plan, err := ReadSweepPlan(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	p := &results.Progress{Unit: "trials"}
	if written != nil {
		p.Since, p.SinceDone = written.Since, written.SinceDone
	}
	for _, t := range plan.Trials() {
		if p.Of++; TrialEnded(r.folder, t) {
			p.Done++
			continue
		}
		if one, err := results.ReadProgress(r.Files, r.folder.At(t.Folder())); err == nil {
			share, _ := one.Share()
			p.Done += share
		}
	}
	return p, nil
}

// sweepTrend lists the accuracies of the ended trials, in the order of the plan.
func sweepTrend(r *Run) (Trend, error) {
	o, err := OutcomeOf[SweepOutcome](r)
	if err != nil {
		return Trend{}, err
	}
	if o == nil {
		return runningTrials(r)
	}
	t := Trend{Metric: o.Compared, Unit: document.UnitShare}
	for _, c := range o.Cases {
		_, values := c.Measure(o.Compared)
		t.Values = append(t.Values, values...)
	}
	return t, nil
}

// runningTrials lists the validation accuracies of the ended trials of a running sweep.
func runningTrials(r *Run) (Trend, error) {
	plan, err := ReadSweepPlan(r.Files, r.Path)
	if err != nil {
		return Trend{}, err
	}
	t := Trend{Metric: ValidationAccuracy, Unit: document.UnitShare}
	for _, trial := range plan.Trials() {
		if len(t.Values) == maxTrials {
			break
		}
		o := &struct {
			Validation struct{ Accuracy *float64 }
		}{}
		err := results.ReadOutcome(r.Files, r.folder.At(trial.Folder()), o)
		if err == nil && o.Validation.Accuracy != nil {
			t.Values = append(t.Values, *o.Validation.Accuracy)
		}
	}
	return t, nil
}

// casesOverview shows the cases of learned schedulers by their best times to completion.
var casesOverview = overview{members: []string{filepath.Join(CasesFolder, "*")},
	progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
		o, err := OutcomeOf[ElasticCasesOutcome](r)
		if err != nil || o == nil {
			return written, err
		}
		return r.amount(written, len(o.Cases), "cases"), nil
	},
	trend: func(r *Run) (t Trend, err error) {
		o, err := OutcomeOf[ElasticCasesOutcome](r)
		if err != nil || o == nil {
			return t, err
		}
		t = Trend{Metric: "jct_best", Unit: document.UnitSlots}
		for _, c := range o.Cases {
			t.Values = append(t.Values, c.Best.Mean)
		}
		return t, nil
	}}

// pipelineOverview shows a pipeline by its completed stages and the regret of its policies.
var pipelineOverview = overview{progress: pipelineProgress, failed: pipelineFailed, members: []string{"*"},
	trend: func(r *Run) (Trend, error) {
		return streamTrend(r, filepath.Join(PolicyFolder, LearningFile), "step", "regret", document.UnitPoints)
	}}

// pipelineProgress counts the completed stages, and the finished parts of the running one.
func pipelineProgress(r *Run, written *results.Progress) (*results.Progress, error) {
	l, err := r.Journal()
	if err != nil {
		return nil, err
	}
	p := &results.Progress{Unit: "stages", Of: float64(len(l.Stages))}
	if written != nil {
		p.Since, p.SinceDone = written.Since, written.SinceDone
	}
	for _, e := range l.Stages {
		switch e.State {
		case StageDone:
			p.Done++
		case StageRunning:
			p.Done += r.partShare(e)
		}
	}
	return p, nil
}

// partShare returns the mean finished part of a stage's runs.
func (r *Run) partShare(e *Stage) (sum float64) {
	for _, name := range e.Parts {
		if p, err := results.ReadProgress(r.Files, r.folder.At(name)); err == nil {
			share, _ := p.Share()
			sum += share / float64(len(e.Parts))
		}
	}
	return sum
}

// pipelineFailed returns the reason of the first failed stage without which the pipeline cannot end.
func pipelineFailed(r *Run) string {
	l, err := r.Journal()
	if err != nil {
		return ""
	}
	for _, e := range l.Stages {
		if e.State == stageFailed && !strings.HasPrefix(e.Name, SimulateStage) { // other scenarios continue
			return e.Name + ": " + e.Why
		}
	}
	return ""
}

// simulationOverview shows a simulation by its finished legs and the best accuracy so far.
var simulationOverview = overview{progress: simulationProgress, trend: func(r *Run) (Trend, error) {
	return tableTrend(r, TableFolder)
}}

// simulationProgress returns the written progress or, without it, the sequences in the table.
func simulationProgress(r *Run, written *results.Progress) (*results.Progress, error) {
	if written != nil && !r.Ended {
		return written, nil
	}
	table, err := r.CollectedTable()
	if err != nil || table == nil {
		return written, err
	}
	p := &results.Progress{Done: float64(len(table.Records)), Unit: "sequences"}
	if of := NewTableReport(table).Of; of != nil {
		p.Of = *of
	} else if r.Ended {
		p.Of = p.Done
	}
	return p, nil
}

// tableOverview shows a table by the best accuracy so far.
var tableOverview = overview{trend: func(r *Run) (Trend, error) { return tableTrend(r, ".") }}

// tableTrend returns the best accuracy after each sequence of a table.
func tableTrend(r *Run, folder string) (Trend, error) {
	table, err := r.table(folder)
	if err != nil {
		return Trend{}, err
	}
	var accuracies []float64
	for _, record := range table.Records {
		if mean := meanOf(record.Accuracy); !math.IsNaN(mean) {
			accuracies = append(accuracies, mean)
		}
	}
	return bestSoFar(accuracies), nil
}

// meanOf returns the mean; NaN without values.
func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
