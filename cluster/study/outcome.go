package study

import (
	"errors"
	"slices"
	"strings"

	"graft/cluster/live"
	"graft/internal/stat"
	"graft/internal/validate"
)

// Outcome is the content of a study's outcome.json. Results are stored in maps from the key of each metric to its
// value; the key contains the metric's unit.
type Outcome struct {
	Folder  string   `json:"folder"`  // run folder
	World   string   `json:"world"`   // name of the world
	Title   string   `json:"title"`   // title of the study, one sentence
	Remarks []string `json:"remarks"` // sentences about the study and its results
	// digest of the input files that the configuration names; empty if the digest of the configuration covers them
	Inputs     string         `json:"inputs"`
	Facts      map[string]any `json:"facts"`      // facts about the study, by name
	Jobs       int            `json:"jobs"`       // number of jobs in all workloads
	Against    string         `json:"against"`    // name of the baseline of differences
	Metrics    []Metric       `json:"metrics"`    // metrics in the order of columns
	Ranked     []string       `json:"ranked"`     // keys of the metrics that rank schedulers
	Points     []Point        `json:"points"`     // combinations of swept values
	Workloads  []string       `json:"workloads"`  // names of the workloads
	Schedulers []Candidate    `json:"schedulers"` // schedulers in the order of the file
	Cells      []CellOutcome  `json:"cells"`      // results, one per simulation
	Summaries  []Summary      `json:"summaries"`  // means, one per scheduler and point, over workloads and seeds
	Rankings   []Ranking      `json:"rankings"`   // rankings by point and metric; empty for a single workload
	References []Reference    `json:"references"` // reference levels, such as lower bounds
	Ablation   []Effect       `json:"ablation"`   // effects of quirks
	Left       []LeftOut      `json:"left_out"`   // jobs that were left out, in the cell that left out the most
	// differences between points; omitted if no points are compared
	Changes []PointChange `json:"changes,omitempty"`
	// differences from the baseline scheduler, which are also between points if points are compared; omitted for
	// several workloads, and if simulations with equal seeds are not compared
	FromBaseline []PointChange `json:"from_baseline,omitempty"`
	// results of the jobs for which graft trained a network; omitted without such jobs
	Live *live.Outcome `json:"live,omitempty"`
}

// Candidate describes a compared scheduler.
type Candidate struct {
	Name    string `json:"scheduler"` // name of the scheduler
	Draws   bool   `json:"draws"`     // results depend on a seed
	Learned int    `json:"learned"`   // number of learned policies; zero for a built-in scheduler
	Mark    string `json:"mark"`      // suffix of the name in tables; a remark explains it
}

// CellOutcome holds the result of a simulation.
type CellOutcome struct {
	Point     string `json:"point"`     // name of the point; empty for the only point
	Workload  string `json:"workload"`  // name of the workload
	Scheduler string `json:"scheduler"` // name of the scheduler
	// seed of the random draws, or number of the learned policy; zero if neither applies
	Seed   uint64            `json:"seed"`
	Folder string            `json:"folder"`   // path of the simulation's tables in the run folder
	Values Values            `json:"values"`   // values by key of the metric
	Parts  []Part            `json:"parts"`    // metrics of groups of jobs
	Left   []LeftOut         `json:"left_out"` // number of jobs that were left out, by reason
	Facts  map[string]string `json:"facts"`    // texts about the simulation, such as digests
	// Interval is the 95% confidence interval of the first metric in "ranked", as a mean over jobs; null if there are
	// several workloads.
	Interval *Interval `json:"interval"`
	// Difference is the mean of Interval minus the baseline's mean, paired by job, with its 95% confidence interval;
	// null for the baseline.
	Difference *Interval `json:"difference"`
	// P is the p-value of the hypothesis that the difference is zero, corrected by Holm's method for multiple
	// comparisons on the same workload and, if cells with equal seeds are compared, with the same seed; null if the
	// difference has no confidence interval.
	P *float64 `json:"p_holm"`
}

// Summary holds a scheduler's means over workloads and seeds. Metrics marked Total are sums over workloads, and means
// over seeds.
type Summary struct {
	Point     string `json:"point"`     // name of the point; empty for the only point
	Scheduler string `json:"scheduler"` // name of the scheduler
	Cells     int    `json:"cells"`     // number of simulations
	Values    Values `json:"values"`    // means over the simulations that have a value
	Parts     []Part `json:"parts"`     // means over the simulations that have the group
	// 95% confidence interval of the first metric in "ranked", over jobs and seeds; null for several workloads, and if
	// it was not computed
	Interval *Interval `json:"interval"`
}

// Effect is the measured effect of a single quirk.
type Effect struct {
	Point     string `json:"point"`     // name of the point; empty for the only point
	Scheduler string `json:"scheduler"` // name of the scheduler
	Quirk     string `json:"quirk"`     // name of the quirk
	Fixed     string `json:"corrected"` // behaviour without the quirk
	Without   Values `json:"without"`   // ranked metrics without quirks
	With      Values `json:"with"`      // ranked metrics with only this quirk
	Changed   int    `json:"changed"`   // number of jobs whose result differs
	// Difference is the change that the quirk makes to the metric that is first in the list "ranked": the mean with the
	// quirk minus the mean without it, paired by job, with its 95% confidence interval.
	Difference *Interval `json:"difference"`
}

