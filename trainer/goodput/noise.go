package goodput

// Noise holds statistics of gradients at a job's smallest batch. They determine the efficiency of larger batches
// (McCandlish et al., "An Empirical Model of Large-Batch Training", 2018).
type Noise struct {
	Square   float64 // squared norm of the expected gradient
	Variance float64 // variance of the smallest batch's gradient, summed over parameters
}

// Gain returns the number of steps on the smallest batch that make as much progress as one step. Scale is the step's
// batch divided by the smallest batch.
func (n Noise) Gain(scale float64) float64 {
	if most := n.Variance/scale + n.Square; most > 0 {
		return (n.Variance + n.Square) / most
	}
	return 1
}

// Efficiency returns the progress of an example relative to an example in the smallest batch. Scale is the batch
// divided by the smallest batch.
func (n Noise) Efficiency(scale float64) float64 { return n.Gain(scale) / scale }
