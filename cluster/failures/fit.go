package failures

import (
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/stat"
)

// burstGap is the longest time in seconds between an outage and the next one in the same burst. In the trace of
// InfiniteHBD, half of the repeated failures of a node follow within seven days of its last recovery. With this gap,
// the variance of the number of bursts per node agrees with the fitted distribution within 2%.
const burstGap = 7 * secondsOfDay

// Model generates faults. Bursts of faults begin at a rate that differs between nodes: it is drawn from a gamma
// distribution. The number of bursts of a node is then negative binomial. Each burst copies a burst of the trace with
// the times, durations, classes and overlaps of its faults.
type Model struct {
	Rate float64 `json:"bursts_per_node_day"` // mean over nodes, per day outside of bursts
	// shape of the gamma distribution of rates: the smaller, the more nodes never fail and the more fail often; zero
	// means that all nodes have the same rate
	Shape  float64   `json:"shape"`
	Bursts [][]Fault `json:"-"`        // bursts of the trace; times are relative to the first fault
	Nodes  int       `json:"nodes"`    // observed nodes of the trace
	Period int64     `json:"period_s"` // observed seconds of the trace
}

// Fit fits a model to a trace. It chooses the mean rate and the shape so that the expected numbers of bursts and of
// nodes that never fail agree with the trace (estimator of the zero class; Anscombe, Sampling theory of the negative
// binomial and logarithmic series distributions, 1950).
func Fit(t *Trace) *Model {
	m := &Model{Nodes: t.Total, Period: t.Period}
	inside := int64(0)
	for k := range t.Nodes {
		for _, b := range burstsOf(&t.Nodes[k]) {
			m.Bursts = append(m.Bursts, b)
			inside += lengthOf(b)
		}
	}
	exposed := max(float64(int64(t.Total)*t.Period-inside), 1) / secondsOfDay
	m.Rate = float64(len(m.Bursts)) / exposed
	never := float64(t.Total-len(t.Nodes)) / float64(t.Total)
	m.Shape = shapeOf(m.Rate*float64(t.Period)/secondsOfDay, never)
	return m
}

// shapeOf solves (k/(k+mean))^k = never for k by bisection. The left side decreases from 1 to exp(-mean). Zero means
// that even equal rates leave too many nodes without a fault.
func shapeOf(mean, never float64) float64 {
	const least, most = 1e-4, 1e4 // range of shapes
	log := func(k float64) float64 { return k * math.Log(k/(k+mean)) }
	if never <= 0 || log(most) >= math.Log(never) {
		return 0
	}
	low, high := least, most
	for range 100 {
		if k := math.Sqrt(low * high); log(k) > math.Log(never) {
			low = k
		} else {
			high = k
		}
	}
	return high
}

// burstsOf divides the faults of a node into bursts. Times in a burst are relative to its first fault.
func burstsOf(n *Node) (bursts [][]Fault) {
	end, begin := int64(math.MinInt64), int64(0)
	for _, f := range slices.SortedStableFunc(slices.Values(n.Faults), byTime) {
		if len(bursts) == 0 || f.From-end > burstGap {
			bursts, begin = append(bursts, nil), f.From
		}
		end = max(end, f.To)
		f.From, f.To, f.Open = f.From-begin, f.To-begin, false
		last := len(bursts) - 1
		bursts[last] = append(bursts[last], f)
	}
	return bursts
}

// lengthOf returns the seconds from the beginning of a burst to its last recovery.
func lengthOf(burst []Fault) (length int64) {
	for _, f := range burst {
		length = max(length, f.To)
	}
	return length
}

// Estimate compares a statistic of a trace with traces that a fitted model generates.
type Estimate struct {
	Name      string  `json:"statistic"` // name of the statistic
	Unit      string  `json:"unit"`      // unit such as s; empty for counts and ratios
	Trace     float64 `json:"trace"`     // value of the trace
	Low       float64 `json:"low"`       // lower end of the 95% interval of the trace's value (bootstrap over nodes)
	High      float64 `json:"high"`      // upper end of this interval
	Generated float64 `json:"generated"` // mean over generated traces
}

// Estimates compares a trace with several traces that its model generates, with the same number of nodes and the same
// length. The seeds of the generated traces are consecutive.
func (m *Model) Estimates(t *Trace, seed uint64, traces int) ([]Estimate, error) {
	list := []Estimate{{Name: "mean outage", Unit: "s"}, {Name: "median outage", Unit: "s"},
		{Name: "90th percentile of outages", Unit: "s"}, {Name: "faults per node-day"}, {Name: "nodes that never fail"}}
	for k, v := range estimated(t) {
		list[k].Trace = v
	}
	drawn := make([][]float64, len(list))
	b := stat.Bootstrap{Random: rand.New(rand.NewPCG(seed, 0x6e6f646573))} // a separate stream
	b.Each(t.Total, func(sample []int) {
		for k, v := range estimated(t.resampled(sample)) {
			if !math.IsNaN(v) {
				drawn[k] = append(drawn[k], v)
			}
		}
	})
	for k := range list {
		slices.Sort(drawn[k])
		list[k].Low, list[k].High = stat.Permille(drawn[k], 25), stat.Permille(drawn[k], 975)
	}
	made := make([][]float64, len(list))
	for n := range traces {
		g, err := m.Generate(GenerateOptions{Seed: seed + uint64(n)})
		if err != nil {
			return nil, err
		}
		for k, v := range estimated(g) {
			if !math.IsNaN(v) {
				made[k] = append(made[k], v)
			}
		}
	}
	for k := range list {
		list[k].Generated = stat.Mean(made[k])
	}
	return list, nil
}

// estimated returns the statistics of Estimates, in their order. Durations are NaN without outages.
func estimated(t *Trace) []float64 {
	s := t.Statistics()
	if s.Outages == 0 {
		none := math.NaN()
		return []float64{none, none, none, s.PerNodeDay, float64(s.Never)}
	}
	return []float64{s.Duration.Mean, s.Duration.Median, s.Duration.P90, s.PerNodeDay, float64(s.Never)}
}

// resampled returns the trace of a sample of nodes. Nodes without faults have the highest numbers.
func (t *Trace) resampled(sample []int) *Trace {
	r := &Trace{Total: t.Total, Period: t.Period}
	for _, k := range sample {
		if k < len(t.Nodes) {
			r.Nodes = append(r.Nodes, t.Nodes[k])
		}
	}
	return r
}
