package clock

import (
	"cmp"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/model"
)

// fewest is the minimum number of measured networks to fit rates.
const fewest = 5

// Fit holds the prediction errors of the fitted rates per unit of work. The zero Fit means that the rates were
// not fitted.
type Fit struct {
	Networks int // number of networks used to fit the rates; zero means none
	// Step and Batch are errors of leave-one-out prediction. They estimate the error for a network with measured
	// relatives: networks that grew from the same network.
	Step, Batch FitError
	// NewStep and NewBatch are errors for networks that were left out together with all their relatives. These errors
	// estimate the error for any other network.
	NewStep, NewBatch FitError
}

// FitError holds the median and the largest relative error of predicted times.
type FitError struct {
	Median  float64
	Worst   float64
	Network string // name of the network with the largest error; empty means none
}

// fitCosts fits the rates of steps and of batches, and their errors; zeros if there are too few networks.
func fitCosts(measured []Measurement) (costs Costs, fit Fit) {
	measured = sized(measured)
	if fit.Networks = networksIn(measured); fit.Networks < fewest {
		return Costs{}, Fit{}
	}
	costs.ChannelBlock = bestBlock(measured)
	measured = blocked(measured, costs.ChannelBlock)
	step, batch := fitKinds(measured, stepTime, separate(measured)), fitKinds(measured, batchTime, separate(measured))
	costs.Step, costs.Batch, costs.GraphStep, costs.GraphBatch = step.tree, batch.tree, step.graph, batch.graph
	any := func(Measurement) bool { return true }
	fit.Step, fit.NewStep = missOf(measured, stepTime, alone, any), missOf(measured, stepTime, family, any)
	fit.Batch, fit.NewBatch = missOf(measured, batchTime, alone, any), missOf(measured, batchTime, family, any)
	return costs, fit
}

// bestBlock returns the rounding of channels that fits best. It minimises the product, over steps and batches of
// evaluation, of the sums of squared relative errors, so the noise of one does not hide the other. A rounding that
// gains less than a tenth is not used.
func bestBlock(measured []Measurement) (best int) {
	least, apart := math.Inf(1), separate(measured)
	for _, block := range append([]int{0}, model.Blocks[:]...) {
		sized := blocked(measured, block)
		misfit := misfitOf(sized, stepTime, apart) * misfitOf(sized, batchTime, apart)
		if misfit < 0.9*least {
			best, least = block, misfit
		}
	}
	return best
}

// misfitOf is the sum of the squared relative errors of rates on their own measurements.
func misfitOf(measured []Measurement, time timeOf, apart kinds[bool]) (sum float64) {
	fitted := fitKinds(measured, time, apart)
	for _, m := range measured {
		off := ratesOf(fitted, m.Graph).seconds(m.Size, m.Batch)/time(m) - 1
		sum += off * off
	}
	return sum
}

// alone and family select the measurements that are left out together.
func alone(a, b Measurement) bool  { return a.Fingerprint == b.Fingerprint }
func family(a, b Measurement) bool { return a.class() == b.class() }

// sized returns the measurements that rates can be fitted to.
func sized(measured []Measurement) []Measurement {
	return slices.DeleteFunc(slices.Clone(measured), func(m Measurement) bool { return m.Size == Size{} })
}

func networksIn(measured []Measurement) int {
	prints := map[string]bool{}
	for _, m := range measured {
		prints[m.Fingerprint] = true
	}
	return len(prints)
}

// kinds are two values: for networks that run their tree of layers, and for networks that run a graph of operators.
// Trees run fused layers, graphs run each operator separately, so the same layers take different times.
type kinds[T any] struct{ tree, graph T }

// split divides measurements by kind.
func split(measured []Measurement) (k kinds[[]Measurement]) {
	for _, m := range measured {
		if m.Graph {
			k.graph = append(k.graph, m)
		} else {
			k.tree = append(k.tree, m)
		}
	}
	return k
}

// separate reports which kinds have enough networks for rates of their own.
func separate(measured []Measurement) kinds[bool] {
	s := split(measured)
	return kinds[bool]{networksIn(s.tree) >= fewest, networksIn(s.graph) >= fewest}
}

