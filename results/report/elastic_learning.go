package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"graft/results/document"
	"graft/results/runs"
	"graft/stat"
)

// PrintElasticLearning writes the outcome for people.
func PrintElasticLearning(o *runs.ElasticLearningOutcome, w io.Writer) error {
	d := &document.Document{}
	writeElasticLearning(o, d)
	return d.Print(w)
}

func writeElasticLearning(o *runs.ElasticLearningOutcome, d *document.Document) {
	seeds := (&document.Table{}).Numbers("", "", "seed", "steps").Numbers("", "%.2f", "mean JCT").Numbers("", "", "after step").Texts("stop reason")
	var times []float64
	for _, s := range o.Seeds {
		seeds.Add(s.Seed, s.Steps, s.JCT, s.BestAt, s.Ended)
		times = append(times, s.JCT)
	}
	d.Show(seeds)
	others := document.NewTable("scheduler").Numbers("", "%.2f", "mean JCT", "over bound")
	learned := stat.Mean(times)
	others.Add("learned, mean of seeds", learned, learned/o.Bound)
	for _, name := range slices.SortedFunc(maps.Keys(o.Rivals), func(a, b string) int { return cmp.Or(cmp.Compare(o.Rivals[a], o.Rivals[b]), cmp.Compare(a, b)) }) {
		others.Add(name, o.Rivals[name], o.Rivals[name]/o.Bound)
	}
	d.Show(others)
	d.Say(fmt.Sprintf("Times in slots, on the %s of validation, by which the best were chosen: 'graft evaluate' compares on workloads that no learner has seen. No scheduler has a mean below %.2f. The best seed is %d.",
		document.Plural(o.Choose, "workload"), o.Bound, o.Best))
}

// elasticLearningDetail is the outcome of learning schedulers of elastic jobs.
type elasticLearningDetail struct{ *runs.ElasticLearningOutcome }

func readElasticLearningDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.ElasticLearningOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &elasticLearningDetail{o}, nil
}

func (e *elasticLearningDetail) write(d *document.Document) {
	d.Head("schedulers that learn")
	writeElasticLearning(e.ElasticLearningOutcome, d)
}
