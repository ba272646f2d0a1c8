package goodput

// Noise is statistics of gradients at a job's smallest batch, from which its examples' worth at other
// sizes follows (McCandlish et al., "An Empirical Model of Large-Batch Training", 2018).
type Noise struct {
	Square   float64 // square of the length of the expected gradient
	Variance float64 // of the gradient of a batch of the smallest size, summed over parameters
}

// Gain is the progress of a step whose batch is some times the smallest, in steps of the smallest.
func (n Noise) Gain(scale float64) float64 {
	if most := n.Variance/scale + n.Square; most > 0 {
		return (n.Variance + n.Square) / most
	}
	return 1
}

// Efficiency is the worth of an example beside one in a batch of the smallest size.
func (n Noise) Efficiency(scale float64) float64 { return n.Gain(scale) / scale }
