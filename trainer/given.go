package trainer

import (
	"fmt"

	"graft/dataset"
	"graft/model"
	"graft/torch"
)

// Given is what is known of a network that was trained before its job.
type Given struct {
	// Epochs is for how many whole ones it was trained: the job counts on from there,
	// and so does the learning rate. Zero counts from zero.
	Epochs int
	Score  Score // that Appraise gave
}

// Appraise evaluates a network on what decides, before its job begins: no clock runs.
func Appraise(n *model.Network, data *dataset.Set, o Options) (score Score, err error) {
	o.EnsureDefaults()
	if err := belong(n, data); err != nil {
		return score, fmt.Errorf("evaluate the first weights: %w", err)
	}
	err = torch.With(func(s *torch.Scope) error {
		j := &Job{Options: o, Parts: Parts{Network: n, Data: data}, s: s}
		if err := j.prepare(); err != nil {
			return err
		}
		program, err := j.compile(s, n)
		if err != nil {
			return err
		}
		score, err = j.look(program, data.Validation)
		return err
	})
	return score, err
}

// goOn counts on from what is known of the network.
func (j *Job) goOn(g *Given) error {
	if g == nil {
		return nil
	}
	if j.Epochs > 0 && g.Epochs >= j.Epochs {
		return fmt.Errorf("begin a job: the network was trained for %d epochs already, and the job ends after %d; raise epochs", g.Epochs, j.Epochs)
	}
	j.Epoch, j.Rate, j.Validation = g.Epochs, g.Epochs, g.Score
	if g.Epochs > 0 {
		j.Used = float64(j.Time) / float64(j.Timeline.Budget)
	}
	return nil
}
