package study

import (
	"cmp"
	"math"
	"slices"

	"graft/internal/stat"
)

// Ranking compares schedulers on the same workloads by one metric.
type Ranking struct {
	Point     string     `json:"point"`     // name of the point; empty for the only point
	Metric    string     `json:"metric"`    // key of the metric
	Unit      string     `json:"unit"`      // unit of all values
	Against   string     `json:"against"`   // name of the baseline of differences
	Bounds    []float64  `json:"bounds"`    // limit of each workload that no scheduler can beat; empty without limits
	Standings []Standing `json:"standings"` // standings, best scheduler first
	Higher    bool       `json:"higher"`    // larger values are better
}

// Standing is the row of one scheduler in a ranking. Intervals are 95% confidence intervals over workloads and seeds.
type Standing struct {
	Scheduler string `json:"scheduler"` // name of the scheduler
	// rank, counted from 1; schedulers share a rank if they do not differ significantly from the best scheduler of the
	// rank; zero if the scheduler has no mean
	Rank  int `json:"rank"`
	Seeds int `json:"seeds"` // number of learned policies; zero for a built-in scheduler
	// number of simulations without a value because jobs were left unfinished; if it is above zero, the scheduler has
	// no mean
	Left      int            `json:"unfinished"`
	Mean      *float64       `json:"mean"`       // mean over workloads and seeds; null if jobs were left unfinished
	Interval  *stat.Interval `json:"interval"`   // interval of the mean; null for too few workloads
	OverBound *float64       `json:"over_bound"` // mean divided by the mean bound; null without a bound
	// difference from the baseline, paired by workload; null for the baseline, or if there are too few workloads
	Difference *stat.Interval `json:"difference"`
	// p-value for a difference of zero, corrected by Holm's method for the number of schedulers; null if "difference"
	// is null
	P      *float64 `json:"p_holm"`
	Better int      `json:"better"` // number of workloads with a better value than the baseline
	// number of workloads on which the scheduler's mean differs from the baseline's mean by less than 0.1%
	Ties   int        `json:"ties"`
	Values [][]Number `json:"values"` // value of each workload and seed; null if jobs were left unfinished
}

// sameValue is the relative difference below which two means count as equal.
const sameValue = 1e-3

// Add adds a scheduler with its values by workload and seed. A value is NaN if jobs were left unfinished.
func (r *Ranking) Add(scheduler string, seeds int, values [][]float64) {
	s := Standing{Scheduler: scheduler, Seeds: seeds}
	for _, row := range values {
		var numbers []Number
		for _, v := range row {
			if numbers = append(numbers, Number(v)); math.IsNaN(v) {
				s.Left++
			}
		}
		s.Values = append(s.Values, numbers)
	}
	if s.Left == 0 {
		i := stat.CrossedInterval(values)
		i.Low = max(0, i.Low) // max keeps NaN
		if s.Mean, s.Interval = &i.Mean, whole(i); len(r.Bounds) > 0 {
			over := i.Mean / stat.Mean(r.Bounds)
			s.OverBound = &over
		}
	}
	r.Standings = append(r.Standings, s)
}

// whole returns the interval if both ends exist, otherwise nil.
func whole(i stat.Interval) *stat.Interval {
	if math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return nil
	}
	return &i
}

// Finish sorts the standings, compares them with the baseline, and assigns ranks.
func (r *Ranking) Finish() {
	slices.SortStableFunc(r.Standings, func(a, b Standing) int { return cmp.Compare(r.sortKey(&a), r.sortKey(&b)) })
	against := slices.IndexFunc(r.Standings, func(s Standing) bool { return s.Scheduler == r.Against })
	leader := 0
	for k := range r.Standings {
		s := &r.Standings[k]
		if s.Mean == nil {
			continue
		}
		if k > 0 && r.worse(s, &r.Standings[leader]) {
			leader = k
		}
		s.Rank = leader + 1
		if against >= 0 && k != against && r.Standings[against].Mean != nil {
			s.compare(&r.Standings[against], r.Higher)
		}
	}
	r.correct(against)
}

// correct sets the p-values of the differences from a standing; a negative number means none.
func (r *Ranking) correct(against int) {
	values := make([]float64, len(r.Standings))
	for k := range r.Standings {
		if values[k] = math.NaN(); r.Standings[k].Difference != nil {
			values[k] = stat.CrossedPValue(r.Standings[k].floats(), r.Standings[against].floats())
		}
	}
	for k, p := range stat.Holm(values) {
		r.Standings[k].P = known(p)
	}
}

// known returns a number, or nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// sortKey orders standings: best first, without a mean last.
func (r *Ranking) sortKey(s *Standing) float64 {
	switch {
	case s.Mean == nil:
		return math.Inf(1)
	case r.Higher:
		return -*s.Mean
	}
	return *s.Mean
}

// worse reports whether a standing is significantly worse than another.
func (r *Ranking) worse(s, than *Standing) bool {
	i := whole(stat.CrossedDifference(s.floats(), than.floats()))
	return i != nil && (!r.Higher && i.Low > 0 || r.Higher && i.High < 0)
}

func (s *Standing) floats() (rows [][]float64) {
	for _, row := range s.Values {
		list := make([]float64, len(row))
		for k, v := range row {
			list[k] = float64(v)
		}
		rows = append(rows, list)
	}
	return rows
}

// compare fills in the differences from another standing.
func (s *Standing) compare(other *Standing, higher bool) {
	own, base := s.floats(), other.floats()
	s.Difference = whole(stat.CrossedDifference(own, base))
	for k, row := range own {
		from := stat.Mean(base[k])
		switch d := stat.Mean(row) - from; {
		case math.Abs(d) < sameValue*from:
			s.Ties++
		case (d < 0) != higher:
			s.Better++
		}
	}
}
