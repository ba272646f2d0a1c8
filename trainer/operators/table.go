package operators

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/internal/validate"
)

// Measurement holds the measured times of the calls of an operator with the same shapes. Times are medians in seconds.
type Measurement struct {
	Name       string  // name of the operator in PyTorch, such as conv2d, or Updating
	Shapes     string  // shapes of the tensors that it reads, or the number of values of a parameter
	Calls      int     // number of calls in a step
	Operations float64 // floating-point operations of a forward pass
	Bytes      float64 // bytes that a forward pass reads and writes
	// time on the host for a forward pass, in seconds, including the time between the previous call and this one; on
	// the CPU, it also includes the computation
	ForwardHost    float64
	BackwardHost   float64 // seconds of the host for a backward pass
	ForwardDevice  float64 // seconds of the device for a forward pass; zero on the CPU
	BackwardDevice float64 // seconds of the device for a backward pass; zero on the CPU
	// numbers of calls that the profiler recorded in a forward and in a backward pass, including the operators that
	// this operator calls
	ForwardRecorded, BackwardRecorded float64
}

// Table holds the measured times of the operators of a training step. The zero Table is empty.
type Table struct {
	Network     string        // class of the measured network; empty means an empty table
	Rows        int           // number of examples in the batch
	Steps       int           // number of measured steps
	StepSeconds float64       // median time of a step, with the profiler
	RestHost    float64       // seconds of a step on the host outside of the operators, such as the loss
	RestDevice  float64       // seconds of a step on the device outside of the operators
	Recorded    float64       // recorded calls in a step outside of the operators
	Plain       float64       // measured time of a step without the profiler in seconds; zero means unknown
	Measured    []Measurement // measured operators; empty means an empty table
}

// table returns the medians of the samples.
func (m *timer) table(name string, rows int) (*Table, error) {
	rest := middle(m.rests)
	t := &Table{Network: name, Rows: rows, Steps: len(m.spans), StepSeconds: digits(stat.Median(m.spans)),
		RestHost: digits(rest.host), RestDevice: digits(rest.device), Recorded: digits(rest.events)}
	at := map[same]int{}
	for k := range m.calls {
		c := &m.calls[k]
		forward, measured := m.samples[sample{c.same(), false}]
		if !measured {
			continue
		}
		i, known := at[c.same()]
		if !known {
			i = len(t.Measured)
			at[c.same()] = i
			f, b := middle(forward), part{}
			if back := m.samples[sample{c.same(), true}]; len(back) > 0 {
				b = middle(back)
				scaleParts(&b, float64(len(back))/float64(len(forward)))
			}
			t.Measured = append(t.Measured, Measurement{Name: c.Name, Shapes: c.Shapes, Operations: c.Operations,
				Bytes: c.Bytes, ForwardHost: digits(f.host), BackwardHost: digits(b.host),
				ForwardDevice: digits(f.device), BackwardDevice: digits(b.device), ForwardRecorded: digits(f.events),
				BackwardRecorded: digits(b.events)})
		}
		t.Measured[i].Calls++
	}
	return t, nil
}

// scaleParts multiplies times: some calls of an operator may need no gradient.
func scaleParts(p *part, by float64) {
	p.host, p.device, p.events = p.host*by, p.device*by, p.events*by
}

// host and device return the seconds of a call.
func (m *Measurement) host() float64   { return m.ForwardHost + m.BackwardHost }
func (m *Measurement) device() float64 { return m.ForwardDevice + m.BackwardDevice }

// recorded returns the recorded calls of both passes.
func (m *Measurement) recorded() float64 { return m.ForwardRecorded + m.BackwardRecorded }

// sums returns the host's and the device's seconds of the measured step, and the recorded calls.
func (t *Table) sums() part {
	sum := part{t.RestHost, t.RestDevice, t.Recorded}
	for k := range t.Measured {
		m := &t.Measured[k]
		n := float64(m.Calls)
		sum.add(part{n * m.host(), n * m.device(), n * m.recorded()})
	}
	return sum
}

// leastShare is the smallest share of an operator's time that remains without the profiler.
const leastShare = 0.2

