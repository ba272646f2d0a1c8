package telemetry

import (
	"math"
	"slices"
)

// Meter accumulates the power, utilization and memory readings of a device during an interval. It uses constant memory.
// Only Sampler.Begin creates it; the zero value cannot be used.
type Meter struct {
	device         int
	from           float64
	use            Use
	power, counter curve
	readings       int
	utilization    tally
	memoryUse      tally
	watts          tally
	memory         tally
}

// tally accumulates values.
type tally struct {
	sum, most float64
	count     int
}

func (t *tally) add(o Optional[float64]) {
	value, known := o.Get()
	if !known || math.IsNaN(value) {
		return
	}
	if t.count == 0 || value > t.most {
		t.most = value
	}
	t.sum += value
	t.count++
}

// Device returns the index of the measured device.
func (m *Meter) Device() int { return m.device }

// Add adds a reading of the device. A reading before the start of the interval, or older than the last one, is ignored.
func (m *Meter) Add(r Reading) {
	if r.At < m.from || math.IsNaN(r.At) {
		return
	}
	for _, c := range []struct {
		curve *curve
		value Optional[float64]
	}{{&m.power, r.PowerWatts}, {&m.counter, r.EnergyJoules}} {
		if v, known := c.value.Get(); known && !math.IsNaN(v) {
			c.curve.add(point{r.At, v})
		}
	}
	if !r.Empty() {
		m.readings++
	}
	m.utilization.add(r.UtilizationPercent)
	m.memoryUse.add(r.MemoryUtilizationPercent)
	m.watts.add(r.PowerWatts)
	m.memory.add(r.MemoryUsedMiB)
}

// Share records that another task runs on the device during the interval, so the energy cannot be attributed to one
// task.
func (m *Meter) Share(task string) {
	if !slices.Contains(m.use.SharedWith, task) {
		m.use.SharedWith = append(m.use.SharedWith, task)
	}
}

// measurement ends the interval.
func (m *Meter) measurement(to float64) Measurement {
	s := Measurement{Energy: energyOf(&m.counter, &m.power, m.from, to), Seconds: to - m.from, Readings: m.readings,
		MeanUtilizationPercent: m.utilization.mean(), MeanMemoryUtilizationPercent: m.memoryUse.mean(),
		MeanWatts: m.watts.mean(), PeakWatts: m.watts.peak(), PeakMemoryMiB: m.memory.peak()}
	joules, known := s.Joules.Get()
	if idle, is := m.use.IdleWatts.Get(); is && known {
		s.NetJoules = Number(joules - float64(idle*s.Seconds))
	}
	if why := m.use.why(); why != "" && known {
		s.Method, s.Why, s.NetJoules = MethodNotAttributable, why, Optional[float64]{}
	}
	return s
}

func (t *tally) mean() Optional[float64] {
	if t.count == 0 {
		return Optional[float64]{}
	}
	return Number(t.sum / float64(t.count))
}

func (t *tally) peak() Optional[float64] {
	if t.count == 0 {
		return Optional[float64]{}
	}
	return Number(t.most)
}
