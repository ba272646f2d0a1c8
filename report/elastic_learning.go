package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"graft/cluster/node/agent"
	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// PrintElasticLearning writes, as text, the outcome of a run that learned a scheduler for elastic jobs.
func PrintElasticLearning(o *runs.ElasticLearningOutcome, w io.Writer) error {
	d := &document.Document{}
	writeElasticLearning(o, d)
	return d.Print(w)
}

func writeElasticLearning(o *runs.ElasticLearningOutcome, d *document.Document) {
	name, digits := "mean JCT", "%.2f"
	if o.Unit == document.UnitShare {
		name, digits = "blocked", "%.4f"
	}
	seeds := (&document.Table{}).Numbers("", "", "seed", "steps").Numbers("", digits, name).
		Numbers("", "", "after step").Texts("stop reason")
	var times []float64
	for _, s := range o.Seeds {
		seeds.Add(s.Seed, s.Steps, s.JCT, s.BestAt, s.Ended)
		times = append(times, s.JCT)
	}
	d.Show(seeds)
	others := document.NewTable("scheduler").Numbers("", digits, name)
	if o.Bound > 0 {
		others.Numbers("", "%.2f", "over bound")
	}
	add := func(scheduler string, mean float64) {
		if o.Bound > 0 {
			others.Add(scheduler, mean, mean/o.Bound)
			return
		}
		others.Add(scheduler, mean)
	}
	add("learned, mean of seeds", stat.Mean(times))
	for _, name := range slices.SortedFunc(maps.Keys(o.Baselines),
		func(a, b string) int { return cmp.Or(cmp.Compare(o.Baselines[a], o.Baselines[b]), cmp.Compare(a, b)) }) {
		add(name, o.Baselines[name])
	}
	d.Show(others)
	bound := fmt.Sprintf(" No scheduler can have a mean below %.2f.", o.Bound)
	if o.Bound == 0 {
		bound = ""
	}
	remark := cmp.Or(o.Remark, comparedBy(o.Unit)+" compares them on workloads that no learner uses.")
	d.Say(fmt.Sprintf("%s on the %s, which also selected the best schedulers; %s%s The best seed is %d.",
		measure(o.Unit), words.Plural(o.Choose, "validation workload"), remark, bound, o.Best))
}

// measure names the quantity of a unit.
func measure(unit string) string {
	switch unit {
	case agent.EnergyDelay.Unit():
		return "Energy times mean completion time in kJ s"
	case document.UnitShare:
		return "Blocked share of jobs"
	}
	return "Times in " + cmp.Or(unit, document.UnitSlots)
}

// comparedBy names the command that compares schedulers with times in a unit.
func comparedBy(unit string) string {
	switch unit {
	case "", document.UnitSlots:
		return "'graft evaluate'"
	case document.UnitShare:
		return "'graft fabric run'"
	}
	return "'graft node simulate'"
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
	d.Head("learned schedulers")
	writeElasticLearning(e.ElasticLearningOutcome, d)
}
