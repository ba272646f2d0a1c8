package operators

import (
	"math"
	"slices"
	"strings"

	"graft/internal/stat"
)

// Prediction holds the predicted times, in seconds, of a training step and of a forward pass.
type Prediction struct {
	Step    float64 // time of a training step
	Forward float64 // time of a forward pass
	// Measured, Between, Beyond and Unknown are fractions of the total time of the step's operators.
	Measured float64 // operators whose shapes were measured
	Between  float64 // operators with work between measured shapes
	Beyond   float64 // operators with more or less work than any measured shape
	Unknown  float64 // operators that were not measured with any shape
}

// Outside returns the fraction of the time that is spent in operators that were not measured or whose work is outside
// the measured range.
func (p *Prediction) Outside() float64 { return p.Beyond + p.Unknown }

// fit holds the rates that were fitted to a table. It predicts times.
type fit struct {
	table   *Table
	exact   map[same]*Measurement
	classes map[string][]*Measurement
	sides   [2]rates // host and device
}

// rates are the fitted parts of the times of the host or of the device, in the order of unknowns.
type rates [unknownCount]float64

// The unknowns of a fit.
const (
	perRecorded    = iota // seconds per recorded call, such as a launch
	perConvolution        // seconds per operation of a convolution
	perGrouped            // seconds per operation of a convolution in groups
	perProduct            // seconds per operation of a matrix product
	perByte               // seconds per byte
	perUpdate             // seconds per byte of a parameter in the optimizer
	unknownCount
)

// operationRate returns the unknown for the operations of an operator. Other operators are limited by memory.
func operationRate(name string) (unknown int, has bool) {
	switch {
	case strings.HasSuffix(name, grouped):
		return perGrouped, true
	case strings.HasPrefix(name, "conv"):
		return perConvolution, true
	}
	return perProduct, slices.Contains([]string{"linear", "matmul", "addmm", "mm", "bmm", "baddbmm",
		attending, "lstm", "gru", "rnn_tanh", "rnn_relu"}, base(name))
}

// fit fits rates to the measurements.
func (t *Table) fit() *fit {
	f := &fit{table: t, exact: map[same]*Measurement{}, classes: map[string][]*Measurement{}}
	for k := range t.Measured {
		m := &t.Measured[k]
		f.exact[m.call().same()] = m
		f.classes[m.Name] = append(f.classes[m.Name], m)
	}
	for side := range f.sides {
		f.sides[side] = fitRates(t.Measured, side)
	}
	return f
}

// time returns the measured time of a side and a direction.
func (m *Measurement) time(side, back int) float64 {
	return [2][2]float64{{m.ForwardHost, m.BackwardHost}, {m.ForwardDevice, m.BackwardDevice}}[side][back]
}

// backFactor is the operations of a backward pass relative to the forward pass: a product has one product for the
// gradient of its input and one for the gradient of its weights.
const backFactor = 2

// work returns the amounts that the rates are multiplied by, for a direction, without launches.
func work(c *Call, back int) (amounts rates) {
	factor := 1.0
	if back == 1 {
		factor = backFactor
	}
	if unknown, has := operationRate(c.Name); has {
		amounts[unknown] = factor * c.Operations
	}
	if c.Name == Updating {
		amounts[perUpdate] = c.Bytes
	} else {
		amounts[perByte] = factor * c.Bytes
	}
	return amounts
}

// call returns the call that was measured.
func (m *Measurement) call() *Call {
	return &Call{Name: m.Name, Shapes: m.Shapes, Operations: m.Operations, Bytes: m.Bytes}
}

// recordedIn returns the recorded calls of a direction.
func (m *Measurement) recordedIn(back int) float64 {
	return [2]float64{m.ForwardRecorded, m.BackwardRecorded}[back]
}

// launchShare is the quantile of the time by recorded call that counts as the time of a launch. The cheapest operators,
// such as views, only take this time.
const launchShare = 0.1

