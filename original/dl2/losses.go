package dl2

import (
	"math"
)

// Constants of the loss functions.
const (
	clip       = 1e-10 // minimum distance of probabilities from zero and one in the cross-entropy
	entropyEps = 1e-6  // added to probabilities in the logarithm of the entropy
)

// SupervisedLoss is a loss function for imitation. It returns the loss, and its derivatives with respect to the logits,
// not the probabilities. Labels are distributions over actions; all labels of an example are zero if its job is outside
// the window of jobs that the policy observes. Each of the n examples has the same number of values.
type SupervisedLoss func(probabilities, labels []float64, n int) (loss float64, logits []float64)

// SupervisedLosses holds the loss functions for imitation, by their names in DL2's published program.
var SupervisedLosses = map[string]SupervisedLoss{"Cross_Entropy": CrossEntropy, "Mean_Square": MeanSquare,
	"Absolute_Difference": AbsoluteDifference}

// CrossEntropy is a SupervisedLoss that averages the cross-entropy over examples. Probabilities close to 0 or 1 are
// clipped, and their gradient is zero.
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

// MeanSquare is a SupervisedLoss that averages the squared difference over examples and actions.
func MeanSquare(p, labels []float64, n int) (float64, []float64) {
	loss, d := 0.0, make([]float64, len(p))
	for k, v := range p {
		off := v - labels[k]
		loss += off * off / float64(len(p))
		d[k] = 2 * off / float64(len(p))
	}
	return loss, throughSoftmax(p, d, n)
}

// AbsoluteDifference is a SupervisedLoss that averages the absolute difference over examples and actions.
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

// Entropy averages p log p over examples and actions. The result is the negative entropy divided by the number of
// actions.
func Entropy(p []float64) (sum float64) {
	for _, v := range p {
		sum += v * math.Log(v+entropyEps)
	}
	return sum / float64(len(p))
}

// PolicyLoss computes the loss of reinforcement learning and its derivatives with respect to the logits. The loss
// includes the result of Entropy, multiplied by the argument weight. As in DL2's published program, the loss and the
// gradient of the softmax do not use the network's current probabilities. They use the probabilities that were stored
// when the policy acted, masked and divided by their sum. For each example, actions holds the index of its action.
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

// ValueLoss returns the mean squared difference between values and targets, and its derivatives.
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
