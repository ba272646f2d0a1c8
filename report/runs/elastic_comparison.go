package runs

import (
	"cmp"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/report/document"
)

// ElasticComparison is the outcome.json of a comparison of schedulers of elastic jobs. Times are in slots.
type ElasticComparison struct {
	Folder  string  `json:"folder"`       // of the run; empty where none was written
	Scaling string  `json:"scaling"`      // model of what a change of counts costs
	Slot    float64 `json:"slot_seconds"` // length of a slot
	Ranking
}

// Ranking compares schedulers on the same workloads by a quantity of which less is better.
type Ranking struct {
	Against   string            `json:"against"`          // the scheduler that differences are from
	Bounds    []float64         `json:"jct_lower_bounds"` // of each workload: no scheduler has a smaller mean
	Standings []ElasticStanding `json:"standings"`        // by their means
}

// ElasticStanding holds the results of one scheduler. Intervals are of 95%, over workloads and seeds.
type ElasticStanding struct {
	Scheduler string `json:"scheduler"` // its name
	// from 1; schedulers that do not differ beyond noise from the best of a rank share it; zero where jobs were left
	Rank     int            `json:"rank"`
	Seeds    int            `json:"seeds"`        // that learned it; zero for one that learned nothing
	Left     int            `json:"left"`         // simulations that ended with jobs left, which no mean counts
	Mean     *float64       `json:"jct_mean"`     // over workloads and seeds; null where jobs were left
	Interval *stat.Interval `json:"jct_interval"` // of it; null where there are too few workloads
	Excess   *float64       `json:"over_bound"`   // mean over the mean bound; null where there is none
	// from the scheduler of Against, workload by workload; null for itself, and where there are too few
	Difference *stat.Interval `json:"jct_difference"`
	Better     int            `json:"better"` // workloads with a smaller mean than that scheduler's
	Ties       int            `json:"ties"`   // workloads whose means differ by less than a thousandth
	Times      [][]float64    `json:"jct"`    // mean of each workload, of each seed; -1 where jobs were left
}

// sameTime is the relative difference below which two means count as equal.
const sameTime = 1e-3

// JobsLeft stands for the mean of a simulation that ended with jobs left.
const JobsLeft = -1

// NewElasticStanding is a standing before ranks and differences.
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
	i.Low = max(0, i.Low) // NaN stays
	if s.Mean, s.Interval = &i.Mean, whole(i); len(bounds) > 0 {
		excess := i.Mean / stat.Mean(bounds)
		s.Excess = &excess
	}
	return s
}

// whole is an interval with ends; nil for one without.
func whole(i stat.Interval) *stat.Interval {
	if math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return nil
	}
	return &i
}

// Rank sorts the standings, compares them with that of Against, and gives them ranks.
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

// compare fills in the differences from another standing.
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

// ElasticComparisonKind covers the folders of graft evaluate --out for schedulers of elastic jobs.
var ElasticComparisonKind = &Kind{Name: "elastic-comparison", By: "graft evaluate",
	Title:  "comparison of schedulers of elastic jobs",
	Titles: "comparisons of schedulers of elastic jobs", matches: hasManifestAnd(comparisonTable),
	read: readElasticComparison}

// ElasticComparisonStream is the table by which the run is recognised.
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
