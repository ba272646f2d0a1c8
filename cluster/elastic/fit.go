package elastic

import (
	"errors"
	"fmt"
	"math"
)

// Measurement is the measured speed of a model for a number of servers and a number of workers.
type Measurement struct {
	Servers int `json:"servers"` // number of parameter servers
	Workers int `json:"workers"` // number of workers
	// total speed of all workers per second, in the unit of EpochSize (steps or samples); zero marks a failed
	// measurement
	Speed float64 `json:"speed"`
}

// maxMeasurements limits the size of the linear system of a fit.
const maxMeasurements = 1024

// FitTable interpolates the measurements of each model into a table. The table covers up to "most" servers and up to
// "most" workers. FitTable skips failed measurements or, if keepFailed is true, keeps them as zeros.
func FitTable(measured map[string][]Measurement, most int, keepFailed bool) (Table, error) {
	table := Table{}
	for name, points := range measured {
		s, err := fitSurface(points, keepFailed)
		if err != nil {
			return nil, fmt.Errorf("interpolate speeds of %s: %w", name, err)
		}
		table[name] = s.tabulate(most)
	}
	return table, nil
}

// surface is an interpolant by radial basis functions with the kernel |x| (Hardy, "Multiquadric equations of topography
// and other irregular surfaces", 1971, with shape parameter zero).
type surface struct {
	points  []Measurement
	weights []float64
}

func fitSurface(points []Measurement, keepFailed bool) (*surface, error) {
	s := &surface{}
	seen := map[[2]int]bool{}
	for _, p := range points {
		at := [2]int{p.Servers, p.Workers}
		switch {
		case p.Servers < 1 || p.Workers < 1 || !(p.Speed >= 0):
			return nil, fmt.Errorf("a measurement has %d servers, %d workers and speed %g; expected at least 1 server "+
				"and 1 worker, and a speed of at least 0", p.Servers, p.Workers, p.Speed)
		case p.Speed == 0 && !keepFailed:
			continue
		case seen[at]:
			return nil, fmt.Errorf("duplicate measurement for %d servers and %d workers; keep one",
				p.Servers, p.Workers)
		}
		seen[at] = true
		s.points = append(s.points, p)
	}
	if n := len(s.points); n == 0 || n > maxMeasurements {
		return nil, fmt.Errorf("got %d usable measurements; expected 1 to %d", n, maxMeasurements)
	}
	return s, s.solve()
}

func (s *surface) solve() (err error) {
	n := len(s.points)
	if n == 1 {
		return errors.New("interpolation needs at least two measurements, but only one is usable; add another")
	}
	a, b := make([][]float64, n), make([]float64, n)
	for i, p := range s.points {
		b[i] = p.Speed
		a[i] = make([]float64, n)
		for j, q := range s.points {
			a[i][j] = distance(p, q)
		}
	}
	s.weights, err = solveLU(a, b)
	return err
}

func distance(p, q Measurement) float64 {
	return math.Hypot(float64(p.Servers-q.Servers), float64(p.Workers-q.Workers))
}

func (s *surface) at(servers, workers int) (speed float64) {
	for i, p := range s.points {
		speed += s.weights[i] * distance(p, Measurement{Servers: servers, Workers: workers})
	}
	return speed
}

func (s *surface) tabulate(most int) [][]float64 {
	rows := make([][]float64, most)
	for p := range rows {
		rows[p] = make([]float64, most)
		for w := range rows[p] {
			rows[p][w] = s.at(p+1, w+1)
		}
	}
	return rows
}

// solveLU solves ax = b by LU decomposition with partial pivoting (Golub and Van Loan, "Matrix
// Computations", algorithm 3.4.1). It overwrites a and b.
func solveLU(a [][]float64, b []float64) ([]float64, error) {
	for k := range a {
		pivot := k
		for i := k + 1; i < len(a); i++ {
			if math.Abs(a[i][k]) > math.Abs(a[pivot][k]) {
				pivot = i
			}
		}
		if a[pivot][k] == 0 {
			return nil, errors.New("the system of linear equations is singular; remove duplicate measurements")
		}
		a[k], a[pivot] = a[pivot], a[k]
		b[k], b[pivot] = b[pivot], b[k]
		for i := k + 1; i < len(a); i++ {
			subtractRow(a[i][k:], a[k][k:], a[i][k]/a[k][k])
			b[i] -= a[i][k] * b[k]
		}
	}
	return substituteBack(a, b), nil
}

// subtractRow eliminates a row's first entry and stores the factor in its place.
func subtractRow(row, from []float64, factor float64) {
	row[0] = factor
	for j := 1; j < len(row); j++ {
		row[j] -= factor * from[j]
	}
}

func substituteBack(a [][]float64, b []float64) []float64 {
	for k := len(b) - 1; k >= 0; k-- {
		for j := k + 1; j < len(b); j++ {
			b[k] -= a[k][j] * b[j]
		}
		b[k] /= a[k][k]
	}
	return b
}
