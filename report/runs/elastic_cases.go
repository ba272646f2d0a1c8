package runs

import (
	"slices"

	"graft/internal/stat"
)

// ElasticCasesOutcome is the content of outcome.json for a run that trains schedulers for elastic jobs in several
// cases. Times are mean times to completion on the validation workloads, in slots.
type ElasticCasesOutcome struct {
	Cases []ElasticCase `json:"cases"` // cases in the order of their file
}

// ElasticCase holds the results of a case.
type ElasticCase struct {
	Name   string   `json:"name"`   // unique name of the case
	Set    []string `json:"set"`    // assignments that define the case
	Folder string   `json:"folder"` // name of the case's run folder in the folder of all cases
	// lowest mean time to completion over all validations, summarised over seeds; optimistic, because the best
	// validation is chosen on the same workloads on which its time is reported
	Best stat.OverSeeds `json:"jct_best"`
	// mean time to completion at the last validation, summarised over seeds; null if jobs were left unfinished with any
	// seed
	Last  *stat.OverSeeds `json:"jct_last"`
	Bound float64         `json:"jct_lower_bound"` // lower bound of the time under every scheduler
	// mean time to completion under each scheduler in schedule.schedulers that completes all jobs
	Baselines map[string]float64 `json:"rivals_jct"`
}

// Add adds a completed case, with its results from learned and the completion times of the named baselines.
func (o *ElasticCasesOutcome) Add(c ElasticCase, learned *ElasticLearningOutcome, baselines []string) {
	var best, last []float64
	for _, s := range learned.Seeds {
		if best = append(best, s.JCT); s.Last != nil {
			last = append(last, *s.Last)
		}
	}
	const miss = 0.05
	if c.Best = stat.NewOverSeeds(best, miss, stat.FromZero); len(last) == len(best) {
		all := stat.NewOverSeeds(last, miss, stat.FromZero)
		c.Last = &all
	}
	c.Set, c.Bound, c.Baselines = append([]string{}, c.Set...), learned.Bound, map[string]float64{}
	for _, name := range baselines {
		if v, known := learned.Baselines[name]; known {
			c.Baselines[name] = v
		}
	}
	o.Cases = append(o.Cases, c)
}

// Schedulers returns the sorted names of all baseline schedulers. A baseline is included if it occurs in at least one
// case.
func (o *ElasticCasesOutcome) Schedulers() (names []string) {
	for _, c := range o.Cases {
		for name := range c.Baselines {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ElasticCasesKind describes the run folders that graft learn writes when it learns schedulers for elastic jobs in
// several cases.
var ElasticCasesKind = &Kind{Name: "elastic-cases", By: "graft learn",
	Title:  "run of cases of learned schedulers",
	Titles: "runs of cases of learned schedulers", matches: hasManifestAnd(elasticCasesTable),
	read: readElasticCases, list: casesOverview}

// ElasticCasesStream is the table that identifies the run. It has one row per case.
const (
	ElasticCasesStream = "cases"
	elasticCasesTable  = ElasticCasesStream + ".csv"
)

func readElasticCases(f *Folder, r *Run) error {
	o := &ElasticCasesOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for _, c := range o.Cases {
		r.Quantities = append(r.Quantities, seedless(c.Name+"_jct_best", "", Lower, c.Best.Mean))
		if c.Last != nil {
			r.Quantities = append(r.Quantities, seedless(c.Name+"_jct_last", "", Lower, c.Last.Mean))
		}
	}
	return nil
}
