package operators

import (
	"math"
	"slices"

	"graft/internal/stat"
)

// LeftOutNetworks holds the errors of a device's measured networks if each network is predicted from the others: the
// sums of the times of their different operators, in both passes. They estimate the error for a new network that
// resembles the measured ones.
type LeftOutNetworks struct {
	Networks    int     // number of networks; zero means that nothing was measured
	Median, Ten float64 // median relative error, and the error that one network in ten exceeds
}

// network identifies the steps in which an operator was measured. Different networks may be equal in it; then they are
// left out together.
type network struct{ footprint, kinds int }

func networkOf(m *measured) network { return network{m.call.sizes[footprint], m.call.sizes[kinds]} }

// LeaveOut returns the errors of the measured networks.
func (d *Device) LeaveOut() (found LeftOutNetworks) {
	sums := map[network]*[2]float64{} // measured and predicted
	d.fit().leaveOut(func(m *measured, predicted [pointTimes]float64) {
		at := networkOf(m)
		if sums[at] == nil {
			sums[at] = &[2]float64{}
		}
		for back := range evaluationTime {
			sums[at][0] += m.times[back]
			sums[at][1] += predicted[back]
		}
	})
	var errors []float64
	for _, s := range sums {
		errors = append(errors, math.Abs(s[1]/s[0]-1))
	}
	if len(errors) == 0 {
		return found
	}
	slices.Sort(errors)
	return LeftOutNetworks{len(errors), stat.Quantile(errors, 0.5), stat.Quantile(errors, 0.9)}
}

// leaveOut predicts each measurement from the operator's measurements in other networks. Operators that were measured
// in one network only are skipped.
func (f *deviceFit) leaveOut(tell func(m *measured, predicted [pointTimes]float64)) {
	for _, name := range f.names {
		own := f.points[name]
		groups := map[network][]int{}
		for k := range own {
			groups[networkOf(&own[k])] = append(groups[networkOf(&own[k])], k)
		}
		if len(groups) < 2 {
			continue
		}
		predicted := newSurface(own, f.related(name), f.rates).leaveOut(own, groups)
		for k := range own {
			tell(&own[k], predicted[k])
		}
	}
}

// leaveOut returns the times of each of the operator's own measurements, predicted without the measurements of its
// group. The base is the one of all measurements. The residual of a group is the solution of the system of the group's
// block of the inverse covariances (Rasmussen and Williams 2006, section 5.4.2, for single measurements).
func (s *surface) leaveOut(own []measured, groups map[network][]int) [][pointTimes]float64 {
	predicted := make([][pointTimes]float64, len(own))
	for back := range evaluationTime {
		inverse := stat.NewCholesky(s.covariances(s.variances[back])).Inverse()
		for _, group := range groups {
			block, residuals := make([][]float64, len(group)), make([]float64, len(group))
			for i, k := range group {
				for _, j := range group[:i+1] {
					block[i] = append(block[i], inverse[k][j])
				}
				residuals[i] = s.weights[k][back] / s.variances[back]
			}
			stat.NewCholesky(block).Solve(residuals)
			for i, k := range group {
				if own[k].times[back] > 0 {
					predicted[k][back] = own[k].times[back] * math.Exp(-residuals[i])
				}
			}
		}
	}
	return predicted
}
