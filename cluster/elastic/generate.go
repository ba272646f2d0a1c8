package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/internal/random/numpy"
	"graft/internal/validate"
)

// Arrivals names an arrival process.
type Arrivals int

const (
	// UniformArrivals generates the same number of jobs in each slot.
	UniformArrivals Arrivals = iota
	// PoissonArrivals draws the number of jobs of each slot. Numbers above the mean are reduced to the mean, as in
	// the original simulator, so the actual mean is lower.
	PoissonArrivals
	// PatternArrivals repeats given numbers of jobs from a random position. Numbers above the rate are reduced to it.
	PatternArrivals
)

// patternSlots is the number of slots after which uniform and Poisson arrivals repeat.
const patternSlots = 100

// GenerateOptions holds the options of a generated workload. The zero value means 60 jobs, with at most three
// arrivals per slot.
type GenerateOptions struct {
	Jobs      int      // number of jobs; zero means 60
	Arrivals  Arrivals // arrival process; zero means UniformArrivals
	Rate      int      // maximum number of jobs that arrive in a slot, and the mean of PoissonArrivals; zero means 3
	Pattern   []int    // number of jobs in each slot, for PatternArrivals only
	MaxEpochs float64  // number of epochs of a job whose type has length 1; zero means 30,000
	// maximum relative error of estimated epochs, drawn uniformly from ± this value, in [0, 1); zero means no
	// error
	EpochError float64
	Jitter     bool // multiplies the epochs of each job by a random factor from 0.90 to 1.09
}

// EnsureDefaults fills unset options.
func (o *GenerateOptions) EnsureDefaults() {
	o.Jobs, o.Rate, o.MaxEpochs = cmp.Or(o.Jobs, 60), cmp.Or(o.Rate, 3), cmp.Or(o.MaxEpochs, 30_000)
}

// Validate returns an error that lists every invalid option.
func (o *GenerateOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Jobs < 1 || o.Jobs > maxJobs, "the number of jobs is %d; expected 1 to %d", o.Jobs, maxJobs)
	faults.When(o.Rate < 1 || o.Rate > maxJobs, "the maximum number of arrivals per slot is %d; expected 1 to %d",
		o.Rate, maxJobs)
	faults.Unless(o.MaxEpochs >= 1 && o.MaxEpochs <= maxEpochs,
		"the maximum number of epochs is %g; expected 1 to %g", o.MaxEpochs, float64(maxEpochs))
	faults.When(!(o.EpochError >= 0 && o.EpochError < 1),
		"the relative error of the estimated epochs is %g; expected at least 0 and less than 1", o.EpochError)
	return errors.Join(append(faults, o.patternFault())...)
}

func (o *GenerateOptions) patternFault() error {
	switch o.Arrivals {
	case UniformArrivals, PoissonArrivals:
		return nil
	case PatternArrivals:
		for _, n := range o.Pattern {
			if n > 0 {
				return nil
			}
		}
		return errors.New("the arrival pattern has no jobs; set the number of arrivals in each slot")
	}
	return fmt.Errorf("unknown arrival process %d; expected UniformArrivals, PoissonArrivals or PatternArrivals",
		o.Arrivals)
}

// Draws is a source of random numbers.
type Draws interface {
	// Float64 returns a number from 0, inclusive, to 1, exclusive.
	Float64() float64
	// IntN returns an integer from low to high-1.
	IntN(low, high int) int
	// Poisson returns a Poisson-distributed number.
	Poisson(mean float64) int
}

// NewDraws returns the random number generator for a seed.
func NewDraws(seed uint64) Draws { return draws{rand.New(rand.NewPCG(seed, workloadStream))} }

// workloadStream is the stream of random numbers of workloads.
const workloadStream = 2

type draws struct{ *rand.Rand }

func (d draws) IntN(low, high int) int { return low + d.Rand.IntN(max(1, high-low)) }

func (d draws) Poisson(mean float64) int { return numpy.Poisson(d.Float64, mean) }

// Generate creates a random workload. It draws random numbers in the order of the original simulator. With random
// numbers from Python's package NumPy, it reproduces the workloads of that simulator.
func Generate(types []JobType, o GenerateOptions, from Draws) ([]Spec, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("generate a workload: %w", err)
	}
	if len(types) == 0 {
		return nil, errors.New("generate a workload: there are no job types; expected at least one")
	}
	pattern := o.pattern(from)
	offset := from.IntN(0, maxOffset)
	var jobs []Spec
	for slot := 0; len(jobs) < o.Jobs; slot++ {
		if slot > maxArrival {
			return nil, fmt.Errorf("generate a workload: only %d of %d jobs arrive within %d slots; raise the number "+
				"of arrivals per slot", len(jobs), o.Jobs, maxArrival)
		}
		for range min(o.Rate, pattern[(slot+offset)%len(pattern)], o.Jobs-len(jobs)) {
			jobs = append(jobs, o.job(types, len(jobs)+1, slot, from))
		}
	}
	return jobs, nil
}

// maxOffset is the number of slots within which the pattern may start.
const maxOffset = 5

func (o *GenerateOptions) pattern(from Draws) (list []int) {
	if o.Arrivals == PatternArrivals {
		return o.Pattern
	}
	for range patternSlots {
		n := o.Rate
		if o.Arrivals == PoissonArrivals {
			n = from.Poisson(float64(o.Rate))
		}
		list = append(list, n)
	}
	return list
}

func (o *GenerateOptions) job(types []JobType, id, slot int, from Draws) Spec {
	kind := from.IntN(0, len(types))
	epochs := types[kind].epochs(o.MaxEpochs)
	if o.Jitter {
		epochs = epochs * float64(from.IntN(90, 110)) / 100
	}
	return Spec{ID: id, Type: kind + 1, Arrival: slot, Epochs: epochs,
		RealEpochs: errorFactor(o.EpochError, from) * epochs}
}

// epochs returns the epochs of a job of a type, whole and at least one.
func (t *JobType) epochs(most float64) float64 { return max(1, math.Trunc(t.Length*most)) }

// errorFactor draws the ratio of a true length to its estimate.
func errorFactor(relative float64, from Draws) float64 {
	return 1 + float64(relative*(2*from.Float64()-1))
}
