package runs

import (
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/results/document"
)

// ClusterOutcome is what `graft cluster run --json` prints.
type ClusterOutcome struct {
	Folder    string            `json:"folder"`    // of the run
	Trace     string            `json:"trace"`     // the file of the jobs
	Format    string            `json:"format"`    // of the trace
	Jobs      int               `json:"jobs"`      // of the trace, in the span that is simulated
	GPUs      int               `json:"gpus"`      // of all nodes
	Pools     int               `json:"pools"`     // virtual clusters
	Begin     int64             `json:"begin_s"`   // second of the trace at which simulations begin
	Placement string            `json:"placement"` // how nodes are chosen
	Compat    string            `json:"compat"`    // whose faults are kept: none or lucid
	Refused   []ClusterRefusals `json:"refused"`   // jobs that were left out, by why; of the scheduler that left out most
	Cells     []*ClusterCell    `json:"cells"`     // a simulation each, scheduler by scheduler and load by load
}

// ClusterRefusals are jobs that were left out.
type ClusterRefusals struct {
	Why     string `json:"why"`     // they cannot run
	Jobs    int    `json:"jobs"`    // how many they are
	Example string `json:"example"` // id of the first of them
}

// ClusterCell is a simulation: a scheduler at a load.
type ClusterCell struct {
	Scheduler string            `json:"scheduler"`               // who scheduled
	Load      float64           `json:"load"`                    // how much faster than in the trace jobs were submitted
	All       ClusterFigures    `json:"all"`                     // of all jobs
	Mean      ClusterInterval   `json:"completion_mean"`         // of all jobs, with an interval over days of submission
	Against   *ClusterInterval  `json:"against_first"`           // completion less that under the first scheduler, job by job; null for that one
	Used      *float64          `json:"used_share"`              // of the devices' time until the last submission in which they had a job; null if there is none
	Scalings  int               `json:"profiler_scalings"`       // how often a profiler grew or shrank
	Events    int64             `json:"events"`                  // arrivals and ends
	Pools     []ClusterPart     `json:"pools"`                   // virtual cluster by virtual cluster
	Sizes     []ClusterPart     `json:"sizes"`                   // by how many devices jobs ask for
	Fixes     []ClusterFix      `json:"fixes"`                   // faults of the first simulator that are corrected; empty where they are kept or there are none
	CDF       []ClusterQuantile `json:"completion_distribution"` // how long the quickest share of the jobs takes
	Refused   []cluster.Refusal `json:"-"`                       // jobs that were left out
}

// ClusterPart is figures of some of the jobs.
type ClusterPart struct {
	Name string `json:"name"` // of the virtual cluster, or the sizes
	ClusterFigures
	Used *float64 `json:"used_share"` // as of all; null for sizes
}

// ClusterFigures are figures of jobs; null where there are none.
type ClusterFigures struct {
	Jobs        int           `json:"jobs"`              // that were simulated
	Completion  ClusterSpread `json:"completion"`        // from submission to end
	Queue       ClusterSpread `json:"queue"`             // of all waiting
	Slowdown    *float64      `json:"slowdown"`          // mean of completion over duration, of which 10 s count at least
	Fairness    *float64      `json:"fairness"`          // Jain's index over the users' mean slowdowns: 1 where all are equal
	Preemptions int           `json:"preemptions"`       // in all
	Packed      int           `json:"packed"`            // jobs that were put onto another's devices
	Profiled    int           `json:"profiled"`          // jobs that a profiler saw
	Skipped     int           `json:"ended_in_profiler"` // jobs that ended there
	Last        int64         `json:"last_end_s"`        // second at which the last one ended, since simulations began
}

// ClusterSpread is how times are distributed, in seconds; null where there are none.
type ClusterSpread struct {
	Mean   *float64 `json:"mean_s"`   // of all jobs
	Median *float64 `json:"median_s"` // half of the jobs take no longer
	P90    *float64 `json:"p90_s"`    // nine in ten take no longer
	P99    *float64 `json:"p99_s"`    // 99 in 100 take no longer
	P999   *float64 `json:"p999_s"`   // 999 in 1000 take no longer
	Max    *float64 `json:"max_s"`    // none takes longer
	Sum    int64    `json:"sum_s"`    // of all jobs
}

