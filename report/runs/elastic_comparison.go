package runs

import (
	"cmp"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/report/document"
)

// ElasticComparison is the content of outcome.json for a run that compares schedulers for elastic jobs. Times are in
// slots.
type ElasticComparison struct {
	Folder  string  `json:"folder"`       // run folder; empty if none was written
	Scaling string  `json:"scaling"`      // name of the scaling model
	Slot    float64 `json:"slot_seconds"` // length of a slot in seconds
	Ranking
}

// Ranking compares schedulers on the same workloads by a quantity for which lower is better.
type Ranking struct {
	Against   string            `json:"against"`          // name of the baseline of differences
	Bounds    []float64         `json:"jct_lower_bounds"` // lower bound of the mean on each workload
	Standings []ElasticStanding `json:"standings"`        // schedulers in order of their means
}

// ElasticStanding holds the results of a scheduler. Intervals are 95% intervals over workloads and seeds.
type ElasticStanding struct {
	Scheduler string `json:"scheduler"` // name of the scheduler
	// rank from 1; a scheduler shares a rank if it does not differ significantly from the best scheduler of the rank;
	// zero if jobs were left unfinished
	Rank int `json:"rank"`
	// number of seeds with which the scheduler was trained; zero for a built-in scheduler
	Seeds    int            `json:"seeds"`
	Left     int            `json:"left"`         // number of simulations in which jobs were left unfinished
	Mean     *float64       `json:"jct_mean"`     // mean over workloads and seeds; null if jobs were left unfinished
	Interval *stat.Interval `json:"jct_interval"` // interval of the mean; null for too few workloads
	Excess   *float64       `json:"over_bound"`   // mean divided by the mean bound; null without a bound
	// difference from the scheduler Against, paired by workload; null for that scheduler itself, and if there are too
	// few workloads for an interval
	Difference *stat.Interval `json:"jct_difference"`
	Better     int            `json:"better"` // number of workloads with a smaller mean than the scheduler Against
	Ties       int            `json:"ties"`   // number of workloads whose means differ by less than 0.1%
	Times      [][]float64    `json:"jct"`    // mean of each workload and seed; -1 if jobs were left unfinished
}

// sameTime is the relative difference below which two means count as equal.
const sameTime = 1e-3

// JobsLeft is stored instead of a mean time if a simulation ended with unfinished jobs.
const JobsLeft = -1

// NewElasticStanding computes the results of a scheduler from its mean completion times and the lower bound for each
// workload. It sets neither the rank nor the difference from another scheduler.
func NewElasticStanding(scheduler string, seeds int, times [][]float64, bounds []float64) ElasticStanding {
	s := ElasticStanding{Scheduler: scheduler, Seeds: seeds, Times: times}
	for _, row := range times {
		for _, v := range row {
			if v == JobsLeft {
				s.Left++
			}
		}
	}
	if s.Left > 0 {
		return s
	}
	i := stat.CrossedInterval(times)
	i.Low = max(0, i.Low) // NaN is unchanged
	if s.Mean, s.Interval = &i.Mean, whole(i); len(bounds) > 0 {
		excess := i.Mean / stat.Mean(bounds)
		s.Excess = &excess
	}
	return s
}

// whole returns an interval with ends; nil for one without.
func whole(i stat.Interval) *stat.Interval {
	if math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return nil
	}
	return &i
}

// Rank sorts the standings, compares them with the scheduler Against, and assigns ranks.
func (c *Ranking) Rank() {
	slices.SortStableFunc(c.Standings, func(a, b ElasticStanding) int { return cmp.Compare(a.sortKey(), b.sortKey()) })
	against := slices.IndexFunc(c.Standings, func(s ElasticStanding) bool { return s.Scheduler == c.Against })
	leader := 0
	for k := range c.Standings {
		s := &c.Standings[k]
		if s.Mean == nil {
			continue
		}
		if i := whole(stat.CrossedDifference(s.Times, c.Standings[leader].Times)); k > 0 && i != nil && i.Low > 0 {
			leader = k
		}
		s.Rank = leader + 1
		if against >= 0 && k != against && c.Standings[against].Mean != nil {
			s.compare(&c.Standings[against])
		}
	}
}

func (s *ElasticStanding) sortKey() float64 {
	if s.Mean == nil {
		return math.Inf(1)
	}
	return *s.Mean
}

// compare sets the differences from another standing.
func (s *ElasticStanding) compare(other *ElasticStanding) {
	s.Difference = whole(stat.CrossedDifference(s.Times, other.Times))
	for k, row := range s.Times {
		base := stat.Mean(other.Times[k])
		switch d := stat.Mean(row) - base; {
		case math.Abs(d) < sameTime*base:
			s.Ties++
		case d < 0:
			s.Better++
		}
	}
}

// ElasticComparisonKind describes the run folders that graft evaluate --out writes for schedulers of elastic jobs.
var ElasticComparisonKind = &Kind{Name: "elastic-comparison", By: "graft evaluate",
	Title:  "comparison of schedulers of elastic jobs",
	Titles: "comparisons of schedulers of elastic jobs", matches: hasManifestAnd(comparisonTable),
	read: readElasticComparison, list: comparisonOverview}

// ElasticComparisonStream is the table that identifies the run.
const (
	ElasticComparisonStream = "comparison"
	comparisonTable         = ElasticComparisonStream + ".csv"
)

func readElasticComparison(f *Folder, r *Run) error {
	o := &ElasticComparison{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for _, s := range o.Standings {
		if s.Mean != nil {
			r.Quantities = append(r.Quantities, seedless(s.Scheduler+"_jct", document.UnitSlots, Lower, *s.Mean))
		}
	}
	return nil
}
