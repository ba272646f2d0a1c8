package trainer

import (
	"fmt"

	"graft/dataset"
	"graft/torch"
)

// looking is the work of a look at a split.
func (j *Job) looking(split dataset.Split) Work {
	return Work{Kind: Batches, Count: (split.Count + j.EvalBatch - 1) / j.EvalBatch, Rows: j.EvalBatch, Network: j.Network, Devices: j.Devices}
}

// evaluation is the work of a look at the validation split.
func (j *Job) evaluation() Work { return j.looking(j.Data.Validation) }

// split is the test images, or those of validation.
func (j *Job) split(test bool) dataset.Split {
	if test {
		return j.Data.Test
	}
	return j.Data.Validation
}

// figures looks at a split, in batches.
func (j *Job) figures(test bool, peers *torch.Peers) (torch.Figures, error) {
	if err := j.ready(); err != nil {
		return torch.Figures{}, err
	}
	return j.batches(j.program, j.split(test), peers)
}

func (j *Job) batches(program *torch.Program, split dataset.Split, peers *torch.Peers) (torch.Figures, error) {
	return torch.Evaluate(program, torch.Batches{Inputs: split.Images, Labels: split.Labels, Size: j.EvalBatch, Peers: peers})
}

// evaluate looks at a split.
func (j *Job) evaluate(test bool) (Score, error) {
	var f torch.Figures
	err := j.team.call(order{Evaluate: &splitOrder{Test: test}}, func(peers *torch.Peers) (err error) {
		f, err = j.figures(test, peers)
		return err
	})
	return j.score(f, j.split(test), err)
}

// look runs a program over a split, alone.
func (j *Job) look(program *torch.Program, split dataset.Split) (Score, error) {
	f, err := j.batches(program, split, nil)
	return j.score(f, split, err)
}

// score is what the figures of a split's batches come to.
func (j *Job) score(f torch.Figures, split dataset.Split, err error) (Score, error) {
	if err != nil {
		return Score{}, fmt.Errorf("evaluate: %w", err)
	}
	score, correct := Score{}, 0
	for k, loss := range f.Losses {
		rows := min(j.EvalBatch, split.Count-k*j.EvalBatch)
		score.Loss += loss * float64(rows) / float64(split.Count)
		correct += f.Correct[k]
	}
	score.Accuracy = float64(correct) / float64(split.Count)
	return score, nil
}

// validate looks at the validation split, within the budget.
func (j *Job) validate() error {
	if err := j.ready(); err != nil {
		return err
	}
	j.show(Evaluates)
	j.Clock.Begin()
	score, err := j.evaluate(false)
	if err != nil {
		return err
	}
	j.Clock.Spend(j.evaluation())
	j.Spent = j.Clock.Now()
	j.Validation, j.Fresh = score, false
	return j.keep()
}

// endEpoch evaluates, writes the epoch down and begins the next.
func (j *Job) endEpoch() error {
	if err := j.validate(); err != nil {
		return err
	}
	if err := j.Book.Epoch(j.row()); err != nil {
		return err
	}
	j.Epoch, j.Step, j.Loss, j.Correct, j.Seen = j.Epoch+1, 0, 0, 0, 0
	j.Rate++
	j.Used = float64(j.Clock.Now()) / float64(j.Scheduler.Budget())
	j.Asking = j.Asked > 0 && j.Asked < j.Adapt.Most && j.Adapt.Every
	j.Lessons++
	if j.Epochs > 0 && j.Epoch >= j.Epochs {
		j.Over = true
	}
	return j.stale()
}

// end is the end of the budget: what was trained since the last evaluation is
// evaluated and counts.
func (j *Job) end() error {
	j.Over, j.Spent = true, j.Clock.Now()
	if j.kept != nil || !j.Fresh && j.Epoch > 0 {
		return nil
	}
	if err := j.validate(); err != nil {
		return err
	}
	return j.Book.Epoch(j.row())
}
