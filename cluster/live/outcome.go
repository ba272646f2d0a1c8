package live

import (
	"slices"

	"graft/internal/stat"
)

// Names of the arms of live jobs.
const (
	Adaptive = "adaptive" // the job file as it is
	Never    = "never"    // the same job without adaptation
)

// CaseName returns the case of the trainings with a timeline in an arm.
func CaseName(timeline, arm string) string { return timeline + "-" + arm }

// Outcome holds the results of live jobs.
type Outcome struct {
	Folder string `json:"folder"` // folder of the trainings in the run folder
	Jobs   []Job  `json:"jobs"`   // live jobs of each simulation
	// means over the live jobs of a scheduler at a point, over all its simulations
	Summaries []Summary `json:"summaries"`
}

// Job holds the results of a live job in one simulation.
type Job struct {
	Point     string  `json:"point"`     // name of the point; empty for the only point
	Workload  string  `json:"workload"`  // name of the workload
	Scheduler string  `json:"scheduler"` // name of the scheduler
	Seed      uint64  `json:"seed"`      // seed of the simulation; zero if it draws nothing
	Job       string  `json:"job"`       // ID of the job in the trace
	Held      float64 `json:"held_s"`    // seconds with devices in the simulation
	Devices   int     `json:"devices"`   // number of devices at the start
	Changes   int     `json:"changes"`   // number of changes of the devices
	Waits     int     `json:"waits"`     // number of times that the job lost all its devices
	Timeline  string  `json:"timeline"`  // name of the timeline; jobs with equal timelines share their trainings
	Adaptive  float64 `json:"adaptive"`  // test accuracy of the job as configured, a mean over seeds
	// test accuracy without the decider, a mean over seeds; null if the job file has no decider
	Never *float64 `json:"never"`
}

// Summary holds means over live jobs.
type Summary struct {
	Point     string  `json:"point"`     // name of the point; empty for the only point
	Scheduler string  `json:"scheduler"` // name of the scheduler
	Changes   float64 `json:"changes"`   // mean number of changes of a job's devices
	// mean test accuracy of the jobs as configured, with its 95% interval over jobs by Student's t-distribution;
	// several simulations of a job count as their mean
	Adaptive stat.OverSeeds `json:"adaptive"`
	// mean test accuracy of the jobs without the decider, with its interval; null if the job file has no decider
	Never *stat.OverSeeds `json:"never"`
	// mean of the first minus the second accuracy, paired by job, with its interval; null if the job file has no
	// decider
	Difference *stat.OverSeeds `json:"difference_points"`
}

// missProbability is the probability that an interval does not contain the true mean.
const missProbability = 0.05

// Summarize computes the summaries of the jobs.
func (o *Outcome) Summarize() {
	o.Summaries = []Summary{}
	for _, j := range o.Jobs {
		same := func(s Summary) bool { return s.Point == j.Point && s.Scheduler == j.Scheduler }
		if !slices.ContainsFunc(o.Summaries, same) {
			o.Summaries = append(o.Summaries, o.summary(j.Point, j.Scheduler))
		}
	}
}

// byJob returns the simulations of each live job under a scheduler at a point. They share the job's work, so they are
// not independent.
func (o *Outcome) byJob(point, scheduler string) (list [][]Job) {
	at := map[[2]string]int{}
	for _, j := range o.Jobs {
		if j.Point != point || j.Scheduler != scheduler {
			continue
		}
		key := [2]string{j.Workload, j.Job}
		if _, known := at[key]; !known {
			at[key], list = len(list), append(list, nil)
		}
		list[at[key]] = append(list[at[key]], j)
	}
	return list
}

func eachOf(runs []Job, of func(Job) float64) (values []float64) {
	for _, j := range runs {
		values = append(values, of(j))
	}
	return values
}

func (o *Outcome) summary(point, scheduler string) Summary {
	s := Summary{Point: point, Scheduler: scheduler}
	var adaptive, never, differences, changes []float64
	for _, runs := range o.byJob(point, scheduler) {
		mean := func(of func(Job) float64) float64 { return stat.Mean(eachOf(runs, of)) }
		adaptive = append(adaptive, mean(func(j Job) float64 { return j.Adaptive }))
		changes = append(changes, mean(func(j Job) float64 { return float64(j.Changes) }))
		if runs[0].Never != nil {
			never = append(never, mean(func(j Job) float64 { return *j.Never }))
			differences = append(differences, mean(func(j Job) float64 { return 100 * (j.Adaptive - *j.Never) }))
		}
	}
	s.Changes, s.Adaptive = stat.Mean(changes), stat.NewOverSeeds(adaptive, missProbability, stat.Shares)
	if len(never) > 0 {
		n := stat.NewOverSeeds(never, missProbability, stat.Shares)
		d := stat.NewOverSeeds(differences, missProbability, stat.Range{Low: -100, High: 100})
		s.Never, s.Difference = &n, &d
	}
	return s
}
