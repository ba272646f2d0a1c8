package fabric

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/validate"
)

// Demand describes the arriving jobs. To add a distribution of time limits, add an entry to the map "draws".
type Demand struct {
	Jobs  int     // number of jobs; zero means 200
	Steps int     // training steps per job; zero means 50, as in PAC-ML's experiments
	Load  float64 // average fraction of busy servers if every job ran on one server; zero means 1
	Every float64 // mean time between two arrivals in seconds; zero derives it from Load
	Gaps  Gaps    // distribution of the times between arrivals; empty means exponential
	// amplitude of the periodic change of the load, relative to the load, in [0, 1); zero keeps the load constant. The
	// mean load is lower than Load: see [Demand.Mean]
	Swing   float64
	Period  int       // jobs per period of the load; zero means 50
	Weights []float64 // relative frequency of each model, in order; nil means equal frequencies
	Limits  Limits    // time limits of jobs
}

// Gaps is a distribution of the times between arrivals.
type Gaps string

// Distributions of times between arrivals.
const (
	Exponential Gaps = "exponential"
	Regular     Gaps = "regular" // times that all equal the mean
)

// Limits is the distribution of a job's time limit, as a fraction of the job's time on one server.
type Limits struct {
	Kind string // name of the distribution: fixed, uniform, skewed or values; empty means uniform
	// Least and Most are the smallest and largest limit of the distributions uniform and skewed. The distribution fixed
	// gives each job the limit Most. Zero means 0.1 for Least and 1 for Most.
	Least, Most float64
	Skewness    float64   // skewness of the kind skewed: positive values give more short limits
	Values      []float64 // limits to draw from, for the kind values
	Shares      []float64 // relative frequency of each of Values; nil means equal frequencies
}

// EnsureDefaults replaces zero values with defaults.
func (d *Demand) EnsureDefaults() {
	set := func(v *int, value int) {
		if *v == 0 {
			*v = value
		}
	}
	set(&d.Jobs, 200)
	set(&d.Steps, 50)
	set(&d.Period, 50)
	if d.Load == 0 {
		d.Load = 1
	}
	if d.Gaps == "" {
		d.Gaps = Exponential
	}
	d.Limits.ensureDefaults()
}

func (l *Limits) ensureDefaults() {
	if l.Kind == "" {
		l.Kind = "uniform"
	}
	if l.Most == 0 {
		l.Most = 1
	}
	if l.Least == 0 {
		l.Least = min(0.1, l.Most)
	}
}

// Validate returns an error that lists every invalid option. If Weights is set, it must contain one weight for each
// model. Call EnsureDefaults first.
func (d *Demand) Validate(models int) error {
	var faults validate.Faults
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	faults.Unless(d.Jobs >= 1 && d.Jobs <= maxJobs, "jobs is %d; expected 1 to %d", d.Jobs, maxJobs)
	faults.Unless(d.Steps >= 1 && d.Steps <= 1e9, "steps is %d; expected 1 to 1e9", d.Steps)
	faults.Unless(positive(d.Load), "load is %g; expected more than 0", d.Load)
	faults.Unless(d.Every == 0 || positive(d.Every),
		"arrival_interval is %g s; expected at least 0 (0 derives it from the load)", d.Every)
	faults.Unless(d.Gaps == Exponential || d.Gaps == Regular,
		"arrivals is %q; expected \"exponential\" or \"regular\"", d.Gaps)
	faults.Unless(d.Swing >= 0 && d.Swing < 1, "swing is %g; expected at least 0 and less than 1", d.Swing)
	faults.Unless(d.Period >= 2 && d.Period <= maxJobs, "period is %d jobs; expected 2 to %d", d.Period, maxJobs)
	faults.Unless(d.Weights == nil || len(d.Weights) == models, "weights has %d values for %d models; expected one "+
		"weight for each model", len(d.Weights), models)
	faults.Unless(d.Weights == nil || weighs(d.Weights),
		"weights is %v; expected numbers of at least 0, and at least one above 0", d.Weights)
	return errors.Join(append(faults, d.Limits.validate())...)
}

// weighs reports whether the weights define a distribution.
func weighs(weights []float64) bool {
	sum := 0.0
	for _, w := range weights {
		if !(w >= 0) {
			return false
		}
		sum += w
	}
	return sum > 0 && !math.IsInf(sum, 1)
}

func (l *Limits) validate() error {
	if _, ok := draws[l.Kind]; !ok {
		return fmt.Errorf("limits is %q; expected \"fixed\", \"uniform\", \"skewed\" or \"values\"", l.Kind)
	}
	if !(l.Least > 0 && l.Least <= l.Most && l.Most <= 1) {
		return fmt.Errorf("min_limit is %g and max_limit is %g; expected 0 < min_limit <= max_limit <= 1, as shares "+
			"of the time on one server", l.Least, l.Most)
	}
	if math.IsNaN(l.Skewness) || math.Abs(l.Skewness) > 1000 {
		return fmt.Errorf("skewness is %g; expected -1000 to 1000", l.Skewness)
	}
	if l.Kind != "values" {
		return nil
	}
	if len(l.Values) == 0 || slices.ContainsFunc(l.Values, func(v float64) bool { return !(v > 0 && v <= 1) }) {
		return fmt.Errorf("values is %v; expected at least one limit, each more than 0 and at most 1", l.Values)
	}
	if l.Shares != nil && (len(l.Shares) != len(l.Values) || !weighs(l.Shares)) {
		return fmt.Errorf("shares is %v for %d values; expected one share for each value, each at least 0, and at "+
			"least "+
			"one above 0", l.Shares, len(l.Values))
	}
	return nil
}

