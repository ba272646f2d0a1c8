// Package runs reads run folders of every kind: manifest, settings, outcome and time series. It
// also holds the types of outcome.json.
package runs

import (
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/report/document"
)

// ClusterOutcome is the outcome of `graft cluster run`; --json prints it.
type ClusterOutcome struct {
	Folder    string `json:"folder"`    // of the run
	Trace     string `json:"trace"`     // the file of the jobs
	Format    string `json:"format"`    // of the trace
	Jobs      int    `json:"jobs"`      // of the trace, in the span that is simulated
	GPUs      int    `json:"gpus"`      // of all nodes
	Pools     int    `json:"pools"`     // virtual clusters
	Begin     int64  `json:"begin_s"`   // second of the trace at which simulations begin
	Placement string `json:"placement"` // how nodes are chosen
	Compat    string `json:"compat"`    // whose faults are kept: none or lucid
	// jobs that were left out, by why; of the scheduler that left out most
	Refused []ClusterRefusals `json:"refused"`
	Cells   []*ClusterCell    `json:"cells"` // a simulation each, scheduler by scheduler and load by load
}

// ClusterRefusals counts jobs that were left out for one reason.
type ClusterRefusals struct {
	Why     string `json:"why"`     // they cannot run
	Jobs    int    `json:"jobs"`    // how many they are
	Example string `json:"example"` // id of the first of them
}

// ClusterCell holds the metrics of one simulation: a scheduler at a load.
type ClusterCell struct {
	Scheduler string `json:"scheduler"` // name of the scheduler
	// rate of submissions, in multiples of the trace's
	Load float64        `json:"load"`
	All  ClusterMetrics `json:"all"` // of all jobs
	// of all jobs, with an interval over days of submission
	Mean ClusterInterval `json:"completion_mean"`
	// completion less that under the first scheduler, job by job; null for that one
	Against *ClusterInterval `json:"against_first"`
	// of the devices' time until the last submission in which they had a job; null if there is none
	Used *float64 `json:"used_share"`
	// times that a profiler's share of the nodes grew or shrank
	ProfilerScalings int           `json:"profiler_scalings"`
	Events           int64         `json:"events"` // arrivals and ends
	Pools            []ClusterPart `json:"pools"`  // virtual cluster by virtual cluster
	Sizes            []ClusterPart `json:"sizes"`  // by how many devices jobs ask for
	// faults of the first simulator that are corrected; empty where they are kept or there are none
	Fixes []ClusterCorrection `json:"fixes"`
	// how long the quickest share of the jobs takes
	CDF     []ClusterQuantile `json:"completion_distribution"`
	Refused []cluster.Refusal `json:"-"` // jobs that were left out
}

// ClusterPart holds the metrics of some of the jobs.
type ClusterPart struct {
	Name string `json:"name"` // of the virtual cluster, or the sizes
	ClusterMetrics
	Used *float64 `json:"used_share"` // as of all; null for sizes
}

// ClusterMetrics holds metrics of jobs; null where there are no jobs.
type ClusterMetrics struct {
	Jobs       int          `json:"jobs"`       // that were simulated
	Completion ClusterTimes `json:"completion"` // from submission to end
	Queue      ClusterTimes `json:"queue"`      // of all waiting
	// mean of completion over duration, of which 10 s count at least
	Slowdown *float64 `json:"slowdown"`
	// Jain's index over the users' mean slowdowns: 1 where all are equal
	Fairness        *float64 `json:"fairness"`
	Preemptions     int      `json:"preemptions"`       // in all
	Colocated       int      `json:"packed"`            // jobs that shared the devices of another
	Profiled        int      `json:"profiled"`          // jobs that ran on a profiler's devices first
	EndedInProfiler int      `json:"ended_in_profiler"` // jobs that ended on those devices
	// second at which the last one ended, since simulations began
	Last int64 `json:"last_end_s"`
}

