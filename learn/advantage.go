package learn

import "math"

// Discounts configures the weight of later rewards.
type Discounts struct {
	Gamma float64 // discount factor per step of time, from 0 to 1; zero means 0.99
	// parameter λ of generalised advantage estimation, from 0 to 1: weight of later rewards relative to the critic's
	// estimate; zero means 0.95
	Lambda float64
}

// EnsureDefaults replaces zeros with the defaults.
func (d *Discounts) EnsureDefaults() {
	if d.Gamma == 0 {
		d.Gamma = 0.99
	}
	if d.Lambda == 0 {
		d.Lambda = 0.95
	}
}

// Advantages returns generalised advantage estimates (Schulman et al., ICLR 2016), and the returns that the critic
// should predict. Rewards after an action are discounted only if time elapses during the action.
func Advantages(steps []Step, d Discounts) (advantages, returns []float64) {
	advantages, returns = make([]float64, len(steps)), make([]float64, len(steps))
	later := 0.0 // advantage of the next step in the same episode
	for k := len(steps) - 1; k >= 0; k-- {
		s := &steps[k]
		next := s.Bootstrap
		if s.Outcome.Done || s.Last {
			later = 0
		} else {
			next = steps[k+1].Value
		}
		gamma := math.Pow(d.Gamma, float64(s.Outcome.Elapsed))
		later = s.Outcome.Reward + gamma*next - s.Value + gamma*d.Lambda*later
		advantages[k], returns[k] = later, later+s.Value
	}
	return advantages, returns
}
