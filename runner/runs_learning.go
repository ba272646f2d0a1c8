package main

import (
	"fmt"
	"math"

	"graft/original/learn"
	"graft/results"
)

// learningFile is the table of figures of both kinds of learning.
const learningFile = "learning.csv"

// policiesRuns is runs in which structural policies learned from tables, one for each
// seed.
var policiesRuns = &runKind{name: "policies", title: "run of policies", titles: "runs of policies", fits: isRunOf(learningFile, "learners"), read: readPoliciesRun, detail: readPoliciesDetail,
	series: func(r *runData) ([]runSeries, error) { return streamSeries(r, "learning") }}

// policyRuns is runs in which a policy of the original's learned from one table.
var policyRuns = &runKind{name: "policy", title: "run of a policy", titles: "runs of a policy", fits: isRunOf(learningFile), read: readPolicyRun, detail: readPolicyDetail,
	series: func(r *runData) ([]runSeries, error) { return streamSeries(r, "learning", "episodes") }}

func readPoliciesRun(f *runFolderView, r *runData) error {
	o := &treeOutcome{}
	if err := f.own(r, o); err != nil {
		return err
	}
	if r.Ended {
		r.Quantities = policiesQuantities(o)
		return nil
	}
	t, err := results.ReadStream(f.fsys, f.at(learningFile))
	if err != nil {
		return err
	}
	if r.Quantities, err = lastOfSeeds(t); err != nil {
		err = fmt.Errorf("%s: %w", learningFile, err)
	}
	return err
}

func policiesQuantities(o *treeOutcome) []quantity {
	regret := quantity{Name: "regret", Unit: unitPoints, Aim: downward}
	outside := quantity{Name: "held_out_regret", Unit: unitPoints, Aim: downward}
	steps := quantity{Name: "steps"}
	for _, s := range o.Seeds {
		for _, q := range []*quantity{&regret, &outside, &steps} {
			q.Seeds = append(q.Seeds, int64(s.Seed))
		}
		regret.Values, outside.Values, steps.Values = append(regret.Values, s.Regret), append(outside.Values, s.Out), append(steps.Values, float64(s.Steps))
	}
	list := []quantity{regret, seedless("vote_regret", unitPoints, downward, o.Regret)}
	if o.Outside != nil {
		list = append(list, outside, seedless("vote_held_out_regret", unitPoints, downward, meanRegret(o.HeldOut)))
	}
	return finite(append(list, steps, seedless("tables", "", noAim, float64(len(o.Tables))))...)
}

// lastOfSeeds is where policies stand that have not ended.
func lastOfSeeds(t *results.Table) ([]quantity, error) {
	rows, err := lastRows(t)
	if err != nil {
		return nil, err
	}
	regret, steps, aim := quantity{Name: "regret", Unit: unitPoints, Aim: downward}, quantity{Name: "steps"}, quantity{Name: "aim", Aim: upward}
	for _, row := range rows {
		for _, q := range []*quantity{&regret, &steps, &aim} {
			q.Seeds = append(q.Seeds, row.Seed)
		}
		regret.Values, steps.Values, aim.Values = append(regret.Values, row.Regret), append(steps.Values, float64(row.Step)), append(aim.Values, row.Aim)
	}
	return finite(regret, aim, steps), nil
}

// lastRows are the last figures of each seed, in the order in which seeds first told any.
func lastRows(t *results.Table) ([]learnedRow, error) {
	columns := map[string][]float64{}
	for _, name := range []string{"seed", "step", "aim", "entropy", "held_out", "regret"} {
		var err error
		if columns[name], err = t.Floats(name); err != nil {
			return nil, err
		}
	}
	var list []learnedRow
	place := map[int64]int{}
	for row, seed := range columns["seed"] {
		one := learnedRow{Seed: int64(seed), Step: int64(columns["step"][row]), Aim: columns["aim"][row], Entropy: columns["entropy"][row], Regret: columns["regret"][row]}
		if v := columns["held_out"][row]; !math.IsNaN(v) {
			one.HeldOut = &v
		}
		k, known := place[one.Seed]
		if !known {
			place[one.Seed] = len(list)
			list = append(list, one)
			continue
		}
		list[k] = one
	}
	return list, nil
}

func readPolicyRun(f *runFolderView, r *runData) error {
	o := &learn.StudyOutcome{}
	if err := f.own(r, o); err != nil {
		return err
	}
	seed := int64(r.Manifest.Seed)
	if r.Ended {
		r.Quantities = policyQuantities(o, seed)
		return nil
	}
	t, err := results.ReadStreamTail(f.fsys, f.at(learningFile), 1)
	if err != nil || t.Rows == 0 {
		return err
	}
	last := func(name string) float64 {
		values, err := t.Floats(name)
		if err != nil {
			return math.NaN()
		}
		return values[0]
	}
	r.Quantities = finite(one("expected_accuracy", unitShare, upward, seed, last("expected_accuracy")), one("objective", "", upward, seed, last("objective")),
		one("episodes", "", noAim, seed, last("episodes")))
	return nil
}

func policyQuantities(o *learn.StudyOutcome, seed int64) []quantity {
	return finite(
		one("accuracy", unitShare, upward, seed, o.Accuracy),
		one("expected_accuracy", unitShare, upward, seed, o.Expected),
		one("regret", unitPoints, downward, seed, 100*(o.Most-o.Accuracy)),
		one("rank", "", downward, seed, float64(o.Rank)),
		one("sequences", "", noAim, seed, float64(o.Records)),
		one("episodes", "", noAim, seed, float64(o.Episodes)),
	)
}
