package plot

import "math"

const (
	mostChanges = 600 // maximum number of changes in a curve; with more, the curve shows means over steps
	curveSteps  = 150 // number of these steps
)

const stepsNote = "Curves of more than 600 changes show means over 150 steps."

// stepWidth returns the width of the steps over which a curve is averaged; zero for a curve with few changes.
func stepWidth(at []float64) float64 {
	if len(at) <= mostChanges {
		return 0
	}
	return at[len(at)-1] / curveSteps
}

// stepMeans averages a curve, whose values hold until the next time, over steps of a width from zero. A width of zero
// keeps the curve.
func stepMeans(at, values []float64, width float64) (times, means []float64) {
	if width == 0 || len(at) == 0 {
		return at, values
	}
	steps := int(math.Ceil(at[len(at)-1] / width))
	times, means = make([]float64, steps), make([]float64, steps)
	for k := range steps {
		times[k] = width * float64(k)
	}
	for k := range len(at) - 1 {
		for step := int(at[k] / width); step < steps && times[step] < at[k+1]; step++ {
			share := max(0, min(at[k+1], times[step]+width)-max(at[k], times[step])) / width
			means[step] += values[k] * share
		}
	}
	return times, means
}
