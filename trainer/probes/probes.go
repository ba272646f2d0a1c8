package probes

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"graft/model"
)

// Probe is a network to measure on a batch. Each is drawn from its own random numbers, so a change of a family does not
// change the networks of the others.
type Probe struct {
	Network *model.Network // without weights
	Rows    int            // number of examples in the batch
}

// Options configures Draw.
type Options struct {
	Count int    // number of probes; zero means 400
	Seed  uint64 // seed of the random sizes
}

const (
	defaultCount = 400
	// most operations of a forward pass on a batch, so that a step takes at most some seconds
	mostOperations = 1e10
	// most values of the inputs and activations of a batch
	mostValues = 3e7
)

// Draw draws probes of all families.
func Draw(o Options) ([]Probe, error) {
	if o.Count == 0 {
		o.Count = defaultCount
	}
	var all []Probe
	for k := 0; len(all) < o.Count; k++ {
		family := families[k%len(families)]
		p, err := family(&drawer{rand.New(rand.NewPCG(o.Seed, uint64(k)))})
		if err != nil {
			return nil, fmt.Errorf("draw network %d: %w", k+1, err)
		}
		small, err := affordable(p)
		if err != nil {
			return nil, fmt.Errorf("draw network %d: %w", k+1, err)
		}
		if small {
			all = append(all, p)
		}
	}
	return all, nil
}

// families are drawn in turn.
var families = []func(*drawer) (Probe, error){
	tree(convolutional), graphOf(convolutional), tree(residual), languageModel, tree(separable), tree(convolutional),
	graphOf(residual), tree(perceptron), tree(residual), graphOf(convolutional), languageModel, tree(convolutional),
	graphOf(separable), graphOf(perceptron), tree(convolutional), graphOf(inverted), visionTransformer, tree(inverted),
	excited, convNeXt,
}

// affordable reports whether a probe is small enough.
func affordable(p Probe) (bool, error) {
	rows, err := p.Network.Sheet()
	if err != nil {
		return false, err
	}
	operations, values := 0.0, float64(p.Network.Input.Count())
	for _, r := range rows {
		operations += float64(r.Operations)
		values += float64(r.ActivationBytes) / 4
	}
	batch := float64(p.Rows)
	return operations*batch <= mostOperations && values*batch <= mostValues, nil
}

// drawer draws sizes.
type drawer struct{ *rand.Rand }

// size draws an integer whose logarithm is uniform.
func (d *drawer) size(least, most int) int {
	low, high := math.Log(float64(least)), math.Log(float64(most+1))
	return min(most, int(math.Exp(low+(high-low)*d.Float64())))
}

// channels draws a number of channels. Most of them are multiples of 16 or 8 or powers of two, as people choose them,
// and for which kernels have other speeds.
func (d *drawer) channels(least, most int) int {
	n := d.size(least, most)
	switch block := pick(d, 1, 8, 8, 16, 16, 16, 16, 16, 0, 0); {
	case block == 0:
		if power := 1 << (bits.Len(uint(n)) - 1); power >= least {
			n = power
		}
	case n >= block:
		n -= n % block
	}
	return n
}

func (d *drawer) chance(of float64) bool { return d.Float64() < of }

func pick[T any](d *drawer, of ...T) T { return of[d.IntN(len(of))] }
