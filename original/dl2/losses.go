package dl2

import (
	"math"
)

// Constants of the losses.
const (
	clip       = 1e-10 // minimum distance of probabilities from zero and one in the cross-entropy
	entropyEps = 1e-6  // added to probabilities in the logarithm of the entropy
)

// SupervisedLoss is a loss of imitation. It returns its value, and its derivatives with respect to logits instead of
// probabilities. Labels are distributions over actions, zero if the job of an example is outside the window. Each of
// the n examples has the same number of values.
type SupervisedLoss func(probabilities, labels []float64, n int) (loss float64, logits []float64)

// SupervisedLosses are the losses of imitation, by their published names.
var SupervisedLosses = map[string]SupervisedLoss{"Cross_Entropy": CrossEntropy, "Mean_Square": MeanSquare,
	"Absolute_Difference": AbsoluteDifference}

// CrossEntropy averages over examples. Probabilities outside the clip have no gradient.
func CrossEntropy(p, labels []float64, n int) (float64, []float64) {
	loss, d := 0.0, make([]float64, len(p))
	for k, v := range p {
		loss -= labels[k] * math.Log(min(max(v, clip), 1-clip)) / float64(n)
		if v >= clip && v <= 1-clip {
			d[k] = -labels[k] / v / float64(n)
		}
	}
	width := len(p) / n
	for at := 0; at < len(p); at += width { // outputs are divided by their sum once more
		normalized(p[at:at+width], d[at:at+width])
	}
	return loss, throughSoftmax(p, d, n)
}

// normalized propagates derivatives through a division by the sum, which is one.
func normalized(p, d []float64) {
	mean := dot(p, d)
	for k := range d {
		d[k] -= mean
	}
}

// MeanSquare averages over examples and actions.
func MeanSquare(p, labels []float64, n int) (float64, []float64) {
	loss, d := 0.0, make([]float64, len(p))
	for k, v := range p {
		off := v - labels[k]
		loss += off * off / float64(len(p))
		d[k] = 2 * off / float64(len(p))
	}
	return loss, throughSoftmax(p, d, n)
}

// AbsoluteDifference averages over examples and actions.
func AbsoluteDifference(p, labels []float64, n int) (float64, []float64) {
	loss, d := 0.0, make([]float64, len(p))
	for k, v := range p {
		off := v - labels[k]
		loss += math.Abs(off) / float64(len(p))
		if off != 0 {
			d[k] = math.Copysign(1/float64(len(p)), off)
		}
	}
	return loss, throughSoftmax(p, d, n)
}

// Entropy averages p log p over examples and actions: a negative entropy, also divided by the number of actions.
func Entropy(p []float64) (sum float64) {
	for _, v := range p {
		sum += v * math.Log(v+entropyEps)
	}
	return sum / float64(len(p))
}

// PolicyLoss is the loss of reinforcement learning, with a weight of Entropy. It uses the probabilities stored when the
// policy acted, masked and divided by their sum, instead of the network's current ones: the published program feeds
// them into its graph, and the gradient of the softmax uses them too. Each example has the index of its action.
func PolicyLoss(stored []float64, actions []int, advantages []float64,
	weight float64) (loss float64, logits []float64) {
	n := len(actions)
	width, d := len(stored)/n, make([]float64, len(stored))
	for k, v := range stored {
		d[k] = weight / float64(len(stored)) * (math.Log(v+entropyEps) + v/(v+entropyEps))
	}
	for k, a := range actions {
		at := k*width + a
		loss -= math.Log(stored[at]) * advantages[k] / float64(n)
		d[at] -= advantages[k] / stored[at] / float64(n)
	}
	return loss + weight*Entropy(stored), throughSoftmax(stored, d, n)
}

// ValueLoss is the mean squared difference between values and targets.
func ValueLoss(values, targets []float64) (loss float64, d []float64) {
	d = make([]float64, len(values))
	for k, v := range values {
		off := v - targets[k]
		loss += off * off / float64(len(values))
		d[k] = 2 * off / float64(len(values))
	}
	return loss, d
}

// throughSoftmax converts derivatives with respect to probabilities to derivatives with respect to logits.
func throughSoftmax(p, d []float64, n int) []float64 {
	width := len(p) / n
	for at := 0; at < len(p); at += width {
		mean := dot(p[at:at+width], d[at:at+width])
		for k := at; k < at+width; k++ {
			d[k] = p[k] * (d[k] - mean)
		}
	}
	return d
}

func dot(a, b []float64) (sum float64) {
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}
