package clock

import (
	"cmp"
	"math"
	"slices"

	"graft/model"
	"graft/net2net"
)

// timeOf selects the time of a kind of work from a measurement.
type timeOf func(Measurement) float64

// relative is a measured network of the same class as another one, at all of its batch sizes.
type relative []Measurement

// relatives returns the measured networks of a class that run in the same way: earlier forms of a network, and other
// networks grown from them. Measurements without sizes are excluded.
func (p *Profile) relatives(n *model.Network) []relative {
	all := relativesOf(p.Measured, n.Name(), n.Graph != nil)
	for _, ms := range all {
		for k := range ms {
			ms[k].Size = ms[k].Size.blocked(p.Costs.ChannelBlock)
		}
	}
	return all
}

// class is the class of networks that grow from the same network as the measured one.
func (m Measurement) class() string { return cmp.Or(m.Class, m.Network) }

func relativesOf(measured []Measurement, class string, graph bool) (all []relative) {
	at := map[string]int{}
	for i := range measured {
		m := &measured[i]
		if m.class() != class || m.Graph != graph || m.Size == (Size{}) {
			continue
		}
		k, known := at[m.Fingerprint]
		if !known {
			k = len(all)
			at[m.Fingerprint], all = k, append(all, nil)
		}
		all[k] = append(all[k], *m)
	}
	return all
}

// blocked counts the operations of measurements on rounded channels.
func blocked(measured []Measurement, block int) []Measurement {
	all := slices.Clone(measured)
	for k := range all {
		all[k].Size = all[k].Size.blocked(block)
	}
	return all
}

// leastDistance keeps weights finite for networks of equal size.
const leastDistance = 1e-3

// correction is the ratio of the measured to the fitted times of relatives: a geometric mean, weighted by the inverse
// fourth power of the distance in size (Shepard 1968). A network that grows a little therefore costs a little more than
// before, whether it was measured or not. Without relatives it is 1.
func correction(all []relative, of Size, rows int, time timeOf, r Rates) float64 {
	sum, weights := 0.0, 0.0
	for _, ms := range all {
		size := ms[0].Size
		measured, known := between(ms, rows, time, r)
		fitted := r.seconds(size, rows)
		if !known || fitted <= 0 || measured <= 0 {
			continue
		}
		weight := math.Pow(size.distance(of)+leastDistance, -4)
		sum, weights = sum+weight*math.Log(measured/fitted), weights+weight
	}
	if weights == 0 {
		return 1
	}
	return math.Exp(sum / weights)
}

// distance is the sum of the absolute logarithms of the ratios of two networks' quantities.
func (s Size) distance(of Size) float64 {
	a, b, sum := s.counts(1), of.counts(1), 0.0
	for k := range a {
		sum += math.Abs(math.Log((a[k] + 1) / (b[k] + 1)))
	}
	return sum
}

// Growth describes how accurately a profile predicts the costs of the networks that grow from a given network. These
// networks were not measured, but other networks of the same class (relatives) may have been.
type Growth struct {
	Measured  bool // the network itself was measured
	Relatives int  // number of other measured networks in its class
	// prediction errors for the relatives, each predicted from the others; zero for fewer than two relatives
	Step, Batch FitError
}

// Worst returns the largest error of all predictions, for steps and for evaluation batches.
func (g Growth) Worst() float64 { return max(g.Step.Worst, g.Batch.Worst) }

// GrowthOf describes how accurately a profile predicts the costs of the networks that grow from a given network. The
// profile must have rates per unit of work.
func (p *Profile) GrowthOf(n *model.Network) Growth {
	all := p.relatives(n)
	g, print := Growth{Relatives: len(all)}, net2net.Fingerprint(n)
	for _, ms := range all {
		if ms[0].Fingerprint == print {
			g.Measured, g.Relatives = true, len(all)-1
		}
	}
	if len(all) > 1 && p.hasRates() {
		measured := blocked(p.Measured, p.Costs.ChannelBlock)
		some := func(m Measurement) bool { return m.class() == n.Name() && m.Graph == (n.Graph != nil) }
		g.Step, g.Batch = missOf(measured, stepTime, alone, some), missOf(measured, batchTime, alone, some)
	}
	return g
}
