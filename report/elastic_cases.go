package report

import (
	"io"

	"graft/report/document"
	"graft/report/runs"
)

// PrintElasticCases writes, as text, the outcome of a run that learned schedulers for elastic jobs in several cases.
func PrintElasticCases(o *runs.ElasticCasesOutcome, w io.Writer) error {
	d := &document.Document{}
	writeElasticCases(o, d)
	return d.Print(w)
}

func writeElasticCases(o *runs.ElasticCasesOutcome, d *document.Document) {
	names := o.Schedulers()
	t := document.NewTable("case").Numbers("", "", "seeds").Numbers("", "%.2f", "best JCT").Numbers("", "", "95%").
		Numbers("", "%.2f", "last JCT").Numbers("", "%.2f", names...)
	for _, c := range o.Cases {
		last := document.Missing()
		if c.Last != nil {
			last = document.Value(c.Last.Mean, "").As("%.2f")
		}
		row := []any{c.Name, c.Best.N, c.Best.Mean, document.Between(c.Best.Low, c.Best.High, "").As("%.2f"), last}
		for _, name := range names {
			cell := document.Missing()
			if v, known := c.Baselines[name]; known {
				cell = document.Value(v, "").As("%.2f")
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	d.Show(t)
	d.Say("Mean completion times on each case's validation workloads, in slots. BEST JCT is the mean over "+
		"seeds of the shortest time of all validations, with its 95% interval over seeds; it is optimistic, since "+
		"the same "+
		"workloads select and measure it. LAST JCT is the mean over seeds at the last validation.",
		"'graft evaluate' compares the schedulers of a case on workloads that no learner uses.")
}

// elasticCasesDetail is the outcome of cases.
type elasticCasesDetail struct{ *runs.ElasticCasesOutcome }

func readElasticCasesDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.ElasticCasesOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &elasticCasesDetail{o}, nil
}

func (e *elasticCasesDetail) write(d *document.Document) {
	d.Head("cases")
	writeElasticCases(e.ElasticCasesOutcome, d)
}
