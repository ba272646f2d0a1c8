package trainer

import (
	"errors"
	"fmt"
	"math"
	"time"

	"graft/torch"
)

// distillation teaches a network that shrank with the logits of the larger one.
type distillation struct {
	*core
	course
}

// course is the part of a checkpoint's position for distillation.
type course struct {
	Age    int `json:"lessons"` // epochs since the network last shrank
	Taught int `json:"taught"`  // steps with the larger network's logits
	Length int `json:"course"`  // total steps of the distillation
	// Remote reports whether an external program runs the teacher. If so, graft computes no logits.
	Remote bool `json:"teaching,omitempty"`
}

// mostShare is the maximum part of the remaining time for computing the logits. Above a tenth, the steps that it costs
// are worth at least as much as distillation.
const mostShare = 0.1

// ask computes the larger network's logits on the training images, which takes time of the budget. Afterwards the
// larger network is not needed in memory. It computes nothing with Distill.Off, if it would take more than mostShare of
// the remaining time, or for text: the logits of each token would take the size of the vocabulary times the memory of
// the text.
func (d *distillation) ask() error {
	if d.Distill.Off || d.Data.Each() {
		return nil
	}
	if d.remote != nil {
		d.Remote = true
		return d.offerTeacher()
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

// teaches reports whether a larger network teaches the current one.
func (d *distillation) teaches() bool { return d.logits != nil || d.Remote }

// begin starts distillation after a shrink, for Distill.Span of the remaining time, or for one epoch if the clock
// cannot tell the cost of a step yet.
func (d *distillation) begin() {
	d.Age, d.Taught, d.Length = 0, 0, d.perEpoch()
	if one := d.Clock.Cost(d.work(1)); one > 0 {
		d.Length = max(1, int(d.Distill.Span*float64(d.deadline()-d.Clock.Now())/float64(one)))
	}
}

// stretch keeps the relative progress and the end time of distillation when the time of a step changes.
func (d *distillation) stretch(before, after time.Duration) {
	if !d.teaches() || before <= 0 || after <= 0 {
		return
	}
	by := float64(before) / float64(after)
	d.Length = max(1, int(math.Round(by*float64(d.Length))))
	d.Taught = min(int(math.Round(by*float64(d.Taught))), d.Length-1)
}

// teacher returns the teacher of the next step; its share falls with every step.
func (d *distillation) teacher() torch.Teacher {
	if !d.teaches() {
		return torch.Teacher{}
	}
	share := d.Distill.Share * math.Pow(1-d.Distill.Decay, float64(d.Age))
	return torch.Teacher{Logits: d.logits, Temperature: d.Distill.Temperature, Share: share, Past: d.Taught,
		Length: d.Length}
}

// advance counts steps, and drops the logits at the end of distillation.
func (d *distillation) advance(steps int) {
	if !d.teaches() {
		return
	}
	if d.Taught += steps; d.Taught >= d.Length {
		d.dropLogits()
		d.Remote = false
	}
}
