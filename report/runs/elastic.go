package runs

import (
	"slices"

	"graft/cluster/elastic"
	"graft/internal/stat"
	"graft/report/document"
)

// ElasticOutcome is the outcome of simulations of elastic jobs. Times are in slots.
type ElasticOutcome struct {
	Folder  string        `json:"folder"`          // of the run
	Trace   string        `json:"trace"`           // the file of the jobs
	Jobs    int           `json:"jobs"`            // of the trace
	Nodes   int           `json:"nodes"`           // of the cluster
	Slot    float64       `json:"slot_seconds"`    // length of a slot
	Scaling string        `json:"scaling"`         // model of what a change of counts costs
	Compat  string        `json:"compat"`          // whose faults are kept: none or dl2
	Bound   float64       `json:"jct_lower_bound"` // mean time to completion that no scheduler goes below
	Cells   []ElasticCell `json:"cells"`           // a simulation each, scheduler by scheduler
}

// ElasticCell holds the results of one scheduler. A time to completion is from the beginning of the
// slot of arrival to completion.
type ElasticCell struct {
	Scheduler string  `json:"scheduler"`   // its name
	Mean      float64 `json:"jct_mean"`    // time to completion
	Median    float64 `json:"jct_median"`  // of the jobs
	P95       float64 `json:"jct_p95"`     // of the jobs
	Makespan  float64 `json:"makespan"`    // end of the last job
	Slots     int     `json:"slots"`       // that were simulated
	Reward    float64 `json:"reward_mean"` // of a slot
	// SHA-256 over "slot:job:workers:servers;" of all jobs with tasks
	Allocations string `json:"allocations"`
	// 95% interval of the time to completion less that under the first scheduler, over jobs; null for that
	// one, and for a single job
	Against    *stat.Interval `json:"jct_against_first"`
	Difference float64        `json:"jct_difference"` // its mean; zero for the first
}

// AddElastic adds the result of a scheduler.
func (o *ElasticOutcome) AddElastic(scheduler string, r, first *elastic.Result) {
	times := jcts(r)
	c := ElasticCell{Scheduler: scheduler, Mean: r.MeanJCT, Median: stat.Quantile(slices.Sorted(slices.Values(times)),
		0.5), P95: stat.Quantile(slices.Sorted(slices.Values(times)), 0.95),
		Makespan: r.Makespan, Slots: r.Slots, Reward: r.MeanReward, Allocations: r.Allocations}
	if first != nil {
		others := jcts(first)
		for k := range times {
			times[k] -= others[k]
		}
		c.Difference = stat.Mean(times)
		if i := stat.MeanInterval(times, 1); len(times) > 1 {
			c.Against = &i
		}
	}
	o.Cells = append(o.Cells, c)
}

// jcts are the times of all jobs, in the order of arrival.
func jcts(r *elastic.Result) (times []float64) {
	for _, c := range r.Completions {
		times = append(times, c.JCT)
	}
	return times
}

// ElasticKind covers the runs of elastic jobs.
var ElasticKind = &Kind{Name: "elastic", Title: "simulation of elastic jobs", Titles: "simulations of elastic jobs",
	matches: hasManifestAnd(ResolvedFile, elasticTable), read: readElasticRun}

// Tables in the folder of each scheduler.
const (
	ElasticJobsFile        = "jobs.csv"        // a row for each job
	ElasticSlotsFile       = "slots.csv"       // a row for each slot: jobs, tasks and shares of the cluster
	ElasticAllocationsFile = "allocations.csv" // a row for each job with tasks in a slot
)

// ElasticStream is the table by which the run is recognised.
const (
	ElasticStream = "elastic"
	elasticTable  = ElasticStream + ".csv"
)

func readElasticRun(f *Folder, r *Run) error {
	o := &ElasticOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for _, c := range o.Cells {
		r.Quantities = append(r.Quantities, seedless(c.Scheduler+"_jct", document.UnitSlots, Lower, c.Mean),
			seedless(c.Scheduler+"_jct_p95", document.UnitSlots, Lower, c.P95),
			seedless(c.Scheduler+"_makespan", document.UnitSlots, Lower, c.Makespan),
			seedless(c.Scheduler+"_reward", "", Higher, c.Reward))
	}
	return nil
}
