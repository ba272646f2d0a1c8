package goodput

import "math"

// Constants of the line search: parameters of the weak Wolfe conditions as in Lewis and Overton, "Nonsmooth
// optimization via quasi-Newton methods", 2013, and limits of its work.
const (
	decrease  = 1e-4
	curvature = 0.9
	mostSteps = 400
	mostHalf  = 50
	least     = 1e-11 // minimum relative decrease that justifies a step
	patience  = 4     // consecutive steps below it
	mostRuns  = 12    // runs of the search, each from the end of the one before
)

// nudges are changes of the logarithm of a parameter.
var nudges = []float64{1, 0.1, 0.01, 0.001}

// search minimises a problem in the logarithms of its parameters, which gives them similar scales. It uses BFGS
// directions over the parameters that are not at a bound. The objective has kinks at exactly fitted times; BFGS with a
// weak line search still converges there.
type search struct {
	p            *problem
	at, low      vector // logarithms
	high, slope  vector
	value        float64
	inverse      [parameters][parameters]float64 // estimate of the inverse of the Hessian
	free         [parameters]bool
	fresh, stuck bool
}

func (p *problem) minimum() vector {
	s := &search{p: p}
	for k := range s.at {
		s.at[k], s.low[k], s.high[k] = math.Log(p.start[k]), math.Log(p.low[k]), math.Log(p.high[k])
	}
	s.value, s.slope = s.evaluate(s.at)
	for range mostRuns {
		before := s.value
		s.run()
		s.nudge()
		if !s.better(before) {
			break
		}
	}
	return s.values(s.at)
}

// better reports whether the objective has decreased by more than rounding.
func (s *search) better(before float64) bool { return before-s.value > least*max(math.Abs(before), 1) }

// run descends until steps no longer pay.
func (s *search) run() {
	s.stuck = false
	s.reset()
	for idle, n := 0, 0; n < mostSteps && idle < patience && !s.stuck; n++ {
		before := s.value
		s.step()
		if idle++; s.better(before) {
			idle = 0
		}
	}
}

// nudge moves parameters one by one out of a kink at which no direction of the search leads down.
func (s *search) nudge() {
	for _, by := range nudges {
		for k := range s.at {
			for _, sign := range []float64{-1, 1} {
				at := s.at
				at[k] = min(max(at[k]+sign*by, s.low[k]), s.high[k])
				if value, slope := s.evaluate(at); value < s.value {
					s.at, s.value, s.slope = at, value, slope
				}
			}
		}
	}
}

// values returns the parameters for logarithms, exactly within the bounds.
func (s *search) values(at vector) (v vector) {
	for k, x := range at {
		v[k] = min(max(math.Exp(x), s.p.low[k]), s.p.high[k])
	}
	return v
}

func (s *search) evaluate(at vector) (float64, vector) {
	v := s.values(at)
	value, slope := s.p.objective(v)
	for k := range slope {
		slope[k] *= v[k]
	}
	return value, slope
}

// reset discards curvature, and frees the parameters that may move.
func (s *search) reset() {
	s.inverse, s.fresh = [parameters][parameters]float64{}, true
	for k := range s.inverse {
		s.inverse[k][k] = 1
		s.free[k] = s.movable(k)
	}
}

// movable reports whether a parameter is off its bounds, or the objective decreases away from them.
func (s *search) movable(k int) bool {
	switch {
	case s.low[k] == s.high[k]:
		return false
	case s.at[k] <= s.low[k]:
		return s.slope[k] < 0
	case s.at[k] >= s.high[k]:
		return s.slope[k] > 0
	}
	return true
}

// step takes a step, or sets stuck if there is none.
func (s *search) step() {
	d, down := s.direction()
	if down >= 0 && !s.fresh {
		s.reset()
		d, down = s.direction()
	}
	if down >= 0 {
		s.stuck = true
		return
	}
	most := s.room(&d)
	length, at, value, slope, ok := s.line(&d, down, most)
	if !ok {
		s.stuck = s.fresh
		s.reset()
		return
	}
	was, old := s.at, s.slope
	s.at, s.value, s.slope = at, value, slope
	if length == most || s.released() {
		s.reset()
		return
	}
	s.update(was, old)
}

// direction returns a descent direction and its slope.
func (s *search) direction() (d vector, down float64) {
	for i := range d {
		if !s.free[i] {
			continue
		}
		for j := range d {
			if s.free[j] {
				d[i] -= s.inverse[i][j] * s.slope[j]
			}
		}
		down += d[i] * s.slope[i]
	}
	return d, down
}

// room is the step length at which the first parameter reaches its bound.
func (s *search) room(d *vector) float64 {
	most := math.Inf(1)
	for k, x := range d {
		switch {
		case x < 0:
			most = min(most, (s.low[k]-s.at[k])/x)
		case x > 0:
			most = min(most, (s.high[k]-s.at[k])/x)
		}
	}
	return most
}

// released reports whether a parameter at a bound may leave it.
func (s *search) released() bool {
	for k := range s.free {
		if !s.free[k] && s.movable(k) {
			return true
		}
	}
	return false
}

// line halves and doubles the step length until the weak Wolfe conditions hold, or the step ends at a bound.
func (s *search) line(d *vector, down, most float64) (length float64, at vector, value float64, slope vector, ok bool) {
	low, high := 0.0, math.Inf(1)
	length = min(1, most)
	if s.fresh {
		length = min(length, 1/s.length(d))
	}
	for range mostHalf {
		at = s.moved(d, length)
		value, slope = s.evaluate(at)
		along := 0.0
		for k := range d {
			along += d[k] * slope[k]
		}
		switch {
		case !(value <= s.value+decrease*length*down):
			high = length
		case along < curvature*down && length < most:
			low, ok = length, true
		default:
			return length, at, value, slope, true
		}
		if length = min(2*low, most); !math.IsInf(high, 1) {
			length = (low + high) / 2
		}
	}
	if ok {
		at = s.moved(d, low)
		value, slope = s.evaluate(at)
	}
	return low, at, value, slope, ok
}

func (s *search) length(d *vector) float64 {
	sum := 0.0
	for _, x := range d {
		sum += x * x
	}
	return max(math.Sqrt(sum), tiny)
}

func (s *search) moved(d *vector, length float64) vector {
	at := s.at
	for k := range at {
		if at[k] += length * d[k]; d[k] != 0 {
			at[k] = min(max(at[k], s.low[k]), s.high[k])
		}
	}
	return at
}

// update updates the curvature from a step, as in BFGS.
func (s *search) update(was, old vector) {
	var moved, changed, product vector
	var both, square float64
	for k := range moved {
		if s.free[k] {
			moved[k], changed[k] = s.at[k]-was[k], s.slope[k]-old[k]
		}
		both += moved[k] * changed[k]
		square += changed[k] * changed[k]
	}
	if !(both > 0) {
		return
	}
	if s.fresh {
		for k := range s.inverse {
			s.inverse[k][k] = both / square
		}
		s.fresh = false
	}
	size := 0.0
	for i := range product {
		for j := range product {
			product[i] += s.inverse[i][j] * changed[j]
		}
		size += product[i] * changed[i]
	}
	for i := range product {
		for j := range product {
			s.inverse[i][j] += (both+size)/(both*both)*moved[i]*moved[j] -
				(product[i]*moved[j]+moved[i]*product[j])/both
		}
	}
}