// leastWork is the share of an operator's time beyond its launches from which its work takes part in the fit.
const leastWork = 0.3

// fitRates returns the time of a launch, and the non-negative rates with the least sum of squared relative errors,
// weighted by the share of the step's time.
func fitRates(all []Measurement, side int) (r rates) {
	r[perRecorded] = launchTime(all, side)
	var rows [][]float64
	var targets []float64
	for k := range all {
		m := &all[k]
		for back := range 2 {
			seconds := m.time(side, back)
			excess := seconds - r[perRecorded]*m.recordedIn(back)
			if seconds <= 0 || excess < leastWork*seconds {
				continue
			}
			row := work(m.call(), back)
			weight := math.Sqrt(float64(m.Calls)*seconds) / seconds
			for c := range row {
				row[c] *= weight
			}
			rows, targets = append(rows, row[:]), append(targets, weight*excess)
		}
	}
	if len(rows) > 0 {
		x := stat.NonNegative(rows, targets)
		copy(r[perRecorded+1:], x[perRecorded+1:])
	}
	return r
}

// launchTime returns the time of a recorded call without work.
func launchTime(all []Measurement, side int) float64 {
	var times []float64
	for k := range all {
		for back := range 2 {
			seconds, calls := all[k].time(side, back), all[k].recordedIn(back)
			if seconds > 0 && calls > 0 {
				times = append(times, seconds/calls)
			}
		}
	}
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return stat.Quantile(times, launchShare)
}

// work returns the fitted time of a call without launches.
func (r *rates) work(c *Call, back int) (sum float64) {
	amounts := work(c, back)
	for k := range r {
		sum += r[k] * amounts[k]
	}
	return sum
}

// leastDistance keeps weights finite for shapes with equal work.
const leastDistance = 1e-3

// distance is the sum of the absolute logarithms of the ratios of operations and of bytes.
func (m *Measurement) distance(c *Call) float64 {
	return math.Abs(math.Log((m.Operations+1)/(c.Operations+1))) + math.Abs(math.Log((m.Bytes+1)/(c.Bytes+1)))
}

// seconds returns the time of a call on a side in a direction.
func (f *fit) seconds(c *Call, side, back int) float64 {
	if m := f.exact[c.same()]; m != nil {
		return m.time(side, back)
	}
	r, all := &f.sides[side], f.alike(c.Name)
	if len(all) == 0 {
		return r[perRecorded]*f.recorded(c.Name, back) + r.work(c, back)
	}
	sum, weights := 0.0, 0.0
	for _, m := range all {
		weight := math.Pow(m.distance(c)+leastDistance, -4)
		sum, weights = sum+weight*r.scaled(m, c, side, back), weights+weight
	}
	if f.borrows(c.Name) {
		return sum/weights + r[perRecorded]*(f.recorded(c.Name, back)-f.recorded(base(c.Name), back))
	}
	return sum / weights
}

// scaled returns the time of a call that a measurement of the same operator implies: the launches, and the rest of the
// measured time in proportion to the work.
func (r *rates) scaled(m *Measurement, c *Call, side, back int) float64 {
	measured := m.time(side, back)
	launches := min(measured, r[perRecorded]*m.recordedIn(back))
	ratio := 1.0
	if own := r.work(m.call(), back); own > 0 {
		ratio = r.work(c, back) / own
	} else if m.Bytes > 0 {
		ratio = c.Bytes / m.Bytes
	}
	return launches + (measured-launches)*ratio
}

// alike returns the measurements of an operator or, if there are none, of its variant that the trace has.
func (f *fit) alike(name string) []*Measurement {
	if all := f.classes[name]; len(all) > 0 {
		return all
	}
	return f.classes[base(name)]
}

// borrows reports whether an operator was not measured, but another variant of it.
func (f *fit) borrows(name string) bool {
	return len(f.classes[name]) == 0 && len(f.classes[base(name)]) > 0
}

