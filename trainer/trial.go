package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/decider"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
)

// trying returns a function for the decider that trains copies of the network; nil if several processes train.
func (a *adaptation) trying() func(net2net.Action, int) (decider.Trial, error) {
	if a.Parallel.On {
		return nil
	}
	return a.try
}

// try applies an action to a copy of the network, trains the copy and evaluates it, on the clock. All trials of a
// decision use the same images in the same order. A trial changes nothing in the job except its time.
func (a *adaptation) try(action net2net.Action, steps int) (trial decider.Trial, err error) {
	trial.Action = action
	err = torch.With(func(s *torch.Scope) error {
		r, err := a.twin(s)
		if err != nil {
			return err
		}
		defer r.close()
		if action.Kind != net2net.None {
			change, err := a.calibrated(r.Network, action, a.surgery(),
				func(*net2net.Change, net2net.Options) error { return nil })
			if errors.Is(err, errImpossible) {
				return fmt.Errorf("%w: %w", decider.ErrNoTrial, err)
			}
			if err != nil {
				return err
			}
			if r.optimizer, err = r.optimizer.Follow(s, r.Network, change, a.following()); err != nil {
				return err
			}
		}
		score, err := a.trial(r, steps)
		trial.Loss, trial.Accuracy = score.Loss, score.Accuracy
		return err
	})
	return trial, err
}

// trial trains and evaluates a copy within the remaining budget.
func (a *adaptation) trial(r *replica, steps int) (Score, error) {
	work, evaluating := a.workOn(r.Network, a.batch()), a.evaluating(a.Data.Validation)
	work.Count, evaluating.Network = steps, r.Network
	if err := clock.Knows(a.Clock, work, evaluating); err != nil {
		return Score{}, fmt.Errorf("%w: %w", decider.ErrNoTrial, err)
	}
	if a.Clock.Now()+a.Clock.Cost(work)+a.Clock.Cost(evaluating) > a.deadline() {
		return Score{}, fmt.Errorf("%w: not enough time left in the budget", decider.ErrNoTrial)
	}
	a.Clock.Begin()
	rows, err := a.trainTwin(r, steps)
	if err != nil {
		return Score{}, err
	}
	a.Clock.Spend(work)
	a.Clock.Begin()
	score, err := r.appraise(r.Network, a.Data.Validation)
	if err != nil {
		return Score{}, err
	}
	a.Clock.Spend(evaluating)
	if math.IsNaN(score.Loss) {
		score.Loss = math.Inf(1)
	}
	return score, errors.Join(a.countPassesOf(r.Network, trainPasses, rows),
		a.countPassesOf(r.Network, forwardPass, a.Data.Validation.Count))
}

// trainTwin takes steps with the learning rate of the job's last step, on images in an order that only this decision
// uses.
func (a *adaptation) trainTwin(r *replica, steps int) (rows int, err error) {
	r.seed = a.Seed*1_000_003 - 1 - int64(a.Decisions) // no epoch uses this seed
	o := r.optimizer.Options(0)
	o.LR = cmp.Or(a.LR, o.LR)
	if err := r.optimizer.Configure(0, o); err != nil {
		return 0, err
	}
	batch, from := a.batch(), 0
	for done := 0; done < steps; {
		n := min(steps-done, (a.Data.Train.Count-from)/batch, max(1, a.Data.Train.Most(batch)/batch))
		if n < 1 { // no images are left
			if from, err = 0, r.reorder(); err != nil || a.Data.Train.Count < batch {
				return rows, errors.Join(err, decider.ErrNoTrial)
			}
			r.seed--
			continue
		}
		told := trainOrder{Seed: r.seed, From: from, Rows: n * batch, Rates: slices.Repeat([]float64{o.LR}, n),
			Optimizer: o, First: rows == 0, Batch: batch, Part: a.microBatch(r.Network, batch, a.devices()),
			WarmUp: a.Adapt.WarmUpNew, Taken: a.Steps + int64(done)}
		if a.Scaler != nil {
			state := *a.Scaler
			told.Scaler = &state
		}
		if _, err := r.train(told, torch.Teacher{}, nil); err != nil {
			return rows, err
		}
		done, from, rows = done+n, from+n*batch, rows+n*batch
	}
	return rows, nil
}

// twin copies the network, its optimizer and the generator.
func (a *adaptation) twin(s *torch.Scope) (*replica, error) {
	n, err := a.Network.Clone(s)
	if err != nil {
		return nil, err
	}
	r := &replica{Options: a.Options, Network: n, Data: a.Data, scope: s}
	r.EMA = 0
	if err := r.setUp(); err != nil {
		return nil, err
	}
	state, err := a.random.State()
	if err != nil {
		return nil, err
	}
	if err := r.random.Restore(state); err != nil {
		return nil, err
	}
	c, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	moments := map[string]*torch.Tensor{}
	for name, t := range a.optimizerTensors() {
		moments[name] = s.Clone(t)
	}
	return r, r.resumeOptimizer(c.Counts, func(name string) *torch.Tensor { return moments[name] })
}
