package telemetry

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Method states how an amount of energy was measured.
type Method string

// The methods of energy measurement.
const (
	MethodCounter         Method = "counter"          // difference of the device's total-energy counter
	MethodIntegrated      Method = "integrated"       // trapezoidal rule over power readings
	MethodNotAttributable Method = "not attributable" // energy was measured, but not for one task alone
	MethodUnknown         Method = "unknown"          // neither counter nor power readings cover the interval
)

const (
	// shortWindow is the length in seconds below which a difference of counters is inaccurate: GPUs refresh power and
	// counter every 20 to 100 ms (Yang, Adamek and Armour, Part-time Power Measurements: nvidia-smi's Lack of
	// Attention, 2023, arXiv 2312.02741).
	shortWindow = 0.1
	// longestGap is the maximum time in seconds between two power readings to integrate over. A minute of unknown power
	// may hide a whole job; nvidia-smi logs a row each second.
	longestGap = 5
	// edge is the time in seconds by which a counter's readings may miss the ends of an interval: rounding of seconds
	// since 1970 in a float64 is below it.
	edge = 1e-6
)

// Energy holds the energy that a device used in an interval, and how it was measured.
type Energy struct {
	// energy in joules; unknown if Method is MethodUnknown, total of all tasks if it is MethodNotAttributable
	Joules Optional[float64] `json:"joules"`
	// energy in joules minus idle power times length of the interval; can be negative because of noise; unknown without
	// idle power
	NetJoules Optional[float64] `json:"net_joules"`
	Method    Method            `json:"method"` // method by which Joules was measured
	// reason why the energy is not attributable or unknown, such as MIG, another task on the device, or a gap between
	// readings
	Why string `json:"why,omitempty"`
	// whether Joules comes from the energy counter over an interval shorter than 100 ms, which is about the refresh
	// period of the counter
	Short bool `json:"short"`
}

// MethodText returns the method and its reason, such as "not attributable: MIG".
func (e Energy) MethodText() string {
	if e.Why == "" {
		return string(e.Method)
	}
	return string(e.Method) + ": " + e.Why
}

// Measurement summarizes the readings of a device in an interval.
type Measurement struct {
	Energy
	Seconds float64 `json:"seconds"` // length of the interval, in seconds
	// number of readings with at least one known value
	Readings int `json:"readings"`
	// mean share of the time in which a kernel ran, in percent
	MeanUtilizationPercent Optional[float64] `json:"mean_utilization_percent"`
	// mean share of the time in which device memory was accessed, in percent
	MeanMemoryUtilizationPercent Optional[float64] `json:"mean_memory_utilization_percent"`
	// mean of the power readings, in watts
	MeanWatts     Optional[float64] `json:"mean_watts"`
	PeakWatts     Optional[float64] `json:"peak_watts"`      // largest power reading, in watts
	PeakMemoryMiB Optional[float64] `json:"peak_memory_mib"` // largest device memory in use by all processes, in MiB
}

// Use describes how a device is used in an interval.
type Use struct {
	// whether the device is divided into MIG instances, so that its energy cannot be attributed to one of them
	MIG        bool
	SharedWith []string          // other tasks that ran on the device; nil means none
	IdleWatts  Optional[float64] // power of the idle device, in watts; if unknown, NetJoules is unknown
}

// why returns the reason why energy cannot be attributed; empty if it can.
func (u Use) why() string {
	switch {
	case u.MIG:
		return "MIG"
	case len(u.SharedWith) > 0:
		return "shared with " + strings.Join(u.SharedWith, ", ")
	}
	return ""
}

// Measure summarizes the readings of one device between two times, in seconds on the clock of the readings. Readings
// can be in any order. Readings outside the interval are used only to interpolate at its ends.
func Measure(readings []Reading, from, to float64, use Use) Measurement {
	sorted := slices.Clone(readings)
	slices.SortStableFunc(sorted, func(a, b Reading) int { return cmp.Compare(a.At, b.At) })
	m := Meter{from: from, use: use}
	for _, r := range sorted {
		if r.At >= from && r.At <= to {
			m.Add(r)
		}
	}
	m.power = curveOf(clip(sorted, from, to, func(r *Reading) Optional[float64] { return r.PowerWatts }))
	m.counter = curveOf(clip(sorted, from, to, func(r *Reading) Optional[float64] { return r.EnergyJoules }))
	return m.measurement(to)
}