// unfusedCalls is the number of operators that compute unfused attention, relative to the fused one: two products, a
// scale of each operand, the softmax, and copies.
const unfusedCalls = 4

// recorded returns the mean number of recorded calls of an operator. An operator that was not measured has the median
// number.
func (f *fit) recorded(name string, back int) float64 {
	all, factor := f.alike(name), 1.0
	if strings.HasSuffix(name, unfused) && f.borrows(name) {
		factor = unfusedCalls
	}
	var list []float64
	for _, m := range all {
		list = append(list, m.recordedIn(back))
	}
	if len(list) > 0 {
		return factor * stat.Mean(list)
	}
	for k := range f.table.Measured {
		list = append(list, f.table.Measured[k].recordedIn(back))
	}
	if len(list) == 0 {
		return 1
	}
	return stat.Median(list)
}

// omits reports whether the program omits a call.
func (f *fit) omits(c *Call) bool { return c.Optional && len(f.classes[c.Name]) == 0 }

func (f *fit) part(c *Call) (forward, step float64) {
	if f.omits(c) {
		return 0, 0
	}
	t := f.times(c)
	return max(t.forward[0], t.forward[1]), max(t.both[0], t.both[1])
}

func (f *fit) predict(calls []Call) (p Prediction) {
	steps, forwards := [2]float64{f.table.RestHost, f.table.RestDevice}, [2]float64{}
	times := map[same]callTimes{}
	for k := range calls {
		c := &calls[k]
		if f.omits(c) {
			continue
		}
		at := c.same()
		t, known := times[at]
		if !known {
			t = f.times(c)
			times[at] = t
		}
		for side := range steps {
			steps[side] += t.both[side]
			if c.Name != Updating {
				forwards[side] += t.forward[side]
			}
		}
		*p.share(t.place) += max(t.both[0], t.both[1])
	}
	p.Step, p.Forward = max(steps[0], steps[1]), max(forwards[0], forwards[1])
	p.normalize()
	return p
}

// normalize makes the shares add up to 1.
func (p *Prediction) normalize() {
	if sum := p.Measured + p.Between + p.Beyond + p.Unknown; sum > 0 {
		for _, share := range []*float64{&p.Measured, &p.Between, &p.Beyond, &p.Unknown} {
			*share /= sum
		}
	}
}

// callTimes holds the seconds of a call on the host and on the device, for the forward pass and for both passes.
type callTimes struct {
	forward, both [2]float64
	place         callRange
}

func (f *fit) times(c *Call) (t callTimes) {
	for side := range t.both {
		t.forward[side] = f.seconds(c, side, 0)
		t.both[side] = t.forward[side] + f.seconds(c, side, 1)
	}
	t.place = f.rangeOf(c)
	return t
}

// callRange is the place of a call relative to the measured shapes.
type callRange int

const (
	measuredRange callRange = iota
	betweenRange
	beyondRange
	unknownRange
)

func (p *Prediction) share(r callRange) *float64 {
	return []*float64{&p.Measured, &p.Between, &p.Beyond, &p.Unknown}[r]
}

// nearby is the ratio of work to the least or to the most measured work up to which a call counts as between measured
// shapes.
const nearby = 1.25

func (f *fit) rangeOf(c *Call) callRange {
	if f.exact[c.same()] != nil {
		return measuredRange
	}
	all := f.classes[c.Name]
	if len(all) == 0 {
		return unknownRange
	}
	within := func(of func(*Measurement) float64, value float64) bool {
		least, most := math.Inf(1), 0.0
		for _, m := range all {
			least, most = min(least, of(m)), max(most, of(m))
		}
		return value >= least/nearby && value <= most*nearby
	}
	if within(func(m *Measurement) float64 { return m.Operations }, c.Operations) &&
		within(func(m *Measurement) float64 { return m.Bytes }, c.Bytes) {
		return betweenRange
	}
	return beyondRange
}
