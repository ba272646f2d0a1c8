package runs

import (
	"cmp"
	"fmt"
	"path/filepath"

	"graft/cluster/study"
	"graft/report/document"
)

// ElasticLearningOutcome is the outcome.json of learning a scheduler of elastic jobs or of a machine's tasks.
// Times are in the unit, of which the costs of tasks may be another quantity.
type ElasticLearningOutcome struct {
	Teacher string `json:"teacher"` // scheduler that was imitated; none for nobody
	Method  string `json:"method"`  // of the rounds after that; none for no rounds
	Scaling string `json:"scaling"` // model of what a change of counts costs; empty for tasks
	// of times and costs: slots, s, kJ s, or share of jobs blocked; empty in runs of earlier versions, which is slots
	Unit   string `json:"unit"`
	Train  int    `json:"train"`      // workloads that were learned from
	Choose int    `json:"validation"` // workloads that chose the best
	// mean over those of what no scheduler goes below; zero where none is known
	Bound  float64            `json:"jct_lower_bound"`
	Seeds  []ElasticSeed      `json:"seeds"`      // each by itself
	Best   uint64             `json:"best_seed"`  // seed of the scheduler that is best on them
	Rivals map[string]float64 `json:"rivals_jct"` // mean time to completion of other schedulers on them
}

// ElasticSeed is the outcome of one seed.
type ElasticSeed struct {
	Seed   uint64  `json:"seed"`           // its number
	Steps  int     `json:"steps"`          // lessons and rounds that were taken
	Ended  string  `json:"ended"`          // why
	JCT    float64 `json:"validation_jct"` // mean time to completion on the workloads of validation
	BestAt int     `json:"best_at"`        // step after which it was learned
	// mean time to completion at the last validation; null where jobs were left, and in runs of earlier versions
	Last      *float64 `json:"last_jct"`
	Scheduler string   `json:"scheduler"` // its file in the run folder
}

// ElasticSeedFile is the path of a seed's scheduler in the run folder.
func ElasticSeedFile(seed uint64) string {
	return filepath.Join(study.LearnedFolder, fmt.Sprintf("seed-%04d.safetensors", seed))
}

// ElasticLearningKind covers runs that learned schedulers of elastic jobs, one for each seed.
var ElasticLearningKind = &Kind{Name: "elastic-learning", By: "graft learn", Title: "run of schedulers that learn",
	Titles: "runs of schedulers that learn", matches: hasManifestAnd(LearningFile, study.LearnedFolder),
	read: readElasticLearning, series: func(r *Run) ([]Series, error) { return streamSeries(r, "learning") }}

func readElasticLearning(f *Folder, r *Run) error {
	o := &ElasticLearningOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for _, s := range o.Seeds {
		if s.Seed == o.Best {
			r.Quantities = append(r.Quantities, seedless("validation_jct", cmp.Or(o.Unit, document.UnitSlots),
				Lower, s.JCT))
		}
	}
	return nil
}
