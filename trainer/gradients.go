package trainer

import (
	"graft/dataset"
	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
)

// gaining returns a function for the decider that computes the gradient of new weights; nil if a program trains.
func (a *adaptation) gaining() func(net2net.Action) (float64, error) {
	if a.remote != nil {
		return nil
	}
	return a.gain
}

// gain returns the squared gradient of an action's new weights, on the clock. All actions of a decision use the same
// images.
func (a *adaptation) gain(action net2net.Action) (gain float64, err error) {
	work := a.gradientWork(a.Network)
	if virtual(a.Clock) && a.Clock.Now()+a.Clock.Cost(work) > a.deadline() {
		return 0, decider.ErrNoTime
	}
	err = a.sampled(a.Network, a.surgery(), func(o net2net.Options) error {
		return a.steadily(true, func() (err error) {
			gain, err = net2net.Gain(a.Network, action, o)
			return err
		})
	})
	a.chargeGradient(work)
	return gain, err
}

// sampled passes on the options of surgery with training images, to calibrate new normalizations and to compute the
// gradient.
func (a *adaptation) sampled(n *model.Network, o net2net.Options, do func(net2net.Options) error) error {
	return torch.With(func(s *torch.Scope) error {
		place := n.Placement()
		rows := a.Adapt.sample(a.Data.Train.Count)
		order := s.Permutation(a.Data.Train.Count, s.NewGenerator(torch.CPU, int64(o.Seed)))
		places, err := torch.Values[int64](s.Narrow(order, 0, 0, rows))
		if err != nil {
			return err
		}
		picked, labels, err := a.Data.Train.Pick(s, dataset.Rows{Places: places}, dataset.Rows{})
		if err != nil {
			return err
		}
		if a.Data.Tokens() {
			o.Batch = s.To(picked, torch.Int64, place.Device)
		} else {
			images := s.Scale(s.To(picked, torch.Float32, place.Device), 1.0/255, 0)
			o.Batch = s.To(s.Div(s.Sub(images, a.mean), a.deviation), place.DType, place.Device)
		}
		o.Loss = net2net.CrossEntropy(s.To(labels, torch.Int64, place.Device))
		if s.Err() != nil {
			return s.Err()
		}
		return do(o)
	})
}

// sample is the number of training images for surgery.
func (a Adapt) sample(training int) int { return min(a.Rows, training) }

// steadily runs work on the gradient on one thread of the calling goroutine with Steady, so that sums over the batch do
// not depend on the number of threads.
func (a *adaptation) steadily(gradient bool, do func() error) error {
	if !a.Steady || !gradient {
		return do()
	}
	r, err := torch.Describe()
	if err != nil {
		return err
	}
	if err := torch.UseThreads(1); err != nil {
		return err
	}
	defer func() { _ = torch.UseThreads(r.Threads) }()
	return do()
}

// starts reports whether new units start from the gradient.
func (a Adapt) starts() bool { return a.Surgery.Start.NeedsData() }

// starting reports whether an action needs the gradient.
func (a Adapt) starting(action net2net.Action) bool { return a.starts() && action.Kind == "widen" }

// gradientWork is the work of a gradient for surgery.
func (a *adaptation) gradientWork(n *model.Network) clock.Work {
	return a.Options.gradientWork(n, a.Data.Train.Count, func(w clock.Work) error { return clock.Knows(a.Clock, w) })
}

// chargeGradient charges a gradient to a virtual clock. A wall clock measures it as part of the decision or surgery.
func (a *adaptation) chargeGradient(w clock.Work) {
	if virtual(a.Clock) {
		a.Clock.Spend(w)
	}
}

// gradientWork is the work of a gradient for surgery: a training step on the images for surgery, on one device. If the
// clock's profile cannot tell the time for this number of images, the work is steps of the job's batch.
func (o Options) gradientWork(n *model.Network, training int, knows func(clock.Work) error) clock.Work {
	w := clock.Work{Kind: clock.Steps, Count: 1, Rows: o.Adapt.sample(training), Network: n}
	if knows(w) != nil {
		w.Count, w.Rows = (w.Rows+o.Batch-1)/o.Batch, o.Batch
	}
	return w
}
