package goodput

// Noise holds statistics of gradients at a job's minimum batch size. They determine the efficiency of larger batches
// (McCandlish et al., "An Empirical Model of Large-Batch Training", 2018).
type Noise struct {
	Square   float64 // squared norm of the expected gradient
	Variance float64 // variance of the smallest batch's gradient, summed over parameters
}

// Gain returns the number of steps at the minimum batch size that make as much progress as one step at a larger size.
// The parameter is the larger batch size divided by the minimum batch size.
func (n Noise) Gain(scale float64) float64 {
	if most := n.Variance/scale + n.Square; most > 0 {
		return (n.Variance + n.Square) / most
	}
	return 1
}

// Efficiency returns the progress per example, relative to the progress per example at the minimum batch size. The
// parameter is the batch size divided by the minimum batch size.
func (n Noise) Efficiency(scale float64) float64 { return n.Gain(scale) / scale }
