package trainer

import (
	"time"

	"graft/internal/stat"
	"graft/torch"
)

// Best describes the epoch with the highest validation accuracy. If several epochs tie, it describes the first of them.
type Best struct {
	Epoch      int           `json:"epoch"`      // number of the epoch, from zero
	Time       time.Duration `json:"time_ns"`    // time on the clock at which the epoch was evaluated
	Parameters int           `json:"parameters"` // number of parameters of the epoch's network
	Validation Score         `json:"validation"` // validation score that selected the epoch
	// test score, reported but never used for selection; zero before the end of the job
	Test Score `json:"test"`
}

// bestSoFar is the part of a checkpoint's position for evaluation.
type bestSoFar struct {
	Best *Best `json:"best,omitempty"` // nil without Options.KeepBest, and before the first evaluation
}

// keepBest copies the network that was just evaluated if it is the best so far.
func (e *evaluation) keepBest() (err error) {
	if !e.KeepBest || e.Best != nil && e.Validation.Accuracy <= e.Best.Validation.Accuracy {
		return nil
	}
	e.Best = &Best{Epoch: e.Epoch, Time: e.Clock.Now(), Parameters: e.Network.Parameters(), Validation: e.Validation}
	e.best.close()
	e.best = &kept{scope: torch.NewScope()}
	e.best.network, err = e.trained().Clone(e.best.scope)
	return err
}

// testBest measures the best network on the test images, for the outcome.
func (e *evaluation) testBest() (*Best, error) {
	if e.best == nil {
		return nil, nil
	}
	best := *e.Best
	if e.Data.Test.Count == 0 {
		return &best, nil
	}
	var err error
	if best.Test, err = e.appraise(e.best.network, e.Data.Test); err == nil && !stat.Finite(best.Test.Loss) {
		err = e.diverged("test loss of the best network", best.Test.Loss)
	}
	return &best, err
}
