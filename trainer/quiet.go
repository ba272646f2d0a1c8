package trainer

import (
	"math"
	"slices"

	"graft/dataset"
	"graft/internal/stat"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/probes"
)

// Watch finds the networks that were measured only while other programs slowed the machine down. It times the steps of
// a reference network between the measurements.
type Watch struct {
	reference func() (float64, error) // returns the seconds of a step
	close     func()                  // releases the reference
	steps     []float64               // seconds of all steps, in order
	// seconds of the slower reference before and after the measurement of each network; the minimum over its
	// measurements
	around []float64
}

// A measurement counts as undisturbed if the reference was at most quietSlowdown times slower than in its fastest
// moments. On two threads of a busy host, the median step then took as long as at its fastest; with a ratio above 1.4,
// it took 38% longer. The fastest step of all can be an exception.
const (
	quietSlowdown = 1.1
	quietShare    = 0.05 // share of the steps that are the fastest moments
)

// NewWatch creates a watch for a number of networks. Its reference is trained in a scope until Close is called.
func NewWatch(s *torch.Scope, networks int, o MeasureOptions) (*Watch, error) {
	o.EnsureDefaults()
	reference, close, err := o.newReference(s)
	if err != nil {
		return nil, err
	}
	w, err := newWatch(networks, reference)
	if err != nil {
		close()
		return nil, err
	}
	w.close = close
	return w, nil
}

// Close releases the reference.
func (w *Watch) Close() { w.close() }

func newWatch(networks int, reference func() (float64, error)) (*Watch, error) {
	w := &Watch{reference: reference, around: make([]float64, networks)}
	for k := range w.around {
		w.around[k] = math.Inf(1)
	}
	first, err := reference()
	w.steps = append(w.steps, first)
	return w, err
}

// Measure runs a measurement of network k. It returns the seconds of the slower reference before and after it.
func (w *Watch) Measure(k int, run func() error) (slower float64, err error) {
	if err := run(); err != nil {
		return 0, err
	}
	after, err := w.reference()
	if err != nil {
		return 0, err
	}
	slower = max(w.steps[len(w.steps)-1], after)
	w.around[k] = min(w.around[k], slower)
	w.steps = append(w.steps, after)
	return slower, nil
}

// quiet returns the seconds of the reference in its fastest moments.
func (w *Watch) quiet() float64 {
	return stat.Quantile(slices.Sorted(slices.Values(w.steps)), quietShare)
}

// disturbed returns the numbers of the networks without an undisturbed measurement.
func (w *Watch) disturbed() (all []int) {
	most := quietSlowdown * w.quiet()
	for k, slowest := range w.around {
		if slowest > most {
			all = append(all, k)
		}
	}
	return all
}

// Numbers of bursts and steps of the reference. The fastest burst counts, because the first one loads the network into
// the caches.
const (
	referenceBursts = 3
	referenceSteps  = 2
)

// newReference returns the reference of a watch, which trains a small network in a scope until close is called.
func (o MeasureOptions) newReference(s *torch.Scope) (seconds func() (float64, error), close func(), err error) {
	p := probes.Reference()
	o.Batches = []int{p.Rows}
	m := &measuring{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}, longest: longest}
	c, err := m.candidate(clock.Subject{Name: "reference", Network: p.Network})
	if err != nil {
		m.close()
		return nil, nil, err
	}
	b := &burst{batch: p.Rows, steps: referenceSteps, data: c.job.Data}
	return func() (float64, error) {
		best := math.Inf(1)
		for range referenceBursts {
			if err := m.fill(c, b); err != nil {
				return 0, err
			}
			best = min(best, c.meter.latest(clock.Steps))
		}
		return best, nil
	}, m.close, nil
}
