package runs

import (
	"cmp"
	"fmt"
	"path/filepath"

	"graft/cluster/study"
	"graft/report/document"
)

// ElasticLearningOutcome is the content of outcome.json for a run that learns a scheduler, for elastic jobs or for a
// machine's tasks. Unit is the unit of the values; schedulers of tasks may minimise a cost that is not a time.
type ElasticLearningOutcome struct {
	Teacher string `json:"teacher"` // name of the imitated scheduler; none if there was no imitation
	Method  string `json:"method"`  // method of reinforcement learning; none if there were no rounds
	Scaling string `json:"scaling"` // name of the scaling model; empty for tasks
	// unit of times and costs: slots, s, kJ s, or share of blocked jobs; empty in runs of earlier versions, where the
	// unit is slots
	Unit   string `json:"unit"`
	Train  int    `json:"train"`      // number of training workloads
	Choose int    `json:"validation"` // number of validation workloads, which select the best scheduler
	// lower bound on the mean completion time or cost of any scheduler, averaged over the validation workloads; zero if
	// unknown
	Bound float64       `json:"jct_lower_bound"`
	Seeds []ElasticSeed `json:"seeds"`     // outcome of each seed
	Best  uint64        `json:"best_seed"` // seed whose scheduler is the best on the validation workloads
	// mean completion time or cost of each baseline scheduler on the validation workloads
	Baselines map[string]float64 `json:"rivals_jct"`
	// describes the workloads, and how to compare the schedulers; may be empty
	Remark string `json:"remark,omitempty"`
}

// ElasticSeed is the outcome of learning with one seed.
type ElasticSeed struct {
	Seed   uint64  `json:"seed"`           // seed number
	Steps  int     `json:"steps"`          // number of lessons and rounds
	Ended  string  `json:"ended"`          // reason why learning ended
	JCT    float64 `json:"validation_jct"` // mean time to completion on the validation workloads
	BestAt int     `json:"best_at"`        // number of the step after which the best scheduler was learned
	// mean time to completion at the last validation; null if jobs were left unfinished, or if an earlier version of
	// graft wrote the run
	Last      *float64 `json:"last_jct"`
	Scheduler string   `json:"scheduler"` // name of the scheduler's file in the run folder
}

// ElasticSeedFile returns the path, inside the run folder, of the scheduler that was learned with the given seed.
func ElasticSeedFile(seed uint64) string {
	return filepath.Join(study.LearnedFolder, fmt.Sprintf("seed-%04d.safetensors", seed))
}

// ElasticLearningKind describes the run folders of learned schedulers for elastic jobs, with one scheduler per seed.
var ElasticLearningKind = &Kind{Name: "elastic-learning", By: "graft learn", Title: "run of learned schedulers",
	Titles: "runs of learned schedulers", matches: hasManifestAnd(LearningFile, study.LearnedFolder),
	read: readElasticLearning, list: schedulersOverview,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "learning") }}

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
