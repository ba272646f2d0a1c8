package runs

import (
	"fmt"
	"math"

	"graft/original/learn"
	"graft/report/document"
	"graft/results"
	"graft/simulation/evaluation"
)

// PoliciesOutcome is the content of outcome.json for a run that learns structural policies.
type PoliciesOutcome struct {
	Seeds  []SeedOutcome      `json:"seeds"`  // outcome of each seed
	Steps  int                `json:"steps"`  // total number of steps over all seeds
	Tables []evaluation.Score `json:"tables"` // scores of the joint vote of all seeds' policies on each table
	// scores of the joint vote of all seeds' policies on held-out tables; empty without held-out tables
	HeldOut []evaluation.Score `json:"held_out"`
	Regret  float64            `json:"regret_points"` // regret of the vote, averaged over the tables
	Summary evaluation.Summary `json:"summary"`       // summary of the results of the individual seeds on the tables
	// Outside summarizes the results of the individual seeds on held-out tables. It is null if there are no held-out
	// tables.
	Outside *evaluation.Summary `json:"held_out_summary"`
}

// SeedOutcome is the outcome of learning with one seed.
type SeedOutcome struct {
	Seed  uint64 `json:"seed"`  // seed number
	Steps int    `json:"steps"` // number of steps
	Ended string `json:"ended"` // reason why learning ended
	// regret of the policy's most likely sequences, averaged over the tables
	Regret float64 `json:"regret_points"`
	Out    float64 `json:"held_out_regret_points"` // regret averaged over held-out tables; zero without held-out tables
	Policy string  `json:"policy"`                 // name of the policy's file in the run folder
}

// MeanRegret returns the mean regret of scores, in points, or zero if there are no scores.
func MeanRegret(verdicts []evaluation.Score) float64 {
	sum := 0.0
	for _, v := range verdicts {
		sum += v.Regret
	}
	return sum / float64(max(1, len(verdicts)))
}

// LearnedRow holds the metrics of a seed at a step.
type LearnedRow struct {
	Seed    int64    `json:"seed"`
	Step    int64    `json:"step"`
	Aim     float64  `json:"aim"`
	Entropy float64  `json:"entropy_nats"`
	Regret  float64  `json:"regret_points"`
	HeldOut *float64 `json:"held_out"` // expected reward on held-out tables; null without held-out tables
}

// LearningFile is the name of the table of learning metrics, for structural policies and policies of the original
// system.
const LearningFile = "learning.csv"

// PoliciesKind describes the run folders of structural policies that were learned from tables, with one policy per
// seed.
var PoliciesKind = &Kind{Name: "policies", By: "graft learn", Title: "run of policies", Titles: "runs of policies",
	matches: hasManifestAnd(LearningFile, "learners"), read: readPoliciesRun, list: policiesOverview,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "learning") }}

// PolicyKind describes the run folders of policies that were learned from a table and stored in the original system's
// format.
var PolicyKind = &Kind{Name: "policy", By: "graft learn", Title: "run of a policy",
	Titles: "runs of a policy", matches: hasManifestAnd(LearningFile), read: readPolicyRun, list: policyOverview,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "learning", "episodes") }}

func readPoliciesRun(f *Folder, r *Run) error {
	o := &PoliciesOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	if r.Ended {
		r.Quantities = policiesQuantities(o)
		return nil
	}
	t, err := r.Learning()
	if err != nil {
		return err
	}
	if r.Quantities, err = lastQuantities(t); err != nil {
		err = fmt.Errorf("%s: %w", LearningFile, err)
	}
	return err
}

func policiesQuantities(o *PoliciesOutcome) []Quantity {
	regret := Quantity{Name: "regret", Unit: document.UnitPoints, Better: Lower}
	outside := Quantity{Name: "held_out_regret", Unit: document.UnitPoints, Better: Lower}
	steps := Quantity{Name: "steps"}
	for _, s := range o.Seeds {
		for _, q := range []*Quantity{&regret, &outside, &steps} {
			q.Seeds = append(q.Seeds, int64(s.Seed))
		}
		regret.Values, outside.Values, steps.Values = append(regret.Values, s.Regret), append(outside.Values, s.Out),
			append(steps.Values, float64(s.Steps))
	}
	list := []Quantity{regret, seedless("vote_regret", document.UnitPoints, Lower, o.Regret)}
	if o.Outside != nil {
		list = append(list, outside, seedless("vote_held_out_regret", document.UnitPoints, Lower,
			MeanRegret(o.HeldOut)))
	}
	return finite(append(list, steps, seedless("tables", "", Neutral, float64(len(o.Tables))))...)
}

// lastQuantities lists the quantities of running seeds at their last step.
func lastQuantities(t *results.Table) ([]Quantity, error) {
	rows, err := LastRows(t)
	if err != nil {
		return nil, err
	}
	regret, steps, aim := Quantity{Name: "regret", Unit: document.UnitPoints, Better: Lower}, Quantity{Name: "steps"},
		Quantity{Name: "aim", Better: Higher, Signed: true}
	for _, row := range rows {
		for _, q := range []*Quantity{&regret, &steps, &aim} {
			q.Seeds = append(q.Seeds, row.Seed)
		}
		regret.Values, steps.Values, aim.Values = append(regret.Values, row.Regret),
			append(steps.Values, float64(row.Step)), append(aim.Values, row.Aim)
	}
	return finite(regret, aim, steps), nil
}

// LastRows returns the last metrics of each seed, in the order in which the seeds first appear.
func LastRows(t *results.Table) ([]LearnedRow, error) {
	columns, err := t.Numbers("seed", "step", "aim", "entropy", "held_out", "regret")
	if err != nil {
		return nil, err
	}
	var list []LearnedRow
	place := map[int64]int{}
	for row, seed := range columns["seed"] {
		one := LearnedRow{Seed: int64(seed), Step: int64(columns["step"][row]), Aim: columns["aim"][row],
			Entropy: columns["entropy"][row], Regret: columns["regret"][row]}
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

func readPolicyRun(f *Folder, r *Run) error {
	o := &learn.StudyOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	seed := int64(r.Manifest.Seed)
	if r.Ended {
		r.Quantities = policyQuantities(o, seed)
		return nil
	}
	t, err := results.ReadStreamTail(f.Files, f.At(LearningFile), 1)
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
	r.Quantities = finite(seeded("expected_accuracy", document.UnitShare, Higher, seed, last("expected_accuracy")),
		seeded("objective", "", Higher, seed, last("objective")),
		seeded("episodes", "", Neutral, seed, last("episodes")))
	return nil
}

func policyQuantities(o *learn.StudyOutcome, seed int64) []Quantity {
	return finite(
		seeded("accuracy", document.UnitShare, Higher, seed, o.Accuracy),
		seeded("expected_accuracy", document.UnitShare, Higher, seed, o.Expected),
		seeded("regret", document.UnitPoints, Lower, seed, 100*(o.Most-o.Accuracy)),
		seeded("rank", "", Lower, seed, float64(o.Rank)),
		seeded("sequences", "", Neutral, seed, float64(o.Records)),
		seeded("episodes", "", Neutral, seed, float64(o.Episodes)),
	)
}
