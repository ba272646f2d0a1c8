package runs

import (
	"graft/internal/stat"
	"graft/report/document"
)

// detectablePower is the usual power of a planned comparison (Cohen, Statistical Power Analysis for the Behavioral
// Sciences, 1988).
const detectablePower = 0.8

// DetectableDifference holds the smallest true difference between two cases that a comparison detects with the current
// number of seeds, and with twice that number. This difference depends on the spread of the paired differences and on
// the confidence level of their intervals.
type DetectableDifference struct {
	Unit string `json:"unit"` // unit of the differences; share means a fraction between 0 and 1
	// probability that a comparison detects the true difference, which means that the interval of the measured
	// difference excludes zero
	Power float64 `json:"power"`
	// true difference that the current number of seeds detects with the probability in the field power
	Difference float64 `json:"difference"`
	TwiceN     int     `json:"twice_n"`          // twice the present number of seeds
	Twice      float64 `json:"twice_difference"` // true difference that twice_n seeds detect with the same probability
}

// detectable returns the difference that paired values detect; nil without a spread or with too few values.
func detectable(values []float64, miss float64) *DetectableDifference {
	spread, n := stat.Deviation(values), len(values)
	if n < stat.FewestSeeds || stat.EqualDifferences(values) {
		return nil
	}
	return &DetectableDifference{Unit: document.UnitShare, Power: detectablePower,
		Difference: stat.Detectable(spread, n, miss, detectablePower),
		TwiceN:     2 * n, Twice: stat.Detectable(spread, 2*n, miss, detectablePower)}
}
