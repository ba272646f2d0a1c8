package runs

import (
	"strconv"

	"graft/report/document"
	"graft/results"
	"graft/simulation/evaluation"
)

// policiesOverview shows policies by the mean regret of the seeds.
var policiesOverview = overview{trend: overStream(LearningFile, "step", "regret", document.UnitPoints)}

// policyOverview shows a policy of the original's format by its episodes and the accuracy that it expects.
var policyOverview = overview{
	trend: overStream(LearningFile, "episodes", "expected_accuracy", document.UnitShare),
	progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
		done, _ := r.Quantity("episodes")
		if r.Ended {
			return r.amount(written, int(done), "episodes"), nil
		}
		if written != nil {
			return written, nil
		}
		text, _ := r.Setting("learn.episodes")
		of, _ := strconv.ParseFloat(text, 64) // zero means unknown
		return &results.Progress{Done: min(done, max(0, of)), Of: of, Unit: "episodes"}, nil
	}}

// schedulersOverview shows learned schedulers by their mean times to completion on the validation workloads.
var schedulersOverview = overview{trend: func(r *Run) (Trend, error) {
	o, err := OutcomeOf[ElasticLearningOutcome](r)
	if err != nil {
		return Trend{}, err
	}
	unit := document.UnitSlots
	if o != nil && o.Unit != "" {
		unit = o.Unit
	}
	return streamTrend(r, LearningFile, "step", "validation_jct", unit)
}}

// comparisonOverview shows a comparison of schedulers by their mean times to completion, best first.
var comparisonOverview = overview{trend: func(r *Run) (t Trend, err error) {
	o, err := OutcomeOf[ElasticComparison](r)
	if err != nil || o == nil {
		return t, err
	}
	t = Trend{Metric: "jct", Unit: document.UnitSlots}
	for _, s := range o.Standings {
		if s.Mean != nil {
			t.Values = append(t.Values, *s.Mean)
		}
	}
	return t, nil
}, progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
	o, err := OutcomeOf[ElasticComparison](r)
	if err != nil || o == nil {
		return written, err
	}
	return r.amount(written, len(o.Standings), "schedulers"), nil
}}

// evaluationOverview shows an evaluation by the regret of the first policy on each table.
var evaluationOverview = overview{trend: func(r *Run) (t Trend, err error) {
	o, err := OutcomeOf[EvaluationOutcome](r)
	if err != nil || o == nil {
		return t, err
	}
	c := o.Comparison()
	t = Trend{Metric: "regret", Unit: document.UnitPoints}
	for _, s := range c.Standings {
		if s.Role == evaluation.RoleBaseline {
			continue
		}
		for table := range c.Tables {
			if values := o.Values(table, s.Policy, RegretOf); len(values) > 0 {
				t.Values = append(t.Values, meanOf(values))
			}
		}
		break
	}
	return t, nil
}, progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
	o, err := OutcomeOf[EvaluationOutcome](r)
	if err != nil || o == nil {
		return written, err
	}
	return r.amount(written, len(o.Comparison().Tables), "tables"), nil
}}

// originalOverview shows a run of the original system by the test accuracy of its first training.
var originalOverview = overview{trend: func(r *Run) (t Trend, err error) {
	l, err := r.Original()
	if l == nil {
		return t, err
	}
	for _, metric := range []string{"test_acc", "objective"} {
		for _, m := range l.Metrics {
			if m.Metric != metric {
				continue
			}
			t = Trend{Metric: "test_accuracy", Unit: document.UnitShare}
			if metric != "test_acc" {
				t = Trend{Metric: metric}
			}
			for _, row := range m.Rows {
				if row.Value.Single {
					t.Values = append(t.Values, row.Value.Numbers[0])
				}
			}
			return t, nil
		}
	}
	return t, nil
}}
