package goodput

import "math"

// Limits holds a job's minimum and maximum batch size, in examples.
type Limits struct {
	Least, Most             int // minimum and maximum batch; the minimum has the efficiency 1
	DeviceLeast, DeviceMost int // minimum and maximum number of examples that a device computes at once
}

// Job holds a job's fitted speed, its gradient noise and the limits of its batch size.
type Job struct {
	Speed  Speed
	Noise  Noise
	Limits Limits
}

// Goodput returns the number of examples per second, multiplied by the statistical efficiency of the batch size. The
// batch size must be at least the minimum.
func (j *Job) Goodput(nodes, devices int, b Batch) float64 {
	scale := float64(b.Total(devices)) / float64(j.Limits.Least)
	return j.Speed.Throughput(nodes, devices, b) * j.Noise.Efficiency(scale)
}

// candidates is the number of batch sizes that Best compares.
const candidates = 50

// Best returns the highest goodput, and the batch that reaches this goodput, divided among the devices. It compares 50
// batch sizes that are evenly spaced on a logarithmic scale. The goodput is zero if no size is within the limits.
func (j *Job) Best(nodes, devices int) (best float64, batch Batch) {
	network := j.Speed.network(nodes, devices)
	best = -1
	for _, b := range j.Limits.batches(devices) {
		value := 0.0
		if b.Device >= j.Limits.DeviceLeast && b.Device <= j.Limits.DeviceMost {
			compute := j.Speed.compute(float64(b.Device))
			total := float64(b.Total(devices))
			step := float64(float64(b.Accumulate)*compute) + j.Speed.last(compute, network)
			value = total / step * j.Noise.Efficiency(total/float64(j.Limits.Least))
		}
		if value > best {
			best, batch = value, b
		}
	}
	return best, batch
}

// batches returns the candidates for a number of devices.
func (l Limits) batches(devices int) (list [candidates]Batch) {
	for k, total := range l.totals(devices) {
		list[k] = l.Split(total/float64(devices), devices == 1 && total > float64(l.Least)+tiny)
	}
	return list
}

// totals returns sizes of a batch, spaced evenly by their logarithms.
func (l Limits) totals(devices int) (list [candidates]float64) {
	first, last := float64(max(l.Least, l.DeviceLeast*devices)), float64(l.Most)
	low, high := math.Log10(first), math.Log10(last)
	for k := range list {
		list[k] = math.Pow(10, low+float64(float64(k)*((high-low)/(candidates-1))))
	}
	list[candidates-1] = math.Pow(10, high)
	return list
}

// Sizes returns the candidate batch sizes for a number of devices, sorted and without duplicates. They are multiples of
// the number of devices if the maximum batch size allows this.
func (l Limits) Sizes(devices int) (sizes []int) {
	if l.Most <= max(l.Least, devices) {
		return []int{l.Most}
	}
	l.DeviceLeast = max(l.DeviceLeast, 1)
	for _, total := range l.totals(devices) {
		size := min(ceil(total/float64(devices))*devices, l.Most)
		if len(sizes) == 0 || size > sizes[len(sizes)-1] {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// Split divides the examples that a device processes in a step into turns, which are gradient computations that fit the
// device's memory. If twice is true, Split returns at least two turns. A single device needs two turns to measure
// gradient noise, which is estimated from differences between turns or between devices.
func (l Limits) Split(device float64, twice bool) Batch {
	turns := ceil(device / float64(l.DeviceMost))
	if twice {
		turns = max(turns, 2)
	}
	turns = max(turns, 1)
	return Batch{Device: ceil(device / float64(turns)), Accumulate: turns - 1}
}

// ceil rounds up, except for a rounding error above an integer.
func ceil(x float64) int { return int(math.Ceil(x - tiny)) }

// Share divides a batch among devices, up to the maximum batch size. A single device processes a batch above the
// minimum size in at least two turns. If twice is true, a single device processes every batch in at least two turns.
func (l Limits) Share(total, devices int, twice bool) Batch {
	b := l.Split(float64(ceil(float64(total)/float64(devices))), devices == 1 && (twice || total > l.Least))
	return l.Bound(b, devices)
}

// Bound reduces the number of examples per device if the whole batch would exceed the maximum size.
func (l Limits) Bound(b Batch, devices int) Batch {
	b.Device = min(b.Device, l.Most/(devices*b.Turns()))
	return b
}
