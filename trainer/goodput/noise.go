package goodput

// Noise holds statistics of gradients at a job's smallest batch. They determine the worth of an example at other batch
// sizes (McCandlish et al., "An Empirical Model of Large-Batch Training", 2018).
type Noise struct {
	Square   float64 // square of the length of the expected gradient
	Variance float64 // variance of the gradient of the smallest batch, summed over parameters
}

// Gain is the progress of a step, in steps of the smallest batch. Scale is its batch divided by the smallest.
func (n Noise) Gain(scale float64) float64 {
	if most := n.Variance/scale + n.Square; most > 0 {
		return (n.Variance + n.Square) / most
	}
	return 1
}

// Efficiency is the worth of an example relative to one in the smallest batch.
func (n Noise) Efficiency(scale float64) float64 { return n.Gain(scale) / scale }