// MeasureAll summarizes all readings of one device, from the first one with a value to the last one.
func MeasureAll(readings []Reading, use Use) Measurement {
	from, to := math.Inf(1), math.Inf(-1)
	for _, r := range readings {
		if !r.Empty() {
			from, to = min(from, r.At), max(to, r.At)
		}
	}
	if from > to {
		from, to = 0, 0
	}
	return Measure(readings, from, to, use)
}

// point is a known value at a time.
type point struct{ at, value float64 }

// clip lists the known values of sorted readings between two times, with interpolated values at the ends if there are
// readings on both sides.
func clip(sorted []Reading, from, to float64, value func(r *Reading) Optional[float64]) []point {
	var inside []point
	var before, after *point
	for k := range sorted {
		v, known := value(&sorted[k]).Get()
		p := point{sorted[k].At, v}
		switch {
		case !known || math.IsNaN(v) || math.IsNaN(p.at):
		case p.at < from:
			before = &p
		case p.at <= to:
			inside = append(inside, p)
		case after == nil:
			after = &p
		}
	}
	whole := slices.Clone(inside)
	if before != nil {
		whole = slices.Insert(whole, 0, *before)
	}
	if after != nil {
		whole = append(whole, *after)
	}
	if before != nil && len(whole) > 1 && whole[1].at > from {
		inside = slices.Insert(inside, 0, between(whole[0], whole[1], from))
	}
	if last := len(whole) - 1; after != nil && last > 0 && whole[last-1].at < to {
		inside = append(inside, between(whole[last-1], whole[last], to))
	}
	return inside
}

// between interpolates at a time between two points.
func between(a, b point, at float64) point {
	share := (at - a.at) / (b.at - a.at)
	return point{at, a.value + float64(share*(b.value-a.value))}
}

// curve accumulates the values of a quantity over time, in constant memory.
type curve struct {
	count       int
	first, last point
	area        float64 // by the trapezoidal rule
	gap         float64 // longest time between two values
	fell        bool    // a value is below its predecessor
}

func curveOf(points []point) curve {
	c := curve{}
	for _, p := range points {
		c.add(p)
	}
	return c
}

// add adds a value; it ignores a value older than the last.
func (c *curve) add(p point) {
	switch {
	case c.count == 0:
		c.first = p
	case p.at < c.last.at:
		return
	default:
		took := p.at - c.last.at
		c.area += float64((p.value + c.last.value) / 2 * took)
		c.gap, c.fell = max(c.gap, took), c.fell || p.value < c.last.value
	}
	c.last = p
	c.count++
}

// energyOf computes the energy from the counter if it covers the interval without a reset, otherwise from the power. It
// assumes constant power from an end of the interval to the nearest reading.
func energyOf(counter, power *curve, from, to float64) Energy {
	if covers := counter.count > 1 && counter.first.at <= from+edge && counter.last.at >= to-edge; covers &&
		!counter.fell {
		return Energy{Joules: Number(counter.last.value - counter.first.value), Method: MethodCounter,
			Short: to-from < shortWindow}
	}
	head, tail := power.first.at-from, to-power.last.at
	gap := max(power.gap, head, tail)
	switch {
	case power.count < 2:
		return Energy{Method: MethodUnknown, Why: fewReadings(counter, power)}
	case gap > longestGap:
		return Energy{Method: MethodUnknown, Why: fmt.Sprintf("%.1f s without a power reading", gap)}
	}
	joules := power.area + float64(max(head, 0)*power.first.value) + float64(max(tail, 0)*power.last.value)
	return Energy{Joules: Number(joules), Method: MethodIntegrated}
}

// fewReadings returns the reason why an interval has no energy.
func fewReadings(counter, power *curve) string {
	switch {
	case counter.fell:
		return "the energy counter was reset"
	case counter.count > 0:
		return "the energy counter was not read at both ends"
	case power.count == 1:
		return "only one power reading"
	}
	return "no readings of power or energy"
}

// Watts returns the mean power, which is the energy divided by the length of the interval. Measured on an idle device,
// it can be used as Use.IdleWatts.
func (m Measurement) Watts() Optional[float64] {
	joules, known := m.Joules.Get()
	if !known || m.Seconds <= 0 {
		return Optional[float64]{}
	}
	return Number(joules / m.Seconds)
}
