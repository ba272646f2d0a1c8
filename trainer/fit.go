package trainer

import (
	"cmp"
	"math"
	"slices"

	"graft/stat"
)

// fewest is the number of measured networks that determine the rates.
const fewest = 5

// Fit is the agreement of rates with measurements; zero means that they were not fitted.
type Fit struct {
	Networks int // to which the rates were fitted; zero means none
	// Step and Batch are errors on networks that were left out of the fit one by one:
	// the expected error on a network like the measured ones, such as an adapted one.
	Step, Batch FitError
	// NewStep and NewBatch are errors on networks that were left out with all that they
	// were adapted to, or from: the expected error on any other network.
	NewStep, NewBatch FitError
}

// FitError is the relative error of a fit.
type FitError struct {
	Median  float64
	Worst   float64
	Network string // with the worst error; empty means none
}

// fitCosts returns the best rates and their errors; zeros if there are too few networks.
func fitCosts(measured []Measurement) (step, batch Rates, fit Fit) {
	measured = slices.DeleteFunc(slices.Clone(measured), func(m Measurement) bool { return m.Size == Size{} })
	prints := map[string]bool{}
	for _, m := range measured {
		prints[m.Fingerprint] = true
	}
	if fit.Networks = len(prints); fit.Networks < fewest {
		return Rates{}, Rates{}, Fit{}
	}
	alone := func(a, b Measurement) bool { return a.Fingerprint == b.Fingerprint }
	family := func(a, b Measurement) bool { return a.Network == b.Network }
	fit.Step, fit.NewStep = miss(measured, stepTime, alone), miss(measured, stepTime, family)
	fit.Batch, fit.NewBatch = miss(measured, batchTime, alone), miss(measured, batchTime, family)
	return fitRates(measured, stepTime), fitRates(measured, batchTime), fit
}

func stepTime(m Measurement) float64  { return m.StepSeconds }
func batchTime(m Measurement) float64 { return m.BatchSeconds }

// fitRates returns the non-negative rates with the least sum of squared relative errors,
// so that small networks count as much as large ones.
func fitRates(measured []Measurement, time func(Measurement) float64) Rates {
	var a [][]float64
	ones := slices.Repeat([]float64{1}, len(measured))
	for _, m := range measured {
		row := m.counts(m.Batch)
		scale(row[:], 1/time(m))
		a = append(a, row[:])
	}
	var x [rateCount]float64
	for k, rate := range stat.NonNegative(a, ones) {
		x[k] = digits(rate)
	}
	return Rates{x[0], x[1], x[2], x[3], x[4], x[5], x[6]}
}

// miss is the error of cross-validation: it leaves measurements that belong together out
// of the fit and compares them with the rates of the others.
func miss(measured []Measurement, time func(Measurement) float64, together func(a, b Measurement) bool) FitError {
	var m FitError
	var all []float64
	for _, out := range measured {
		rest := slices.DeleteFunc(slices.Clone(measured), func(o Measurement) bool { return together(o, out) })
		if len(rest) == 0 {
			return FitError{}
		}
		relative := math.Abs(fitRates(rest, time).seconds(out.Size, out.Batch)/time(out) - 1)
		if all = append(all, relative); relative > m.Worst {
			m.Worst, m.Network = relative, out.String()
		}
	}
	m.Median, _ = middle(all)
	return m
}

// between is the time of a measured network at another batch size: interpolated between
// two measured ones or, outside, scaled from the nearest by the rates. The measurements
// are of one network.
func between(measured []Measurement, rows int, time func(Measurement) float64, r Rates) (float64, bool) {
	slices.SortFunc(measured, func(a, b Measurement) int { return cmp.Compare(a.Batch, b.Batch) })
	k, exact := slices.BinarySearchFunc(measured, rows, func(m Measurement, rows int) int { return cmp.Compare(m.Batch, rows) })
	if exact {
		return time(measured[k]), true
	}
	if k > 0 && k < len(measured) {
		low, high := measured[k-1], measured[k]
		share := float64(rows-low.Batch) / float64(high.Batch-low.Batch)
		return time(low) + share*(time(high)-time(low)), true
	}
	near := measured[min(k, len(measured)-1)]
	if r == (Rates{}) || near.Size == (Size{}) {
		return 0, false
	}
	return time(near) * r.seconds(near.Size, rows) / r.seconds(near.Size, near.Batch), true
}
