package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/original/learn"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// VerdictTable lists, for each scenario's table, the sequence that the policies of all seeds choose by joint vote, with
// its accuracy and regret.
func VerdictTable(o *runs.PoliciesOutcome) *document.Table {
	t := document.NewTable("table", "the vote's sequence").Numbers(document.UnitShare, "%.2f%%", "accuracy").
		Numbers("", "", "regret", "rank", "ties").
		Numbers(document.UnitShare, "%.2f%%", "never", "random", "best")
	for k, v := range slices.Concat(o.Tables, o.HeldOut) {
		name := v.Scenario
		if k >= len(o.Tables) {
			name += ", held out"
		}
		t.Add(name, strings.Join(v.Sequence, ", "), v.Accuracy, points(v.Regret),
			document.Value(v.Rank, "").As("%.0f").Then(" of %d", v.Of),
			document.Value(float64(v.From), "").Then("–%d", v.To), orMissing(v.Never), v.Mean, v.Best)
	}
	return t
}

// points returns a cell of accuracy points, for a column whose head does not name the unit.
func points(v float64) document.Cell { return document.Value(v, document.UnitPoints) }

// SeedTable returns a table with one row per seed: the number of steps, the mean regret and the reason why learning
// stopped.
func SeedTable(o *runs.PoliciesOutcome) *document.Table {
	t := (&document.Table{}).Numbers("", "", "seed", "steps", "mean regret").Texts("stop reason")
	for _, s := range o.Seeds {
		t.Add(s.Seed, s.Steps, points(s.Regret).As("%.3f"), s.Ended)
	}
	return t
}

// SummaryText summarizes the regret and the ranks of all seeds in sentences.
func SummaryText(o *runs.PoliciesOutcome) string {
	text := summaryText(fmt.Sprintf("in %s", words.Plural(len(o.Tables), "table")), o.Summary, o.Regret)
	if o.Outside != nil {
		text += summaryText("in "+words.Plural(len(o.HeldOut), "table")+" held out", *o.Outside,
			runs.MeanRegret(o.HeldOut))
	}
	return text
}

func summaryText(where string, s evaluation.Summary, vote float64) string {
	spread := " over " + words.Plural(s.Seeds, "seed")
	if s.Regret.Low != nil {
		spread = fmt.Sprintf(", 95%% interval%s [%.3f, %.3f]", spread, *s.Regret.Low, *s.Regret.High)
	}
	return fmt.Sprintf("mean regret %s: %.3f points%s; regret of the vote: %.3f points\n"+
		"%.0f%% of their sequences are in a table's top five; the worst regret is %.2f points, in %s\n",
		where, s.Regret.Mean, spread, vote, 100*s.TopFive, s.Worst, document.Printable(s.WorstOne))
}

// PoliciesDetail holds the outcome of learning structural policies, and the last metrics of each seed.
type PoliciesDetail struct {
	Outcome *runs.PoliciesOutcome `json:"outcome"` // outcome; null if learning has not ended
	Rows    []runs.LearnedRow     `json:"rows"`    // last metrics of each seed
}

func readPoliciesDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.PoliciesOutcome](r)
	if err != nil {
		return nil, err
	}
	t, err := r.Learning()
	if err != nil {
		return nil, err
	}
	last, err := runs.LastRows(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", runs.LearningFile, err)
	}
	return &PoliciesDetail{o, append([]runs.LearnedRow{}, last...)}, nil
}

func (p *PoliciesDetail) write(d *document.Document) {
	if p.Outcome != nil {
		d.Head("tables")
		d.Show(VerdictTable(p.Outcome))
		d.Say(SummaryText(p.Outcome))
		d.Head("seeds")
		d.Show(SeedTable(p.Outcome))
		return
	}
	d.Head("seeds")
	t := (&document.Table{}).Numbers("", "", "seed", "step").Numbers("", "%.4f", "objective").
		Numbers(document.UnitNats, "", "entropy").Numbers(document.UnitPoints, "", "regret")
	for _, row := range p.Rows {
		t.Add(row.Seed, row.Step, row.Aim, row.Entropy, row.Regret)
	}
	d.Show(t)
	d.Say("OBJECTIVE is the quantity that learning maximizes, in rewards.")
}

// PolicyDetail holds the outcome of learning a policy in the original system's format, and the latest metrics of the
// run.
type PolicyDetail struct {
	Outcome *learn.StudyOutcome `json:"outcome"` // outcome; null if learning has not ended
	Rows    []learningRow       `json:"rows"`    // last metrics; with --all, every row
}

// learningRow holds the metrics of some episodes.
type learningRow struct {
	Episodes    int64   `json:"episodes"` // total number of episodes so far
	Objective   float64 `json:"objective"`
	Accuracy    float64 `json:"accuracy"`
	Expected    float64 `json:"expected_accuracy"`
	Greedy      string  `json:"greedy"` // sequence of the most likely actions
	Temperature float64 `json:"temperature"`
	Rate        float64 `json:"learning_rate"`
}

func readPolicyDetail(r *runs.Run, all bool) (Detail, error) {
	o, err := runs.OutcomeOf[learn.StudyOutcome](r)
	if err != nil {
		return nil, err
	}
	d := &PolicyDetail{Outcome: o, Rows: []learningRow{}}
	t, err := r.Learning()
	if err != nil {
		return nil, err
	}
	c, err := t.Numbers("episodes", "objective", "accuracy", "expected_accuracy", "temperature", "learning_rate")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", runs.LearningFile, err)
	}
	greedy, err := t.Strings("greedy")
	if err != nil {
		greedy = make([]string, t.Rows)
	}
	from := 0
	if !all {
		from = max(0, t.Rows-lastEpochs)
	}
	for k := from; k < t.Rows; k++ {
		d.Rows = append(d.Rows, learningRow{int64(c["episodes"][k]), c["objective"][k], c["accuracy"][k],
			c["expected_accuracy"][k], greedy[k], c["temperature"][k], c["learning_rate"][k]})
	}
	return d, nil
}

func (p *PolicyDetail) write(d *document.Document) {
	if o := p.Outcome; o != nil {
		d.Say(fmt.Sprintf("the policy's most likely sequence is %s: %s, rank %d of %d", strings.Join(o.Greedy, ", "),
			document.PercentText(o.Accuracy), o.Rank, o.Records),
			fmt.Sprintf("the table's best is %s: %s", strings.Join(o.Best, ", "), document.PercentText(o.Most)),
			fmt.Sprintf("mean accuracy of sequences drawn by the policy: %s", document.PercentText(o.Expected)))
	}
	d.Head("last metrics")
	t := (&document.Table{}).Numbers("", "", "episodes").Numbers("", "%.4f", "objective").Numbers(document.UnitShare,
		"", "accuracy", "expected accuracy").Texts("likeliest sequence").Numbers("", "%.3g", "temperature", "rate")
	for _, row := range p.Rows {
		t.Add(row.Episodes, row.Objective, row.Accuracy, row.Expected, row.Greedy, row.Temperature, row.Rate)
	}
	d.Show(t)
}
