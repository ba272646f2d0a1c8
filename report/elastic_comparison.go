package report

import (
	"fmt"
	"io"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// rankRemark explains shared ranks.
const rankRemark = "Schedulers share a rank if the 95% interval of their paired difference from the best " +
	"scheduler of the rank contains zero."

// PrintElasticComparison writes, as text, a comparison of schedulers for elastic jobs.
func PrintElasticComparison(c *runs.ElasticComparison, w io.Writer) error {
	d := &document.Document{}
	writeElasticComparison(c, d)
	if c.Folder != "" {
		d.Say("results in " + c.Folder)
	}
	return d.Print(w)
}

func writeElasticComparison(c *runs.ElasticComparison, d *document.Document) {
	t := document.NewTable("scheduler").Numbers("", "", "rank", "seeds").Numbers("", "%.2f", "mean JCT").
		Numbers("", "", "95%").Numbers("", "%.3f", "over bound").
		Numbers("", "", "difference", "better", "ties")
	var left []string
	for _, s := range c.Standings {
		seeds := document.Missing()
		if s.Seeds > 0 {
			seeds = document.Value(float64(s.Seeds), "")
		}
		if s.Mean == nil {
			left = append(left, fmt.Sprintf("%s (%d)", s.Scheduler, s.Left))
			t.Add(s.Scheduler, document.Missing(), seeds, document.Missing(), document.Missing(), document.Missing(),
				document.Missing(), document.Missing(), document.Missing())
			continue
		}
		difference, better, ties := document.Missing(), document.Missing(), document.Missing()
		if s.Scheduler != c.Against {
			better, ties = document.Value(float64(s.Better), "").Then(" of %d", len(s.Times)),
				document.Value(float64(s.Ties), "")
		}
		if s.Difference != nil {
			difference = document.Value(s.Difference.Mean, "").As("%+.2f")
			difference.Low, difference.High = &s.Difference.Low, &s.Difference.High
		}
		t.Add(s.Scheduler, s.Rank, seeds, *s.Mean, timeInterval(s.Interval), *s.Excess, difference, better, ties)
	}
	d.Show(t)
	d.Say(fmt.Sprintf(
		"Times are in slots of %g s, with scaling %s, on %s. No scheduler can have a mean below the lower bound "+
			"%.2f. DIFFERENCE is relative to %s, paired by workload; 95%% intervals are over workloads and seeds.",
		c.Slot, c.Scaling, words.Plural(len(c.Bounds), "workload"), stat.Mean(c.Bounds), c.Against),
		rankRemark)
	if len(left) > 0 {
		d.Say(fmt.Sprintf("Schedulers that left jobs unfinished: %s; the numbers count simulations. Raise "+
			"learn.max_slots to simulate them for longer.", strings.Join(left, ", ")))
	}
}

func timeInterval(i *stat.Interval) document.Cell {
	if i == nil {
		return document.Missing()
	}
	return document.Between(&i.Low, &i.High, "").As("%.2f")
}

// elasticComparisonDetail is the outcome of a comparison of schedulers of elastic jobs.
type elasticComparisonDetail struct{ *runs.ElasticComparison }

func readElasticComparisonDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.ElasticComparison](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &elasticComparisonDetail{o}, nil
}

func (e *elasticComparisonDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeElasticComparison(e.ElasticComparison, d)
}