// PointChange compares a scheduler at a point with the same scheduler at another point, or with the baseline.
type PointChange struct {
	Point     string `json:"point"`     // name of the point
	From      string `json:"from"`      // name of the other point
	Scheduler string `json:"scheduler"` // name of the scheduler
	Metric    string `json:"metric"`    // key of the metric
	// value at the point minus the value at the other point, paired by workload and seed, with the 95% interval over
	// seeds or, for several workloads, over workloads and seeds, by Student's t-distribution
	Change stat.OverSeeds `json:"change"`
	// mean of the difference with its 95% interval over jobs and seeds together; null for metrics without a value per
	// job, for several workloads, or with fewer than two seeds
	OverJobs *Interval `json:"over_jobs"`
}

// ChangedMetrics lists the keys of the metrics of differences.
func ChangedMetrics(changes []PointChange) []string {
	return distinct(changes, func(c PointChange) string { return c.Metric })
}

// ChangeBases lists the points from which differences are taken.
func ChangeBases(changes []PointChange) []string {
	return distinct(changes, func(c PointChange) string { return c.From })
}

// distinct lists the different names of changes, in order.
func distinct(changes []PointChange, of func(c PointChange) string) (names []string) {
	for _, c := range changes {
		if name := of(c); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Metric returns a metric by its key, or nil if there is no such metric.
func (o *Outcome) Metric(key string) *Metric {
	if k := slices.IndexFunc(o.Metrics, func(m Metric) bool { return m.Key() == key }); k >= 0 {
		return &o.Metrics[k]
	}
	return nil
}

// Ranking returns the ranking by a metric for a combination of swept values (a point), or nil if there is none.
func (o *Outcome) Ranking(point, key string) *Ranking {
	same := func(r Ranking) bool { return r.Point == point && r.Metric == key }
	if k := slices.IndexFunc(o.Rankings, same); k >= 0 {
		return &o.Rankings[k]
	}
	return nil
}

// SummariesAt returns the summaries for a combination of swept values (a point), in the order of the first ranking. If
// there is no ranking, they are in the order of the field Summaries.
func (o *Outcome) SummariesAt(point string) (list []Summary) {
	for _, s := range o.Summaries {
		if s.Point == point {
			list = append(list, s)
		}
	}
	k := slices.IndexFunc(o.Rankings, func(r Ranking) bool { return r.Point == point })
	if k < 0 {
		return list
	}
	place := func(s Summary) int {
		return slices.IndexFunc(o.Rankings[k].Standings, func(st Standing) bool { return st.Scheduler == s.Scheduler })
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return place(a) - place(b) })
	return list
}

// Validate returns an error for an inconsistent outcome. An outcome is inconsistent if a required list is empty or if a
// ranking refers to an unknown metric.
func (o *Outcome) Validate() error {
	var faults validate.Faults
	for name, n := range map[string]int{"points": len(o.Points), "workloads": len(o.Workloads),
		"schedulers": len(o.Schedulers), "metrics": len(o.Metrics)} {
		faults.When(n == 0, "the outcome has no %s; expected at least one", name)
	}
	keys := slices.Clone(o.Ranked)
	for _, r := range o.Rankings {
		keys = append(keys, r.Metric)
	}
	for _, r := range o.References {
		keys = append(keys, r.Metric)
	}
	for _, c := range slices.Concat(o.Changes, o.FromBaseline) {
		keys = append(keys, c.Metric)
	}
	for _, key := range keys {
		faults.When(o.Metric(key) == nil, "unknown metric %q", key)
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

// merged averages values over the cells that have them. Totals are sums over workloads and means over the runs of each.
func merged(metrics []Metric, list []Values, runs int) Values {
	all := Values{}
	for k := range metrics {
		m := &metrics[k]
		var values []float64
		for _, v := range list {
			if x, has := v[m.Key()]; has && x.Known() {
				values = append(values, float64(x))
			}
		}
		switch {
		case len(values) == 0:
		case m.Total:
			all[m.Key()] = Number(sum(values) / float64(runs))
		default:
			all[m.Key()] = Number(stat.Mean(values))
		}
	}
	return all
}

func sum(values []float64) (all float64) {
	for _, v := range values {
		all += v
	}
	return all
}

// mergedParts merges parts with equal group and name, in order of first occurrence.
func mergedParts(metrics []Metric, cells []CellOutcome, runs int) (all []Part) {
	values := map[[2]string][]Values{}
	for _, c := range cells {
		for _, p := range c.Parts {
			id := [2]string{p.Group, p.Name}
			if values[id] == nil {
				all = append(all, Part{Group: p.Group, Name: p.Name})
			}
			values[id] = append(values[id], p.Values)
		}
	}
	for k := range all {
		all[k].Values = merged(metrics, values[[2]string{all[k].Group, all[k].Name}], runs)
	}
	return all
}
