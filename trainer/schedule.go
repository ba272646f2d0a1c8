package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Rule is the rule of a learning rate schedule.
type Rule string

// The rules. The zero Rule is Exponential.
const (
	Exponential Rule = "exponential" // times Decay after each epoch
	Constant    Rule = "constant"
	Cosine      Rule = "cosine" // down to MinLR over the budget
	StepDown    Rule = "step"   // times Decay after each Every epochs
)

// Schedule changes the learning rate. It goes on across surgery.
type Schedule struct {
	// Rule changes the rate: exponential multiplies it by Decay after each epoch, step
	// after every Every epochs, cosine lowers it to MinLR over the budget, constant keeps
	// it. Empty means exponential.
	Rule   Rule
	Decay  float64 // factor of the rate; zero means 0.9 for exponential and 0.1 for step
	Every  int     // epochs between two changes of the rule step; zero means 10
	MinLR  float64 `json:"Least"` // lower bound of the rate; zero means 1e-8
	WarmUp int     // steps over which the rate rises from zero; zero means none
}

// EnsureDefaults fills unset options.
func (s *Schedule) EnsureDefaults() {
	s.Rule = cmp.Or(s.Rule, Exponential)
	s.Decay = cmp.Or(s.Decay, map[Rule]float64{StepDown: 0.1}[s.Rule], 0.9)
	s.Every, s.MinLR = cmp.Or(s.Every, 10), cmp.Or(s.MinLR, 1e-8)
}

// Validate lists all invalid options.
func (s Schedule) Validate() error {
	var faults []error
	switch s.Rule {
	case "", Exponential, Constant, Cosine, StepDown:
	default:
		faults = append(faults, fmt.Errorf("a schedule %q; there are exponential, constant, cosine and step", string(s.Rule)))
	}
	if s.Decay < 0 || s.Decay > 1 || s.Every < 0 || s.MinLR < 0 || s.WarmUp < 0 {
		faults = append(faults, errors.New("a decay lies between 0 and 1, epochs, steps and rates are not negative"))
	}
	return errors.Join(faults...)
}

// Rate is the learning rate after a number of whole epochs and steps, with a share of the
// budget used when the epoch began. The first argument is the rate to begin with.
func (s Schedule) Rate(rate float64, epochs int, steps int64, used float64) float64 {
	first := rate
	switch s.Rule {
	case Exponential:
		rate *= math.Pow(s.Decay, float64(epochs))
	case StepDown:
		rate *= math.Pow(s.Decay, float64(epochs/s.Every))
	case Cosine:
		rate *= (1 + math.Cos(math.Pi*min(1, used))) / 2
	}
	rate = max(rate, min(first, s.MinLR))
	if s.WarmUp > 0 && steps < int64(s.WarmUp) {
		rate *= float64(steps+1) / float64(s.WarmUp)
	}
	return rate
}
