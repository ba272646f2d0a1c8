package estimates

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"graft/cluster/estimate"
	"graft/report/runs"
)

// Measure is a figure with its interval.
type Measure struct {
	Value *float64 `json:"value"` // of the rows as they are; null where it is not defined
	Low   *float64 `json:"low"`   // end of the interval of 95%, which draws runs of rows
	High  *float64 `json:"high"`  // the other end
}

func newMeasure(m estimate.Measured) Measure {
	return Measure{runs.FiniteOrNil(m.Value), runs.FiniteOrNil(m.Low), runs.FiniteOrNil(m.High)}
}

// Scores are the errors of predictions.
type Scores struct {
	Rows int     `json:"rows"` // that a model predicted
	MAE  Measure `json:"mae"`  // mean of the absolute errors
	R2   Measure `json:"r2"`   // share of the variance that is explained
}

// newScores is nil where nothing was predicted.
func newScores(s estimate.Scores) *Scores {
	if s.Rows == 0 {
		return nil
	}
	return &Scores{s.Rows, newMeasure(s.MAE), newMeasure(s.R2)}
}

// Term is a feature of a model, or two, and its importance.
type Term struct {
	Name     string   `json:"name"`     // of the features
	Features []string `json:"features"` // one, or two of a map
	// mean of what it adds, whatever its sign, in the target's unit or its logarithm's
	Importance float64 `json:"importance"`
}

// Terms are the terms of a model, the most important first. Those of nil are none.
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

// Unit is the unit of what terms add: that of the target, or its logarithm's.
func Unit(unit, target string) string {
	if target == estimate.TargetPlain {
		return unit
	}
	return "log(1 + " + unit + ")"
}

// Digits writes a number with four significant digits, and at most four decimals.
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
