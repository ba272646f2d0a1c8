package operators

import (
	"cmp"
	"slices"

	"graft/internal/stat"
)

// Measurement holds the measured times of the calls of an operator with the same shapes. Times are medians in seconds.
type Measurement struct {
	Name       string  // name of the operator in PyTorch, such as conv2d, or Updating
	Shapes     string  // shapes of the tensors that it reads, or the number of values of a parameter
	Calls      int     // number of calls in a step
	Operations float64 // floating-point operations of a forward pass
	Bytes      float64 // bytes that a forward pass reads and writes
	// seconds of the host for a forward pass, with the time before the call; on the CPU this includes the work itself
	ForwardHost    float64
	BackwardHost   float64 // seconds of the host for a backward pass
	ForwardDevice  float64 // seconds of the device for a forward pass; zero on the CPU
	BackwardDevice float64 // seconds of the device for a backward pass; zero on the CPU
	// recorded calls in the forward and in the backward pass: the operator and the operators that it calls
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
	Operators   []Measurement // measured operators
}

// table returns the medians of the samples.
func (m *timer) table(name string, rows int) (*Table, error) {
	rest := middle(m.rests)
	t := &Table{Network: name, Rows: rows, Steps: len(m.spans), StepSeconds: digits(stat.Median(m.spans)),
		RestHost: digits(rest.host), RestDevice: digits(rest.device), Recorded: digits(rest.events)}
	at := map[key]int{}
	for k := range m.calls {
		c := &m.calls[k]
		forward, measured := m.samples[sample{c.key(), false}]
		if !measured {
			continue
		}
		i, known := at[c.key()]
		if !known {
			i = len(t.Operators)
			at[c.key()] = i
			f, b := middle(forward), part{}
			if back := m.samples[sample{c.key(), true}]; len(back) > 0 {
				b = middle(back)
				scaleParts(&b, float64(len(back))/float64(len(forward)))
			}
			t.Operators = append(t.Operators, Measurement{Name: c.Name, Shapes: c.Shapes, Operations: c.Operations,
				Bytes: c.Bytes, ForwardHost: digits(f.host), BackwardHost: digits(b.host),
				ForwardDevice: digits(f.device), BackwardDevice: digits(b.device), ForwardRecorded: digits(f.events),
				BackwardRecorded: digits(b.events)})
		}
		t.Operators[i].Calls++
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
	for k := range t.Operators {
		m := &t.Operators[k]
		n := float64(m.Calls)
		sum.add(part{n * m.host(), n * m.device(), n * m.recorded()})
	}
	return sum
}

// leastShare is the smallest share of an operator's time that remains without the profiler.
const leastShare = 0.2

// Calibrate corrects the table to the time of a step without the profiler. Time of the profiler is subtracted in
// proportion to the recorded calls; the remaining difference scales all times.
func (t *Table) Calibrate(seconds float64) {
	t.Plain = seconds
	sum := t.sums()
	if sum.device > sum.host {
		t.scale(1, seconds/sum.device)
		return
	}
	if each := (sum.host - seconds) / max(sum.events, 1); each > 0 {
		t.RestHost = reduced(t.RestHost, each*t.Recorded)
		for k := range t.Operators {
			m := &t.Operators[k]
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
	for k := range t.Operators {
		m := &t.Operators[k]
		m.ForwardHost, m.BackwardHost = digits(host*m.ForwardHost), digits(host*m.BackwardHost)
		m.ForwardDevice, m.BackwardDevice = digits(device*m.ForwardDevice), digits(device*m.BackwardDevice)
	}
}

// Costliest returns the measured operators, the one with the largest time in a step first.
func (t *Table) Costliest() []Measurement {
	all := slices.Clone(t.Operators)
	slices.SortStableFunc(all, func(a, b Measurement) int {
		return cmp.Compare(float64(b.Calls)*max(b.host(), b.device()), float64(a.Calls)*max(a.host(), a.device()))
	})
	return all
}