// ClusterInterval is a mean of times with an interval of confidence of 95%.
type ClusterInterval struct {
	Mean *float64 `json:"mean_s"` // over jobs; null where there are none
	Low  *float64 `json:"low_s"`  // end of the interval; null where jobs are of less than two days
	High *float64 `json:"high_s"` // the other end
	Days int      `json:"days"`   // of submission, whose jobs were drawn together
}

// ClusterFix is a fault that is corrected, and what that changes.
type ClusterFix struct {
	What  string          `json:"what"`       // is so now
	Worth ClusterInterval `json:"completion"` // less that with the fault, job by job
}

// ClusterQuantile is a point of a distribution.
type ClusterQuantile struct {
	Share float64 `json:"share"`  // of the jobs
	Time  float64 `json:"time_s"` // that they take at most
}

// FiniteOrNil is a figure, or null where there is none.
func FiniteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Parts are all jobs, and those of each virtual cluster and size.
func (c *ClusterCell) Parts() []ClusterPart {
	return slices.Concat([]ClusterPart{{"all", c.All, c.Used}}, c.Pools, c.Sizes)
}

// Value is a figure; NaN where there is none.
func Value(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Name is what a simulation is called.
func (c *ClusterCell) Name() string { return ClusterCellKey{c.Scheduler, c.Load}.Folder() }

// ClusterCellKey names a simulation.
type ClusterCellKey struct {
	Scheduler string
	Load      float64
}

// Folder is where its files lie in the run folder.
func (k ClusterCellKey) Folder() string {
	if k.Load == 1 {
		return k.Scheduler
	}
	return fmt.Sprintf("%s-load%g", k.Scheduler, k.Load)
}

// SecondsOfDay are those of a day: a simulation begins at midnight of the first job's, as far
// as the trace knows, so that rounds of a minute begin at whole minutes.
const SecondsOfDay = 86_400

// ClusterKind is the runs of graft cluster run.
var ClusterKind = &Kind{Name: "cluster", Title: "cluster simulation", Titles: "cluster simulations", fits: isClusterRun, read: readClusterRun}

// isClusterRun says whether a folder's configuration is one of a cluster's.
func isClusterRun(f *Folder) bool {
	if !f.Has(ManifestFile) || !f.Has(ResolvedFile) {
		return false
	}
	return f.Has(clusterTable)
}

// By its table a folder is known as a cluster's.
const (
	ClusterStream = "simulations"
	clusterTable  = ClusterStream + ".csv"
)

func readClusterRun(f *Folder, r *Run) error {
	report := &ClusterOutcome{}
	if err := f.own(r, report); err != nil {
		return err
	}
	r.Seeded = false
	for _, c := range report.Cells {
		add := func(name, unit string, to aim, x *float64) {
			if x != nil {
				r.Quantities = append(r.Quantities, seedless(c.Name()+"_"+name, unit, to, *x))
			}
		}
		add("completion", document.UnitSeconds, downward, c.All.Completion.Mean)
		add("queue", document.UnitSeconds, downward, c.All.Queue.Mean)
		add("queue_p999", document.UnitSeconds, downward, c.All.Queue.P999)
		add("slowdown", "", downward, c.All.Slowdown)
		add("used", document.UnitShare, upward, c.Used)
		r.Quantities = append(r.Quantities, seedless(c.Name()+"_preemptions", "", noAim, float64(c.All.Preemptions)))
	}
	return nil
}

// ReadCluster reads the outcome of a simulation of a cluster; nil before its end.
func ReadCluster(r *Run) (*ClusterOutcome, error) {
	f := &Folder{Path: r.Path, Fsys: r.Fsys}
	var err error
	if f.Entries, err = r.Fsys.ReadDir(r.Path); err != nil {
		return nil, fmt.Errorf("read the outcome of %s: %w", r.Path, err)
	}
	if !f.Has(OutcomeFile) {
		return nil, nil
	}
	report := &ClusterOutcome{}
	return report, f.own(&Run{}, report)
}

const SecondsOfHour = 3600