// Draw generates the jobs of a study whose models, network and options are set. The same random numbers always give the
// same jobs.
func (d Demand) Draw(s *Study, random *rand.Rand) error {
	d.EnsureDefaults()
	if err := d.Validate(len(s.Models)); err != nil {
		return err
	}
	weights := d.Weights
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(s.Models))
	}
	every := d.Every
	if every == 0 {
		every = d.mean(s, weights) / (d.Load * float64(s.Network.Size()))
	}
	limit := draws[d.Limits.Kind](&d.Limits, random)
	s.Jobs = make([]Job, 0, d.Jobs)
	at := 0.0
	for k := range d.Jobs {
		if k > 0 {
			at += d.gap(k, every, random)
		}
		s.Jobs = append(s.Jobs, Job{Model: pick(weights, random), Limit: limit(), Steps: d.Steps, Arrival: at})
	}
	return nil
}

// mean is the expected time of a job on one server, s.
func (d *Demand) mean(s *Study, weights []float64) float64 {
	sum, all := 0.0, 0.0
	for k, w := range weights {
		sum += w * s.Sequential(&Job{Model: k, Steps: d.Steps})
		all += w
	}
	return sum / all
}

// gap draws the time to the k-th arrival, s.
func (d *Demand) gap(k int, every float64, random *rand.Rand) float64 {
	every /= d.swung(k)
	if d.Gaps == Regular {
		return every
	}
	return every * random.ExpFloat64()
}

// Mean returns the mean of the load over a period, relative to Load. It is below 1 if the load swings: half of the jobs
// arrive while the load is low, which takes longer.
func (d *Demand) Mean() float64 {
	sum := 0.0
	for k := range d.Period {
		sum += 1 / d.swung(k)
	}
	return float64(d.Period) / sum
}

// swung returns the load at the k-th job, relative to Load.
func (d *Demand) swung(k int) float64 {
	return 1 + d.Swing*math.Sin(2*math.Pi*float64(k)/float64(d.Period))
}

// pick draws an index by weights.
func pick(weights []float64, random *rand.Rand) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	left := random.Float64() * sum
	for k, w := range weights {
		if left -= w; left < 0 {
			return k
		}
	}
	return len(weights) - 1
}

// draws has, for each kind, a function that returns a sampler of limits.
var draws = map[string]func(l *Limits, random *rand.Rand) func() float64{
	"fixed": func(l *Limits, _ *rand.Rand) func() float64 { return func() float64 { return l.Most } },
	"uniform": func(l *Limits, random *rand.Rand) func() float64 {
		return func() float64 { return l.Least + (l.Most-l.Least)*random.Float64() }
	},
	"values": func(l *Limits, random *rand.Rand) func() float64 {
		shares := l.Shares
		if shares == nil {
			shares = slices.Repeat([]float64{1}, len(l.Values))
		}
		return func() float64 { return l.Values[pick(shares, random)] }
	},
	"skewed": skewed,
}

// rare is the probability outside the bounds of skewed limits: the probability of an extreme of the 50,000 draws by
// which PAC-ML's experiments scaled their limits.
const rare = 1.0 / 50_000

// skewed draws from a skew normal distribution whose rarest values map to 0 and Most. Values below Least become Least.
// PAC-ML's distributions B, C and D have the skewness 5, 0 and -5.
func skewed(l *Limits, random *rand.Rand) func() float64 {
	low, high := skewQuantile(l.Skewness, rare), skewQuantile(l.Skewness, 1-rare)
	return func() float64 {
		x := skewNormal(l.Skewness, random)
		return min(max(l.Most*(x-low)/(high-low), l.Least), l.Most)
	}
}

// skewNormal draws from the distribution of Azzalini, "A class of distributions which includes the normal ones",
// Scandinavian Journal of Statistics 12, 1985, in his representation.
func skewNormal(skewness float64, random *rand.Rand) float64 {
	delta := skewness / math.Sqrt(1+skewness*skewness)
	return delta*math.Abs(random.NormFloat64()) + math.Sqrt(1-delta*delta)*random.NormFloat64()
}

// skewQuantile is the quantile of a probability, with an error of a few thousandths. It sums the density from -6 on.
func skewQuantile(skewness, probability float64) float64 {
	const step = 1e-3
	x, sum := -6.0, 0.0
	for ; x < 6 && sum < probability; x += step {
		normal := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		sum += step * normal * math.Erfc(-skewness*x/math.Sqrt2)
	}
	return x
}
