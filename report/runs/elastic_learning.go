package runs

import (
	"cmp"
	"fmt"
	"path/filepath"

	"graft/cluster/study"
	"graft/report/document"
)

// ElasticLearningOutcome is the outcome.json of learning a scheduler of elastic jobs or of a machine's tasks. Unit is
// the unit of times; costs of tasks may be another quantity than time.
type ElasticLearningOutcome struct {
	Teacher string `json:"teacher"` // imitated scheduler; none if nothing was imitated
	Method  string `json:"method"`  // method of the following rounds; none if there are no rounds
	Scaling string `json:"scaling"` // model of the cost of changing counts; empty for tasks
	// unit of times and costs: slots, s, kJ s, or share of jobs blocked; empty in runs of earlier versions means slots
	Unit   string `json:"unit"`
	Train  int    `json:"train"`      // training workloads
	Choose int    `json:"validation"` // validation workloads, which select the best
	// lower bound for every scheduler, mean over the validation workloads; zero if unknown
	Bound     float64            `json:"jct_lower_bound"`
	Seeds     []ElasticSeed      `json:"seeds"`      // outcome of each seed
	Best      uint64             `json:"best_seed"`  // seed of the best scheduler on the validation workloads
	Baselines map[string]float64 `json:"rivals_jct"` // mean times to completion of other schedulers, same workloads
}

// ElasticSeed is the outcome of one seed.
type ElasticSeed struct {
	Seed   uint64  `json:"seed"`           // seed number
	Steps  int     `json:"steps"`          // lessons and rounds taken
	Ended  string  `json:"ended"`          // reason of the end
	JCT    float64 `json:"validation_jct"` // mean time to completion on the validation workloads
	BestAt int     `json:"best_at"`        // step after which the best scheduler was learned
	// mean time to completion at the last validation; null if jobs were left, and in runs of earlier versions
	Last      *float64 `json:"last_jct"`
	Scheduler string   `json:"scheduler"` // file of the scheduler in the run folder
}

// ElasticSeedFile returns the path of a seed's scheduler in the run folder.
func ElasticSeedFile(seed uint64) string {
	return filepath.Join(study.LearnedFolder, fmt.Sprintf("seed-%04d.safetensors", seed))
}

// ElasticLearningKind covers runs of learning schedulers of elastic jobs, one per seed.
var ElasticLearningKind = &Kind{Name: "elastic-learning", By: "graft learn", Title: "run of learned schedulers",
	Titles: "runs of learned schedulers", matches: hasManifestAnd(LearningFile, study.LearnedFolder),
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
