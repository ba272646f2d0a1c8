package trainer

import (
	"fmt"

	"graft/dataset"
	"graft/model"
	"graft/torch"
)

// Pretrained is the result of training that a network had before its job.
type Pretrained struct {
	// Epochs is the number of whole epochs. The job's epochs and its learning rate go on
	// from there. Zero begins at zero.
	Epochs int
	Score  Score // from Appraise
}

// EvaluatePretrained evaluates a network on the validation images before its job begins. No clock
// runs.
func EvaluatePretrained(n *model.Network, data *dataset.Set, o Options) (score Score, err error) {
	o.EnsureDefaults()
	if err := matches(n, data); err != nil {
		return score, fmt.Errorf("evaluate the first weights: %w", err)
	}
	err = torch.With(func(s *torch.Scope) error {
		r := &replica{Options: o, Network: n, Data: data, scope: s}
		if err := r.loadNormalization(); err != nil {
			return err
		}
		score, err = r.appraise(n, data.Validation)
		return err
	})
	return score, err
}

// continueFrom starts the counters after earlier training.
func (c *core) continueFrom(g *Pretrained) error {
	if g == nil {
		return nil
	}
	if c.Epochs > 0 && g.Epochs >= c.Epochs {
		return fmt.Errorf("the network was trained for %d epochs already, and the job ends after %d; raise epochs", g.Epochs, c.Epochs)
	}
	c.Epoch, c.Rate, c.Validation = g.Epochs, g.Epochs, g.Score
	if g.Epochs > 0 {
		c.Used = float64(c.Time) / float64(c.Timeline.Budget)
	}
	return nil
}
