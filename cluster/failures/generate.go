package failures

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/cluster/trace"
)

// GenerateOptions configures [Model.Generate].
type GenerateOptions struct {
	Nodes  int     // number of nodes; zero means the nodes of the fitted trace
	Period int64   // seconds; zero means the period of the fitted trace
	Factor float64 // multiplies the rates; zero means 1
	Seed   uint64  // seed of all random draws
}

// mostFactor is the largest factor of the rates.
const mostFactor = 1000

// mostFaults is the largest expected number of generated faults.
const mostFaults = 2_000_000

func (o *GenerateOptions) ensureDefaults(m *Model) {
	o.Nodes, o.Period = cmp.Or(o.Nodes, m.Nodes), cmp.Or(o.Period, m.Period)
	o.Factor = cmp.Or(o.Factor, 1)
}

func (o *GenerateOptions) validate(m *Model) error {
	switch {
	case o.Nodes < 1 || o.Nodes > trace.MaxNodes:
		return fmt.Errorf("generate failures: the number of nodes is %d; must be between 1 and %d", o.Nodes,
			trace.MaxNodes)
	case o.Period < 1 || o.Period > maxDays*secondsOfDay:
		return fmt.Errorf("generate failures: the period is %d s; must be between 1 and %d", o.Period,
			maxDays*secondsOfDay)
	case !(o.Factor > 0 && o.Factor <= mostFactor):
		return fmt.Errorf("generate failures: the factor of the rates is %g; must be above 0 and at most %d", o.Factor,
			mostFactor)
	}
	faults := 0
	for _, b := range m.Bursts {
		faults += len(b)
	}
	expected := m.Rate * o.Factor * float64(o.Nodes) * float64(o.Period) / secondsOfDay * float64(faults) /
		float64(max(1, len(m.Bursts)))
	if expected > mostFaults {
		return fmt.Errorf("generate failures: about %.0f faults expected, more than the limit of %d; choose fewer "+
			"nodes, "+
			"a shorter period or a smaller factor", expected, mostFaults)
	}
	return nil
}

// Generate draws a trace. Faults end with the period at the latest. Equal options give equal traces.
func (m *Model) Generate(o GenerateOptions) (*Trace, error) {
	o.ensureDefaults(m)
	if err := o.validate(m); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x6661756c74)) // a separate stream
	t := &Trace{Total: o.Nodes, Period: o.Period}
	for k := range o.Nodes {
		if faults := m.node(r, &o); len(faults) > 0 {
			t.Nodes = append(t.Nodes, Node{ID: fmt.Sprintf("node-%06d", k), Faults: faults})
		}
	}
	slices.SortStableFunc(t.Nodes, func(a, b Node) int { return cmp.Compare(a.Faults[0].From, b.Faults[0].From) })
	return t, nil
}

// node draws the faults of a node: a Poisson process of bursts that pauses during bursts.
func (m *Model) node(r *rand.Rand, o *GenerateOptions) (faults []Fault) {
	perSecond := m.Rate * o.Factor / secondsOfDay
	if m.Shape > 0 {
		perSecond *= gamma(r, m.Shape) / m.Shape
	}
	if !(perSecond > 0) || len(m.Bursts) == 0 {
		return nil
	}
	for at := r.ExpFloat64() / perSecond; at < float64(o.Period); {
		from := int64(at)
		burst := m.Bursts[r.IntN(len(m.Bursts))]
		for _, f := range burst {
			if f.From += from; f.From >= o.Period {
				continue
			}
			if f.To += from; f.To > o.Period {
				f.To, f.Open = o.Period, true
			}
			faults = append(faults, f)
		}
		at = float64(from+lengthOf(burst)) + 1 + r.ExpFloat64()/perSecond
	}
	return faults
}

// gamma draws from a gamma distribution with scale 1 (Marsaglia, Tsang, A simple method for generating gamma variables,
// 2000).
func gamma(r *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}
