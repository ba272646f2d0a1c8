package dense

import (
	"cmp"
	"fmt"
	"math"
)

// Adam is the optimizer of Kingma and Ba (ICLR 2015). By default, it follows the order of operations in the last
// paragraph of section 2: the step size includes the bias correction, and eps is added to the root of the uncorrected
// second moment.
type Adam struct {
	Rate         float64 // learning rate
	Beta1, Beta2 float64 // decay rates of the first and the second moment; zero means 0.9 and 0.999
	Eps          float64 // epsilon, added to the denominator of the update; zero means 1e-8
	// Corrected selects the square root to which eps is added. If Corrected is true, it is the root of the
	// bias-corrected second moment, as in PyTorch. Otherwise it is the root of the uncorrected second moment.
	Corrected bool

	Steps         int // number of steps taken
	first, second [][]float64
}

// Step updates the parameters from their gradients. If a gradient is not finite, it returns an error and changes
// nothing.
func (a *Adam) Step(params, gradients [][]float64) error {
	if err := Finite(fmt.Sprintf("gradient of step %d", a.Steps+1), gradients); err != nil {
		return err
	}
	b1, b2, eps := cmp.Or(a.Beta1, 0.9), cmp.Or(a.Beta2, 0.999), cmp.Or(a.Eps, 1e-8)
	a.Moments(params)
	a.Steps++
	t := float64(a.Steps)
	root := math.Sqrt(1 - math.Pow(b2, t))
	rate := a.Rate * root / (1 - math.Pow(b1, t))
	if a.Corrected {
		eps *= root
	}
	for k, p := range params {
		m, v := a.first[k], a.second[k]
		for at, g := range gradients[k] {
			m[at] = float64(b1*m[at]) + float64((1-b1)*g)
			v[at] = float64(b2*v[at]) + float64((1-b2)*g*g)
			p[at] -= rate * m[at] / (math.Sqrt(v[at]) + eps)
		}
	}
	return nil
}

// RMSProp is the optimizer that divides gradients by the root of a running mean of their squares (Tieleman and
// Hinton, "Neural networks for machine learning", lecture 6.5, 2012). As in TensorFlow 1, the running mean starts at
// one, and eps is added to it.
type RMSProp struct {
	Rate  float64 // learning rate
	Decay float64 // decay rate of the running mean; zero means 0.9
	Eps   float64 // epsilon, added to the running mean; zero means 1e-10

	Steps int // number of steps taken
	means [][]float64
}

// Step updates the parameters from their gradients. If a gradient is not finite, it returns an error and changes
// nothing.
func (r *RMSProp) Step(params, gradients [][]float64) error {
	if err := Finite(fmt.Sprintf("gradient of step %d", r.Steps+1), gradients); err != nil {
		return err
	}
	decay, eps := cmp.Or(r.Decay, 0.9), cmp.Or(r.Eps, 1e-10)
	means := r.Means(params)
	r.Steps++
	for k, p := range params {
		v := means[k]
		for at, g := range gradients[k] {
			v[at] = float64(decay*v[at]) + float64((1-decay)*g*g)
			p[at] -= r.Rate * g / math.Sqrt(v[at]+eps)
		}
	}
	return nil
}

// Means returns the running means of squared gradients, in the shape of the parameters.
func (r *RMSProp) Means(params [][]float64) [][]float64 {
	if r.means == nil {
		r.means = like(params)
		for _, v := range r.means {
			for at := range v {
				v[at] = 1
			}
		}
	}
	return r.means
}

// ClipNorm scales gradients down if their global norm exceeds a maximum, and returns the norm before scaling. A maximum
// of zero leaves gradients unchanged.
func ClipNorm(gradients [][]float64, most float64) (norm float64) {
	for _, g := range gradients {
		norm += Dot(g, g)
	}
	norm = math.Sqrt(norm)
	if most <= 0 || norm <= most {
		return norm
	}
	for _, g := range gradients {
		for k := range g {
			g[k] *= most / (norm + clipEps)
		}
	}
	return norm
}

// clipEps is added to a norm that is divided by; the value is PyTorch's.
const clipEps = 1e-6

func like(params [][]float64) [][]float64 {
	all := make([][]float64, len(params))
	for k, p := range params {
		all[k] = make([]float64, len(p))
	}
	return all
}

// Moments returns the running means of gradients and of squared gradients, in the shape of the parameters.
func (a *Adam) Moments(params [][]float64) (first, second [][]float64) {
	if a.first == nil {
		a.first, a.second = like(params), like(params)
	}
	return a.first, a.second
}
