package report

import (
	"fmt"
	"io"

	"graft/config"
	"graft/report/document"
	"graft/report/runs"
)

// PrintElastic writes the outcome for people.
func PrintElastic(r *runs.ElasticOutcome, w io.Writer) error {
	d := &document.Document{}
	writeElastic(r, d)
	if r.Folder != "" {
		d.Say("results in " + r.Folder)
	}
	return d.Print(w)
}

func writeElastic(r *runs.ElasticOutcome, d *document.Document) {
	d.Say(fmt.Sprintf("%s of %s on %s, scaling %s", document.Plural(r.Jobs, "job"), r.Trace,
		document.Plural(r.Nodes, "node"), r.Scaling))
	if r.Compat == config.CompatDL2 {
		d.Say("the faults of DL2's simulator are kept")
	}
	t := document.NewTable("scheduler").Numbers("", "%.2f", "mean JCT", "difference").Numbers("", "", "95%").
		Numbers("", "%.2f", "median", "p95", "makespan").Numbers("", "%.3f", "reward").Numbers("", "%.2f", "over bound")
	for k, c := range r.Cells {
		difference, interval := document.Missing(), document.Missing()
		if k > 0 {
			difference = document.Value(c.Difference, "").As("%+.2f")
		}
		if c.Against != nil {
			interval = document.Between(&c.Against.Low, &c.Against.High, "").As("%.2f")
		}
		t.Add(c.Scheduler, c.Mean, difference, interval, c.Median, c.P95, c.Makespan, c.Reward, c.Mean/r.Bound)
	}
	d.Show(t)
	d.Say(fmt.Sprintf("Times in slots of %g s; JCT is from the beginning of the slot of arrival to completion. "+
		"No scheduler has a mean below %.2f.", r.Slot, r.Bound),
		"Differences are from the first scheduler, job by job; intervals of 95% are over the jobs of this trace.")
}

// elasticDetail is the outcome of simulations of elastic jobs.
type elasticDetail struct{ *runs.ElasticOutcome }

func readElasticDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.ElasticOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &elasticDetail{o}, nil
}

func (e *elasticDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeElastic(e.ElasticOutcome, d)
}
