package trainer

import (
	"errors"
	"fmt"
	"math"
	"time"

	"graft/torch"
)

// distillation lets a network that shrank learn from the logits of the larger one.
type distillation struct {
	*core
	course
}

// course is the distillation's part of a checkpoint's position.
type course struct {
	Age    int `json:"lessons"` // epochs since the network last shrank
	Taught int `json:"taught"`  // steps with the larger network's logits
	Length int `json:"course"`  // steps that distillation lasts
}

// mostShare is the largest part of the time left that computing the logits may take.
// From a tenth on, the steps that it costs are worth as much as distillation or more.
const mostShare = 0.1

// ask computes the larger network's logits on the training images, which takes time of the budget. After that
// nothing of the larger network has to stay in memory. Nothing is computed with Distill.Off, if that would take
// more than mostShare of the time left, or for text: the logits of each token would take the size of the vocabulary
// times the memory of the text.
func (d *distillation) ask() error {
	if d.Distill.Off || d.Data.Each() {
		return nil
	}
	d.dropLogits()
	work := d.evaluating(d.Data.Train)
	if float64(d.Clock.Cost(work)) > mostShare*float64(d.deadline()-d.Clock.Now()) {
		return nil
	}
	if err := d.prepare(); err != nil {
		return err
	}
	d.Clock.Begin()
	if err := torch.With(d.compute); err != nil {
		return fmt.Errorf("compute the larger network's logits: %w", err)
	}
	d.Clock.Spend(work)
	return d.countPasses(forwardPass, d.Data.Train.Count)
}

func (d *distillation) compute(s *torch.Scope) error {
	var parts []*torch.Tensor
	err := d.Data.Train.Each(d.EvalBatch, nil, func(of *torch.Scope, images, _ *torch.Tensor) error {
		of.NoGrad(func() {
			if d.Data.Tokens() {
				images = of.To(images, torch.Int64, d.Network.Placement().Device)
			}
			part := d.evaluator.Forward(of, images, false, nil)
			of.Keep(s, part)
			parts = append(parts, part)
		})
		return of.Err()
	})
	logits := s.Cat(0, parts...)
	if err := errors.Join(err, s.Err()); err != nil {
		return err
	}
	s.Keep(d.scope, logits)
	d.logits = logits
	d.revision++
	return nil
}

// begin starts the course after a shrinking, for Distill.Span of the time left, or one epoch
// where the clock does not know yet what a step costs.
func (d *distillation) begin() {
	d.Age, d.Taught, d.Length = 0, 0, d.perEpoch()
	if one := d.Clock.Cost(d.work(1)); one > 0 {
		d.Length = max(1, int(d.Distill.Span*float64(d.deadline()-d.Clock.Now())/float64(one)))
	}
}

// stretch keeps the course's place and its end in time when a step takes another time.
func (d *distillation) stretch(before, after time.Duration) {
	if d.logits == nil || before <= 0 || after <= 0 {
		return
	}
	by := float64(before) / float64(after)
	d.Length = max(1, int(math.Round(by*float64(d.Length))))
	d.Taught = min(int(math.Round(by*float64(d.Taught))), d.Length-1)
}

// teacher is the distillation of the next step: its share falls with every step.
func (d *distillation) teacher() torch.Teacher {
	if d.logits == nil {
		return torch.Teacher{}
	}
	share := d.Distill.Share * math.Pow(1-d.Distill.Decay, float64(d.Age))
	return torch.Teacher{Logits: d.logits, Temperature: d.Distill.Temperature, Share: share, Past: d.Taught,
		Length: d.Length}
}

// advance counts steps, and drops the logits at the end of the course.
func (d *distillation) advance(steps int) {
	if d.logits == nil {
		return
	}
	if d.Taught += steps; d.Taught >= d.Length {
		d.dropLogits()
	}
}
