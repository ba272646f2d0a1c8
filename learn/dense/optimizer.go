package dense

import (
	"fmt"
	"math"
)

// Adam is the optimizer of Kingma and Ba (ICLR 2015) in the order of operations of its section 2's last
// paragraph: the step size takes the bias correction, and eps is added to the uncorrected root.
type Adam struct {
	Rate         float64 // learning rate
	Beta1, Beta2 float64 // decays of the moments; zero means 0.9 and 0.999
	Eps          float64 // zero means 1e-8

	Steps         int // that were taken
	first, second [][]float64
}

// Step moves parameters against gradients. A gradient that is not finite is an error, and nothing is
// changed.
func (a *Adam) Step(params, gradients [][]float64) error {
	if err := Finite(fmt.Sprintf("gradient of step %d", a.Steps+1), gradients); err != nil {
		return err
	}
	b1, b2, eps := or(a.Beta1, 0.9), or(a.Beta2, 0.999), or(a.Eps, 1e-8)
	if a.first == nil {
		a.first, a.second = like(params), like(params)
	}
	a.Steps++
	t := float64(a.Steps)
	rate := a.Rate * math.Sqrt(1-math.Pow(b2, t)) / (1 - math.Pow(b1, t))
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

func or(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

func like(params [][]float64) [][]float64 {
	all := make([][]float64, len(params))
	for k, p := range params {
		all[k] = make([]float64, len(p))
	}
	return all
}