// Calibrate adjusts the times in the table to the given time of a step without the profiler. If the device takes longer
// than the host, device times are scaled. Otherwise the overhead of the profiler is subtracted from host times in
// proportion to the recorded calls, and host times are then scaled to remove the remaining difference.
func (t *Table) Calibrate(seconds float64) {
	t.Plain = seconds
	sum := t.sums()
	if sum.device > sum.host {
		t.scale(1, seconds/sum.device)
		return
	}
	if each := (sum.host - seconds) / max(sum.events, 1); each > 0 {
		t.RestHost = reduced(t.RestHost, each*t.Recorded)
		for k := range t.Measured {
			m := &t.Measured[k]
			share := reduced(m.host(), each*m.recorded()) / max(m.host(), 1e-12)
			m.ForwardHost, m.BackwardHost = share*m.ForwardHost, share*m.BackwardHost
		}
	}
	t.scale(seconds/t.sums().host, 1)
}

func reduced(seconds, by float64) float64 { return max(seconds-by, leastShare*seconds) }

// scale multiplies the times of the host and of the device.
func (t *Table) scale(host, device float64) {
	t.RestHost, t.RestDevice = digits(host*t.RestHost), digits(device*t.RestDevice)
	for k := range t.Measured {
		m := &t.Measured[k]
		m.ForwardHost, m.BackwardHost = digits(host*m.ForwardHost), digits(host*m.BackwardHost)
		m.ForwardDevice, m.BackwardDevice = digits(device*m.ForwardDevice), digits(device*m.BackwardDevice)
	}
}

// Costliest returns the measured operators, sorted by their time in a step, largest first.
func (t *Table) Costliest() []Measurement {
	all := slices.Clone(t.Measured)
	slices.SortStableFunc(all, func(a, b Measurement) int {
		return cmp.Compare(float64(b.Calls)*max(b.host(), b.device()), float64(a.Calls)*max(a.host(), a.device()))
	})
	return all
}

// mostMeasured limits the measurements of a table.
const mostMeasured = 1 << 16

// Validate returns an error that lists every invalid value.
func (t *Table) Validate() error {
	var f validate.Faults
	if len(t.Measured) > 0 {
		f.Unless(t.Rows >= 1 && t.Rows <= mostRows, "rows is %d; must be from 1 to %d", t.Rows, mostRows)
		f.When(t.Network == "", "the operators have no network; set network")
	}
	f.Unless(len(t.Measured) <= mostMeasured, "measured has %d operators; the maximum is %d", len(t.Measured),
		mostMeasured)
	f.When(t.Steps < 0, "steps is %d; must be at least 0", t.Steps)
	for _, v := range []struct {
		key   string
		value float64
	}{{"step_seconds", t.StepSeconds}, {"rest_host", t.RestHost}, {"rest_device", t.RestDevice},
		{"recorded", t.Recorded}, {"plain", t.Plain}} {
		f.Unless(amount(v.value), "%s is %v; must be finite and at least 0", v.key, v.value)
	}
	known := map[same]bool{}
	for k := range t.Measured {
		m := &t.Measured[k]
		at := m.call().same()
		f.When(known[at], "measured: duplicate measurement of %s with shapes %s; remove one", m.Name, m.Shapes)
		known[at] = true
		f.When(m.Name == "", "measured: operator %d has no name", k+1)
		f.Unless(m.Calls >= 1, "measured: %s: calls is %d; must be at least 1", m.Name, m.Calls)
		f.Unless(m.finite(), "measured: %s with shapes %s: an amount is negative or infinite", m.Name, m.Shapes)
	}
	return errors.Join(f...)
}

// finite reports whether all amounts are finite and not negative.
func (m *Measurement) finite() bool {
	for _, v := range []float64{m.Operations, m.Bytes, m.ForwardHost, m.BackwardHost, m.ForwardDevice, m.BackwardDevice,
		m.ForwardRecorded, m.BackwardRecorded} {
		if !amount(v) {
			return false
		}
	}
	return true
}

func amount(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Device returns the kind of device on which the trace was recorded, as text for messages.
func (t *Table) Device() string {
	for k := range t.Measured {
		if t.Measured[k].device() > 0 {
			return "CUDA"
		}
	}
	return "the CPU"
}
