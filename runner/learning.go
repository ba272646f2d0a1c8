package main

import (
	"fmt"
	"io"
	"slices"

	"graft/decider"
	"graft/results/document"
	"graft/results/report"
	"graft/results/runs"
	"graft/simulation"
)

// outcome says how good the policies are, in the tables and in those held out.
func (c *class) outcome(all []simulation.Learned, voted *decider.Structural) (*runs.PoliciesOutcome, error) {
	trees, held := c.Trees()
	o := &runs.PoliciesOutcome{HeldOut: []simulation.Verdict{}}
	var err error
	if o.Tables, err = simulation.Assess(trees, simulation.OfPolicy("vote", voted)); err != nil {
		return nil, err
	}
	o.Regret = runs.MeanRegret(o.Tables)
	var inside, outside [][]simulation.Verdict
	for _, l := range all {
		chooser := simulation.OfPolicy(fmt.Sprintf("seed %d", l.Seed), l.Policy)
		verdicts, err := simulation.Assess(slices.Concat(trees, held), chooser)
		if err != nil {
			return nil, err
		}
		in, out := verdicts[:len(trees)], verdicts[len(trees):]
		inside, outside = append(inside, in), append(outside, out)
		o.Seeds = append(o.Seeds, runs.SeedOutcome{Seed: l.Seed, Steps: l.Steps, Ended: l.Why, Regret: runs.MeanRegret(in), Out: runs.MeanRegret(out), Policy: seedFile(l.Seed)})
		o.Steps += l.Steps
	}
	o.Summary = simulation.Summarize("each seed", inside)
	if len(held) == 0 {
		return o, nil
	}
	summary := simulation.Summarize("each seed", outside)
	o.Outside = &summary
	o.HeldOut, err = simulation.Assess(held, simulation.OfPolicy("vote", voted))
	return o, err
}

func (c *class) print(w io.Writer, o *runs.PoliciesOutcome) error {
	if c.json {
		return document.PrintJSON(w, learnTreesReport{c.folder, c.stored.Path(votedFile), o, c.took.Seconds()})
	}
	if err := report.PolicyTables(o).Print(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := report.PolicySeeds(o).Print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s%s in %s\nresults in %s, the vote of all in %s, each policy in %s\n",
		report.Summaries(o), document.Counted(o.Steps, "step"), document.ClockText(c.took), c.folder, c.stored.Path(votedFile), c.stored.Path(policiesFolder))
	return err
}
