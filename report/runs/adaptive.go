package runs

import (
	"fmt"
	"path/filepath"

	"graft/internal/stat"
	"graft/report/document"
)

// AdaptiveOutcome is the outcome.json of simulations of jobs that adapt their batch. Times are in seconds.
type AdaptiveOutcome struct {
	Folder    string         `json:"folder"`           // of the run
	Data      string         `json:"data"`             // the folder of the applications
	Nodes     int            `json:"nodes"`            // of the cluster
	Devices   int            `json:"devices"`          // of a node
	Interval  float64        `json:"interval_seconds"` // between two decisions
	Compat    string         `json:"compat"`           // whose faults are kept: none or pollux
	Quirks    []string       `json:"quirks"`           // names of the faults that are kept
	Workloads []string       `json:"workloads"`        // their names
	Jobs      int            `json:"jobs"`             // of all workloads
	Cells     []AdaptiveCell `json:"cells"`            // a simulation each, workload by workload
	JCT       *Ranking       `json:"jct"`              // mean times to completion, s; null for a single workload
	Worth     *AdaptiveWorth `json:"worth"`            // of quirks; null where schedule.worth is false
}

// AdaptiveCell holds the results of a scheduler on a workload. A time to completion is from submission to the
// end of a job.
type AdaptiveCell struct {
	Workload    string  `json:"workload"`     // its name
	Scheduler   string  `json:"scheduler"`    // its name
	Seed        uint64  `json:"seed"`         // of the draws; zero where it draws nothing
	Rigid       bool    `json:"rigid"`        // whether jobs keep the devices and the batch of their users
	Jobs        int     `json:"jobs"`         // of the workload
	Mean        float64 `json:"jct_mean"`     // time to completion, s
	Median      float64 `json:"jct_median"`   // s
	P99         float64 `json:"jct_p99"`      // s
	Makespan    float64 `json:"makespan"`     // end of the last job, s
	Queue       float64 `json:"queue_mean"`   // time from submission to the first start, s
	DeviceHours float64 `json:"device_hours"` // that jobs had
	Restarts    int     `json:"restarts"`     // changes of the devices of jobs that had some before
	// of a device, beside one that works alone with the smallest batch: the time that all jobs would take so, over
	// that of the devices that they had
	Goodput float64 `json:"goodput"`
	// 95% interval of the time to completion less that under the first scheduler, over the jobs; null for
	// that one, and for a single job
	Against *stat.Interval `json:"jct_against_first"`
	// gap of decisions to the upper bound; null for schedulers without a bound
	Search *AdaptiveSearch `json:"search"`
}

// AdaptiveSearch compares the objective of decisions with its upper bound.
type AdaptiveSearch struct {
	Decisions int     `json:"decisions"` // rounds with jobs
	Gap       float64 `json:"gap"`       // mean relative gap between the objective and its upper bound
	WorstGap  float64 `json:"worst_gap"` // largest such gap
}

// AdaptiveWorth says what quirks of Pollux's simulator are worth on the first workload.
type AdaptiveWorth struct {
	Workload string               `json:"workload"` // its name
	Quirks   []AdaptiveQuirkWorth `json:"quirks"`   // each kept alone, under each scheduler that has it
}

// AdaptiveQuirkWorth holds the effect of a quirk.
type AdaptiveQuirkWorth struct {
	Scheduler string  `json:"scheduler"` // its name
	Quirk     string  `json:"quirk"`     // its name
	Fixed     string  `json:"fixed"`     // what is so without it
	Without   float64 `json:"without"`   // mean time to completion without quirks, s
	Mean      float64 `json:"jct_mean"`  // with it, s
	Changed   int     `json:"changed"`   // jobs that end at another time
}

// CellFolder is the folder of the tables of a simulation in that of the run: SCHEDULER, or
// WORKLOAD/SCHEDULER where there are several workloads, with the seed where there are several.
func (o *AdaptiveOutcome) CellFolder(c *AdaptiveCell) string {
	name := c.Scheduler
	for k := range o.Cells {
		if other := &o.Cells[k]; other.Scheduler == c.Scheduler && other.Workload == c.Workload &&
			other.Seed != c.Seed {
			name = fmt.Sprintf("%s-seed-%d", c.Scheduler, c.Seed)
		}
	}
	if len(o.Workloads) > 1 {
		return filepath.Join(c.Workload, name)
	}
	return name
}

// AdaptiveKind covers the runs of jobs that adapt their batch.
var AdaptiveKind = &Kind{Name: "adaptive", Title: "simulation of adaptive jobs", Titles: "simulations of adaptive jobs",
	matches: hasManifestAnd(ResolvedFile, AdaptiveStream+".csv"), read: readAdaptiveRun}

// Tables in the folder of each simulation, and the one by which the run is recognised.
const (
	AdaptiveStream          = "adaptive"
	AdaptiveJobsFile        = "jobs.csv"        // a row for each job
	AdaptiveRoundsFile      = "rounds.csv"      // a row for each round: jobs and devices
	AdaptiveAllocationsFile = "allocations.csv" // a row for each change of a job's devices
)

func readAdaptiveRun(f *Folder, r *Run) error {
	o := &AdaptiveOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for k := range o.Cells {
		c, name := &o.Cells[k], filepath.ToSlash(o.CellFolder(&o.Cells[k]))
		r.Quantities = append(r.Quantities, seedless(name+"_jct", document.UnitSeconds, Lower, c.Mean),
			seedless(name+"_jct_p99", document.UnitSeconds, Lower, c.P99),
			seedless(name+"_makespan", document.UnitSeconds, Lower, c.Makespan))
	}
	return nil
}
