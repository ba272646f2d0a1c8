package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/decider"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
)

// treeOutcome is what policies have learned, as outcome.json has it.
type treeOutcome struct {
	Seeds   []seedOutcome      `json:"seeds"`         // each by itself
	Steps   int                `json:"steps"`         // of all seeds
	Tables  []evaluation.Score `json:"tables"`        // on the vote of all seeds, in each table
	HeldOut []evaluation.Score `json:"held_out"`      // the same in tables that nothing was learned from; empty where there are none
	Regret  float64            `json:"regret_points"` // of the vote, the mean over the tables
	Summary evaluation.Summary `json:"summary"`       // of the seeds, each by itself, over the tables
	// Outside is the same over the tables that nothing was learned from; null where there
	// are none.
	Outside *evaluation.Summary `json:"held_out_summary"`
}

// seedOutcome is what a seed has learned.
type seedOutcome struct {
	Seed   uint64  `json:"seed"`                   // its number
	Steps  int     `json:"steps"`                  // that were taken
	Ended  string  `json:"ended"`                  // why
	Regret float64 `json:"regret_points"`          // of its likeliest sequences, the mean over the tables
	Out    float64 `json:"held_out_regret_points"` // the same over those that are held out; zero where there are none
	Policy string  `json:"policy"`                 // its file in the run folder
}

// learnTreesReport is what `graft learn --json` prints of structural policies.
type learnTreesReport struct {
	Folder  string       `json:"folder"`  // of the run
	Policy  string       `json:"policy"`  // the file of the vote
	Outcome *treeOutcome `json:"outcome"` // what was learned
	Seconds float64      `json:"seconds"` // of the machine's time that learning took, in this process
}

// outcome says how good the policies are, in the tables and in those held out.
func (c *class) outcome(all []learning.Result, voted *decider.Structural) (*treeOutcome, error) {
	trees, held := c.Trees()
	o := &treeOutcome{HeldOut: []evaluation.Score{}}
	var err error
	if o.Tables, err = evaluation.Evaluate(trees, evaluation.Structural("vote", voted)); err != nil {
		return nil, err
	}
	o.Regret = meanRegret(o.Tables)
	var inside, outside [][]evaluation.Score
	for _, l := range all {
		chooser := evaluation.Structural(fmt.Sprintf("seed %d", l.Seed), l.Policy)
		verdicts, err := evaluation.Evaluate(slices.Concat(trees, held), chooser)
		if err != nil {
			return nil, err
		}
		in, out := verdicts[:len(trees)], verdicts[len(trees):]
		inside, outside = append(inside, in), append(outside, out)
		o.Seeds = append(o.Seeds, seedOutcome{l.Seed, l.Steps, l.Why, meanRegret(in), meanRegret(out), seedFile(l.Seed)})
		o.Steps += l.Steps
	}
	o.Summary = evaluation.Summarize("each seed", inside)
	if len(held) == 0 {
		return o, nil
	}
	summary := evaluation.Summarize("each seed", outside)
	o.Outside = &summary
	o.HeldOut, err = evaluation.Evaluate(held, evaluation.Structural("vote", voted))
	return o, err
}

// meanRegret is zero where there is nothing.
func meanRegret(verdicts []evaluation.Score) float64 {
	sum := 0.0
	for _, v := range verdicts {
		sum += v.Regret
	}
	return sum / float64(max(1, len(verdicts)))
}

func (c *class) print(w io.Writer, o *treeOutcome) error {
	if c.json {
		return printJSON(w, learnTreesReport{c.folder, c.stored.Path(votedFile), o, c.took.Seconds()})
	}
	if err := o.tableOfTables().print(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := o.tableOfSeeds().print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s%s in %s\nresults in %s, the vote of all in %s, each policy in %s\n",
		o.summaries(), counted(o.Steps, "step"), clockText(c.took), c.folder, c.stored.Path(votedFile), c.stored.Path(policiesFolder))
	return err
}

// tableOfTables has a line for each table, and what the vote does there.
func (o *treeOutcome) tableOfTables() *table {
	t := newTable("TABLE", "THE VOTE'S SEQUENCE", ">ACCURACY", ">REGRET", ">RANK", ">TIES", ">NEVER", ">RANDOM", ">BEST")
	for k, v := range slices.Concat(o.Tables, o.HeldOut) {
		name, never := printable(v.Scenario), "-"
		if k >= len(o.Tables) {
			name += ", held out"
		}
		if v.Never > 0 {
			never = percentText(v.Never)
		}
		t.add(name, strings.Join(v.Sequence, ", "), percentText(v.Accuracy), fmt.Sprintf("%.2f", v.Regret), fmt.Sprintf("%.0f of %d", v.Rank, v.Of),
			fmt.Sprintf("%d–%d", v.From, v.To), never, percentText(v.Mean), percentText(v.Best))
	}
	return t
}

// tableOfSeeds has a line for each seed.
func (o *treeOutcome) tableOfSeeds() *table {
	t := newTable(">SEED", ">STEPS", ">MEAN REGRET", "ENDED, AS")
	for _, s := range o.Seeds {
		t.add(fmt.Sprint(s.Seed), fmt.Sprint(s.Steps), fmt.Sprintf("%.3f", s.Regret), s.Ended)
	}
	return t
}

// summaries say in sentences how good all seeds are.
func (o *treeOutcome) summaries() string {
	text := summaryText(fmt.Sprintf("in %s", counted(len(o.Tables), "table")), o.Summary, o.Regret)
	if o.Outside != nil {
		text += summaryText("in "+counted(len(o.HeldOut), "table")+" held out", *o.Outside, meanRegret(o.HeldOut))
	}
	return text
}

func summaryText(where string, s evaluation.Summary, vote float64) string {
	return fmt.Sprintf("mean regret %s: %.3f points, 95%% interval over %s [%.3f, %.3f]; the vote's is %.3f\n"+
		"%.0f%% of what they chose is in a table's top five; the worst regret is %.2f points, in %s\n",
		where, s.Regret.Mean, counted(s.Seeds, "seed"), s.Regret.Low, s.Regret.High, vote, 100*s.TopFive, s.Worst, printable(s.WorstOne))
}

func percentText(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }
