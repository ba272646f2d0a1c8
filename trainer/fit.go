package trainer

import (
	"cmp"
	"math"
	"slices"

	"graft/stat"
)

// fewest is of how many networks there must be measurements for rates to be fitted:
// of fewer, the rates would be made up.
const fewest = 5

// Fit says how well rates agree with measurements. The zero Fit says that they were
// not fitted.
type Fit struct {
	Networks int // that the rates were fitted to; zero means none
	// Step and Batch are of networks that were left out of the fit one by one: what
	// to expect of a network like those that were measured, such as an adapted one.
	Step, Batch Miss
	// NewStep and NewBatch are of networks that were left out with all that they
	// were adapted to, or from: what to expect of any other network.
	NewStep, NewBatch Miss
}

// Miss is how far from what was measured a fit is, as a share of it.
type Miss struct {
	Median  float64
	Worst   float64
	Network string // of which it is worst; empty means none
}

// fitCosts are the rates that agree best with measurements, and how well they do.
// Both are zero where there are too few networks.
func fitCosts(measured []Measurement) (step, batch Rates, fit Fit) {
	measured = slices.DeleteFunc(slices.Clone(measured), func(m Measurement) bool { return m.Size == Size{} })
	if fit.Networks = len(architectures(measured)); fit.Networks < fewest {
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

// architectures are the fingerprints, each once.
func architectures(measured []Measurement) []string {
	var prints []string
	for _, m := range measured {
		prints = append(prints, m.Fingerprint)
	}
	slices.Sort(prints)
	return slices.Compact(prints)
}

// fitRates are the rates, none negative, for which the sum of the squares of the
// relative errors is least: a small network matters as much as a large one.
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
	return ratesOf(x)
}

// miss leaves measurements out of the fit, each time those that belong together,
// and says how far from them the rates of the others are.
func miss(measured []Measurement, time func(Measurement) float64, together func(a, b Measurement) bool) Miss {
	var m Miss
	var all []float64
	for _, out := range measured {
		rest := slices.DeleteFunc(slices.Clone(measured), func(o Measurement) bool { return together(o, out) })
		if len(rest) == 0 {
			return Miss{}
		}
		relative := math.Abs(fitRates(rest, time).seconds(out.Size, out.Batch)/time(out) - 1)
		if all = append(all, relative); relative > m.Worst {
			m.Worst, m.Network = relative, out.String()
		}
	}
	m.Median, _ = middle(all)
	return m
}

// between is what a measured network takes with another batch than those that were
// measured: on the line between two of them or, outside, as much more or less than
// with the nearest as the rates say. The measurements are of one network.
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
