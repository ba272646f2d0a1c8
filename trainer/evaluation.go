package trainer

import (
	"errors"
	"fmt"

	"graft/dataset"
	"graft/internal/stat"
	"graft/model"
	"graft/torch"
	"graft/trainer/team"
)

// evaluation measures the network on the validation and test images.
type evaluation struct {
	*core
	team *team.Team
	kept *kept // network as last evaluated, with Overrun; nil otherwise
	best *kept // best network, with KeepBest; nil otherwise
	bestSoFar
}

// kept is a copy of the network as it was last evaluated.
type kept struct {
	scope   *torch.Scope
	network *model.Network
}

func (k *kept) close() {
	if k != nil {
		_ = k.scope.Close()
	}
}

func (e *evaluation) evaluate(test bool) (Score, error) {
	if err := e.prepare(); err != nil {
		return Score{}, err
	}
	if e.remote != nil {
		return e.evaluateRemote()
	}
	var f torch.Figures
	split := e.split(test)
	err := e.team.Call(order{Evaluate: &splitOrder{Test: test}}, func(peers *torch.Peers) error {
		return e.chooser.evaluate(func() (err error) {
			f, err = e.measure(split, peers)
			return err
		})
	})
	return e.score(f, split, err)
}

// validate measures the network on the validation images, within the budget.
func (e *evaluation) validate() error {
	if err := e.prepare(); err != nil {
		return err
	}
	e.show(Evaluates)
	e.Clock.Begin()
	score, err := e.evaluate(false)
	if err != nil {
		return err
	}
	e.charge()
	e.Spent = e.Clock.Now()
	if !stat.Finite(score.Loss) {
		return e.diverged("validation loss", score.Loss)
	}
	if err := unspoiled(e.Network); err != nil {
		return err
	}
	if e.Overrun || e.KeepBest {
		if err := e.pull(); err != nil {
			return err
		}
	}
	e.Validation, e.Fresh = score, false
	return errors.Join(e.countPasses(forwardPass, e.Data.Validation.Count), e.keep(), e.keepBest())
}

// charge charges the time of an evaluation. If a change of devices at the very end leaves no time for it, the
// evaluation is not charged, like the one on the test images.
func (e *evaluation) charge() {
	work := e.evaluating(e.Data.Validation)
	if e.Over && !e.Overrun && virtual(e.Clock) && e.Clock.Now()+e.Clock.Cost(work) > e.Scheduler.Budget() {
		return
	}
	e.Clock.Spend(work)
}

// keep copies the network that was just evaluated, with Overrun.
func (e *evaluation) keep() (err error) {
	if !e.Overrun {
		return nil
	}
	e.kept.close()
	e.kept = &kept{scope: torch.NewScope()}
	e.kept.network, err = e.trained().Clone(e.kept.scope)
	return err
}

// result is the network that the outcome describes.
func (e *evaluation) result() *model.Network {
	if e.kept != nil {
		return e.kept.network
	}
	return e.trained()
}

// test measures the result on the test images; zero without test images.
func (e *evaluation) test() (Score, error) {
	if e.Data.Test.Count == 0 {
		return Score{}, nil
	}
	if e.kept != nil {
		return e.appraise(e.kept.network, e.Data.Test)
	}
	return e.evaluate(true)
}

// Pretrained describes how a network was trained before its job.
type Pretrained struct {
	// Epochs is the number of whole epochs of earlier training. The job's epoch count and learning rate schedule
	// continue from this number.
	Epochs int
	Score  Score // result of EvaluatePretrained
}

// EvaluatePretrained evaluates a network before its job begins. The job's clock is not charged.
func EvaluatePretrained(n *model.Network, data *dataset.Set, o Options) (score Score, err error) {
	o.EnsureDefaults()
	if err := Matches(n, data); err != nil {
		return score, fmt.Errorf("evaluate the initial weights: %w", err)
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
		return fmt.Errorf("the network was already trained for %d epochs, but the job ends after %d epochs; raise "+
			"epochs", g.Epochs, c.Epochs)
	}
	c.Epoch, c.Rate, c.Validation = g.Epochs, g.Epochs, g.Score
	return nil
}
