package trainer

// plateau is the state of AutoGrow's rule for growth at convergence (Wen, Yan, Chen and Li 2020, arXiv 1906.02909,
// "convergent growth"). At the end of every window of K epochs, it compares the best validation accuracy so far with
// the best accuracy at the end of the previous window. If the improvement is less than τ, the network has converged,
// and a decision is due. If the network grew at the previous comparison and has improved by less than τ since then,
// growth no longer improves it: the rule stops for the rest of the job.
//
// The details follow two of the authors' programs (github.com/wenwei202/autogrow). Early versions of main.py compare
// once per window, stop after growth without improvement, and have a default window of 30 epochs; they compare a moving
// average of the accuracy with τ = 0.1. The later program for ImageNet compares the running maximum with τ = 0.05
// points. AutoGrow stops each group of layers separately, but a decider may change any layer, so this rule stops once
// for the whole network.
type plateau struct {
	Epochs  int     `json:"epochs"`            // epochs since the last comparison
	Best    float64 `json:"best"`              // best accuracy so far
	Before  float64 `json:"before"`            // best accuracy at the last comparison
	Grown   bool    `json:"grown,omitempty"`   // the network grew at the last comparison
	Stopped bool    `json:"stopped,omitempty"` // growth no longer improves the accuracy
}

// observe adds the validation accuracy of an epoch, between 0 and 1, and reports whether a decision is due. The gain is
// in points, which are hundredths of accuracy.
func (p *plateau) observe(accuracy, gain float64, window int) (due bool) {
	p.Epochs++
	if accuracy > p.Best { // false for NaN
		p.Best = accuracy
	}
	if p.Epochs < window {
		return false
	}
	converged := 100*(p.Best-p.Before) < gain
	p.Stopped = p.Stopped || p.Grown && converged
	p.Epochs, p.Before, p.Grown = 0, p.Best, false
	return converged && !p.Stopped
}

// restart begins a new history, for a network that has shrunk.
func (p *plateau) restart() { *p = plateau{Stopped: p.Stopped} }
