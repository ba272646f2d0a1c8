package estimates

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"graft/cluster/estimate"
	"graft/report/runs"
)

// Measure is a statistic with its interval.
type Measure struct {
	Value *float64 `json:"value"` // value of the statistic; null if undefined
	// lower end of the 95% interval, from a bootstrap that resamples blocks of consecutive rows
	Low  *float64 `json:"low"`
	High *float64 `json:"high"` // upper end of the interval
}

func newMeasure(m estimate.Measured) Measure {
	return Measure{runs.FiniteOrNil(m.Value), runs.FiniteOrNil(m.Low), runs.FiniteOrNil(m.High)}
}

// Scores holds the accuracy of predictions.
type Scores struct {
	Rows int     `json:"rows"` // number of rows that a model predicted
	MAE  Measure `json:"mae"`  // mean of the absolute errors
	R2   Measure `json:"r2"`   // fraction of the variance that the predictions explain
}

// newScores returns nil if nothing was predicted.
func newScores(s estimate.Scores) *Scores {
	if s.Rows == 0 {
		return nil
	}
	return &Scores{s.Rows, newMeasure(s.MAE), newMeasure(s.R2)}
}

// Term is a feature of a model, or a pair of features, with its importance.
type Term struct {
	Name     string   `json:"name"`     // names of the features
	Features []string `json:"features"` // one feature, or two for a map
	// mean absolute contribution of the term, in the unit of the target or of its logarithm
	Importance float64 `json:"importance"`
}

// Terms returns the terms of a model, most important first. A nil model has no terms.
func Terms(m *estimate.Model) []Term {
	terms := []Term{}
	if m == nil {
		return terms
	}
	for _, t := range m.Terms() {
		terms = append(terms, Term{t.Name, t.Features, t.Importance})
	}
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(b.Importance, a.Importance) })
	return terms
}

// Unit returns the unit of the terms' contributions: the target's unit, or the unit of its logarithm.
func Unit(unit, target string) string {
	if target == estimate.TargetPlain {
		return unit
	}
	return "log(1 + " + unit + ")"
}

// Digits formats a number with four significant digits, and at most four decimals.
func Digits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.Abs(v) >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	digits := max(0, min(4, 3-int(math.Floor(math.Log10(max(math.Abs(v), 1e-9))))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}