// fitKinds fits the rates of both kinds. A kind that is not fitted separately uses all networks. The rates of graphs
// are then zero, which means the rates of trees.
func fitKinds(measured []Measurement, time timeOf, apart kinds[bool]) (r kinds[Rates]) {
	s := split(measured)
	if !apart.tree {
		s.tree = measured
	}
	r.tree = fitRates(s.tree, time)
	if apart.graph {
		r.graph = fitRates(s.graph, time)
	}
	return r
}

// ratesOf returns the rates of a kind.
func ratesOf(r kinds[Rates], graph bool) Rates {
	if graph && r.graph != (Rates{}) {
		return r.graph
	}
	return r.tree
}

func stepTime(m Measurement) float64  { return m.StepSeconds }
func batchTime(m Measurement) float64 { return m.BatchSeconds }

// fitRates returns the non-negative rates with the least sum of squared relative errors, which gives small and large
// networks equal weight.
func fitRates(measured []Measurement, time timeOf) Rates {
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

// missOf is the cross-validation error of some networks: measurements that belong together are left out and compared
// with the charge predicted from the others, by rates and relatives.
func missOf(measured []Measurement, time timeOf, together func(a, b Measurement) bool,
	some func(Measurement) bool) FitError {
	var m FitError
	var all []float64
	measured = sized(measured)
	apart := separate(measured)
	fits := map[string]kinds[Rates]{}
	for _, out := range measured {
		if !some(out) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(measured), func(o Measurement) bool { return together(o, out) })
		if len(rest) == 0 {
			return FitError{}
		}
		r := leftOut(rest, out, time, apart, fits)
		charged := r.seconds(out.Size, out.Batch) * correction(relativesOf(rest, out.class(), out.Graph), out.Size,
			out.Batch, time, r)
		relative := math.Abs(charged/time(out) - 1)
		if all = append(all, relative); relative > m.Worst {
			m.Worst, m.Network = relative, out.String()
		}
	}
	m.Median = SecondsOf(all).Median
	return m
}

// leftOut returns the rates of the remaining measurements, fitted once for each left-out network.
func leftOut(rest []Measurement, out Measurement, time timeOf, apart kinds[bool], fits map[string]kinds[Rates]) Rates {
	s := split(rest)
	if len(s.tree) == 0 {
		apart.tree = false
	}
	if len(s.graph) == 0 {
		apart.graph = false
	}
	key := out.Network + " " + out.Fingerprint
	if _, known := fits[key]; !known {
		fits[key] = fitKinds(rest, time, apart)
	}
	return ratesOf(fits[key], out.Graph)
}

// between is the time of a measured network at another batch size: interpolated between two measured sizes or, outside
// their range, scaled from the nearest one by the rates. All measurements are of one network.
func between(measured []Measurement, rows int, time timeOf, r Rates) (float64, bool) {
	seconds, near, inside := interpolated(measured, rows, time)
	if inside {
		return seconds, true
	}
	if r == (Rates{}) || near.Size == (Size{}) {
		return 0, false
	}
	return seconds * r.seconds(near.Size, rows) / r.seconds(near.Size, near.Batch), true
}

// interpolated returns the time of a measured network at another batch size, interpolated between two measured sizes.
// Outside their range, it returns the measurement at the nearest size and its time.
func interpolated(measured []Measurement, rows int, time timeOf) (seconds float64, near Measurement, inside bool) {
	slices.SortFunc(measured, func(a, b Measurement) int { return cmp.Compare(a.Batch, b.Batch) })
	k, exact := slices.BinarySearchFunc(measured, rows,
		func(m Measurement, rows int) int { return cmp.Compare(m.Batch, rows) })
	if exact {
		return time(measured[k]), measured[k], true
	}
	if k > 0 && k < len(measured) {
		low, high := measured[k-1], measured[k]
		share := float64(rows-low.Batch) / float64(high.Batch-low.Batch)
		return time(low) + share*(time(high)-time(low)), low, true
	}
	near = measured[min(k, len(measured)-1)]
	return time(near), near, false
}