// ClusterTimes holds mean and percentiles of times, in seconds; null where there are none.
type ClusterTimes struct {
	Mean   *float64 `json:"mean_s"`   // of all jobs
	Median *float64 `json:"median_s"` // half of the jobs take no longer
	P90    *float64 `json:"p90_s"`    // nine in ten take no longer
	P99    *float64 `json:"p99_s"`    // 99 in 100 take no longer
	P999   *float64 `json:"p999_s"`   // 999 in 1000 take no longer
	Max    *float64 `json:"max_s"`    // none takes longer
	Sum    int64    `json:"sum_s"`    // of all jobs
}

// ClusterInterval is a mean time with its 95% confidence interval.
type ClusterInterval struct {
	Mean *float64 `json:"mean_s"` // over jobs; null where there are none
	Low  *float64 `json:"low_s"`  // end of the interval; null where jobs are of less than two days
	High *float64 `json:"high_s"` // the other end
	Days int      `json:"days"`   // of submission, whose jobs were drawn together
}

// ClusterCorrection is a corrected fault of the first simulator and the effect of the correction.
type ClusterCorrection struct {
	What   string          `json:"what"`       // is so now
	Effect ClusterInterval `json:"completion"` // less that with the fault, job by job
}

// ClusterQuantile is a point of a distribution.
type ClusterQuantile struct {
	Share float64 `json:"share"`  // of the jobs
	Time  float64 `json:"time_s"` // that they take at most
}

// FiniteOrNil points to a number; NaN and infinities give nil, which is null in JSON.
func FiniteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Parts lists the metrics of all jobs, of each virtual cluster and of each size.
func (c *ClusterCell) Parts() []ClusterPart {
	return slices.Concat([]ClusterPart{{"all", c.All, c.Used}}, c.Pools, c.Sizes)
}

// Value dereferences a number; nil gives NaN.
func Value(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Name is the name of the simulation in tables and figures.
func (c *ClusterCell) Name() string { return ClusterCellKey{c.Scheduler, c.Load}.Folder() }

// ClusterCellKey identifies a simulation by its scheduler and load.
type ClusterCellKey struct {
	Scheduler string
	Load      float64
}

// Folder is the folder of the simulation's files in the run folder.
func (k ClusterCellKey) Folder() string {
	if k.Load == 1 {
		return k.Scheduler
	}
	return fmt.Sprintf("%s-load%g", k.Scheduler, k.Load)
}

// Lengths of a day and an hour in seconds.
const (
	SecondsOfDay  = 86_400
	SecondsOfHour = 3600
)

// ClusterKind covers the runs of graft cluster run.
var ClusterKind = &Kind{Name: "cluster", Title: "cluster simulation", Titles: "cluster simulations",
	matches: hasManifestAnd(ResolvedFile, clusterTable), read: readClusterRun}

// ClusterStream is the table by which the run of a cluster is recognised.
const (
	ClusterStream = "simulations"
	clusterTable  = ClusterStream + ".csv"
)

func readClusterRun(f *Folder, r *Run) error {
	report := &ClusterOutcome{}
	if err := f.readOwn(r, report); err != nil {
		return err
	}
	r.Seeded = false
	for _, c := range report.Cells {
		add := func(name, unit string, to Direction, x *float64) {
			if x != nil {
				r.Quantities = append(r.Quantities, seedless(c.Name()+"_"+name, unit, to, *x))
			}
		}
		add("completion", document.UnitSeconds, Lower, c.All.Completion.Mean)
		add("queue", document.UnitSeconds, Lower, c.All.Queue.Mean)
		add("queue_p999", document.UnitSeconds, Lower, c.All.Queue.P999)
		add("slowdown", "", Lower, c.All.Slowdown)
		add("used", document.UnitShare, Higher, c.Used)
		r.Quantities = append(r.Quantities, seedless(c.Name()+"_preemptions", "", Neutral, float64(c.All.Preemptions)))
	}
	return nil
}
