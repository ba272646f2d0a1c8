package curves

import "math"

// Kind is a way in which a network grows.
type Kind int

// Ways to grow.
const (
	Deepen Kind = iota
	Widen
	kinds = 2 // number of ways
)

// String returns the name of the action.
func (k Kind) String() string { return [kinds]string{"deepen", "widen"}[k] }

// Network counts how often a network has grown.
type Network [kinds]int

// Grown returns the network after another growth.
func (n Network) Grown(k Kind) Network {
	n[k]++
	return n
}

// Total returns the number of growths.
func (n Network) Total() int { return n[Deepen] + n[Widen] }

// Terms are the logarithm of a quantity: its value for the initial network, and the change with each growth.
type Terms struct {
	Initial float64 `json:"initial"` // logarithm for the initial network
	Deepen  float64 `json:"deepen"`  // change with each deepening
	Widen   float64 `json:"widen"`   // change with each widening
}

func (t Terms) at(n Network) float64 {
	return math.Exp(t.Initial + t.Deepen*float64(n[Deepen]) + t.Widen*float64(n[Widen]))
}

// Curve is the learning curve of a network that grows. Its error e, the share of wrong answers, falls with training:
//
//	de/dx = -rate (e - floor)^(1+power)
//
// The unit of x is the training of the initial network for a whole budget. The solution is a power law, the usual form
// of learning curves (Hestness et al., Deep learning scaling is predictable, empirically, 2017). Growth changes the
// rate, the floor and the time of a step. It keeps the error, except for a loss by noise on new weights.
type Curve struct {
	Name    string  `json:"name"`    // name of the table
	Chance  float64 `json:"chance"`  // error before training
	Power   float64 `json:"power"`   // exponent of the equation minus one
	Rate    Terms   `json:"rate"`    // logarithm of the rate, relative to the power law from chance
	Floor   Terms   `json:"floor"`   // logarithm of the logarithm of chance divided by the floor
	Loss    Terms   `json:"loss"`    // logarithm of the share of the gained accuracy that a growth loses
	Step    Terms   `json:"step"`    // logarithm of the time of a step, relative to the initial network
	Actions int     `json:"actions"` // largest number of growths in the table
	First   float64 `json:"first"`   // share of the budget before the first decision of the table
	Fit     Quality `json:"fit"`     // errors of predictions
}

// Measured reports whether the table of a curve has a kind of growth. The fit leaves all effects of another kind at
// zero.
func (c *Curve) Measured(k Kind) bool {
	for _, t := range []Terms{c.Rate, c.Floor, c.Step} {
		if k == Deepen && t.Deepen != 0 || k == Widen && t.Widen != 0 {
			return true
		}
	}
	return false
}

// Quality holds the errors of predicted final accuracies. Each sequence is predicted from the other sequences only.
type Quality struct {
	Sequences int     `json:"sequences"`       // number of sequences
	Error     float64 `json:"error_points"`    // mean absolute error
	Constant  float64 `json:"constant_points"` // mean absolute error of the mean accuracy of the other sequences
	Noise     float64 `json:"noise_points"`    // mean standard error of the accuracies in the table; zero for one seed
	Regret    float64 `json:"regret_points"`   // best accuracy minus the accuracy of the sequence predicted as best
	Never     float64 `json:"never_points"`    // best accuracy minus the accuracy without growth; zero if unknown
}

// floor is the error that a network approaches.
func (c *Curve) floor(n Network) float64 { return c.Chance * math.Exp(-c.Floor.at(n)) }

// progress converts a share of the budget into x, in the units of the power law.
func (c *Curve) progress(n Network, share float64) float64 {
	return share / c.Slower(n) * c.Rate.at(n) * c.Power * math.Pow(c.Chance, -c.Power)
}

// Slower returns the time of a step relative to the initial network.
func (c *Curve) Slower(n Network) float64 { return c.Step.at(n) }

// Train returns the error of a network after training for a share of the budget.
func (c *Curve) Train(n Network, e, share float64) float64 {
	floor := c.floor(n)
	if e <= floor || share <= 0 {
		return e
	}
	return floor + math.Pow(math.Pow(e-floor, -c.Power)+c.progress(n, share), -1/c.Power)
}

// Needs returns the share of the budget after which a network has an error; infinity if it never has.
func (c *Curve) Needs(n Network, e, target float64) float64 {
	floor := c.floor(n)
	switch {
	case e <= target:
		return 0
	case target <= floor:
		return math.Inf(1)
	}
	missing := math.Pow(target-floor, -c.Power) - math.Pow(e-floor, -c.Power)
	return missing / c.progress(n, 1)
}

// Grow returns the error of a network directly after a growth.
func (c *Curve) Grow(k Kind, e float64) float64 {
	lost := c.Loss.Deepen
	if k == Widen {
		lost = c.Loss.Widen
	}
	return e + (c.Chance-e)*(1-math.Exp(-math.Exp(lost)))
}
