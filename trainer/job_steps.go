package trainer

import (
	"fmt"
	"math"
	"time"

	"graft/model"
	"graft/torch"
)

func (j *Job) work(steps int) Work {
	return Work{Kind: Steps, Count: steps, Rows: j.Batch, Network: j.Network, Devices: j.Devices}
}

// last is when training must end: where the last evaluation counts as time of the
// budget, early enough for it.
func (j *Job) last() time.Duration {
	if j.Overrun {
		return j.Scheduler.Budget()
	}
	return j.Scheduler.Budget() - j.Clock.Cost(j.evaluation())
}

// chunk is how long one call into LibTorch may take on the machine's clock, so that
// stops and changes are heeded soon. It has no influence on what is computed.
const chunk = 200 * time.Millisecond

// chunked is how many steps take so long, by what the last call took: one where there
// was none, and no more than twice as many as in it.
func (j *Job) chunked() int {
	if j.pace.steps == 0 {
		return 1
	}
	fit := int(chunk * time.Duration(j.pace.steps) / max(1, j.pace.took))
	return max(1, min(fit, 2*j.pace.steps))
}

// allowed is how many steps may run before something else is due: the end of the
// epoch, a change of the allocation, or the final evaluation, for which time is kept
// back so that no step is thrown away.
func (j *Job) allowed() int {
	n := min(j.perEpoch()-j.Step, j.chunked())
	if j.Steps < int64(j.Schedule.WarmUp) {
		n = 1 // the rate changes with every step
	}
	one := j.Clock.Cost(j.work(1))
	fit := j.fitting(one)
	if one <= 0 {
		return min(n, fit)
	}
	due := int(math.Ceil(float64(j.Scheduler.Next().At-j.Clock.Now()) / float64(one)))
	return max(0, min(n, fit, max(1, due)))
}

// train runs steps in one call.
func (j *Job) train(n int) error {
	if err := j.ready(); err != nil {
		return err
	}
	j.show(Trains)
	o := j.optimizer.Options(0)
	j.LR = j.Schedule.Rate(j.first(), j.Rate, j.Steps, j.Used)
	o.LR = j.LR
	if err := j.optimizer.Configure(0, o); err != nil {
		return err
	}
	from := j.Step * j.Batch
	rows := min(n*j.Batch, j.Data.Train.Count-from)
	t := j.lesson()
	told := trainOrder{Epoch: j.Epoch, From: from, Rows: rows, Optimizer: o, Taught: t.Logits != nil, Temperature: t.Temperature, Share: t.Share, Fall: t.Fall}
	began := j.Now()
	j.Clock.Begin()
	var f torch.Figures
	err := j.team.call(order{Train: &told}, func(peers *torch.Peers) (err error) {
		f, err = j.steps(from, rows, t, peers)
		return err
	})
	if err != nil {
		return fmt.Errorf("train step %d of epoch %d: %w", j.Step, j.Epoch, err)
	}
	j.Clock.Spend(j.work(n))
	j.pace.steps, j.pace.took = n, j.Now().Sub(began)
	return j.count(f, rows)
}

// steps trains on rows of the epoch's order in one call.
func (j *Job) steps(from, rows int, t torch.Teacher, peers *torch.Peers) (f torch.Figures, err error) {
	if err := j.ready(); err != nil {
		return f, err
	}
	err = torch.With(func(s *torch.Scope) error {
		b := torch.Batches{Inputs: j.Data.Train.Images, Labels: j.Data.Train.Labels, Order: s.Narrow(j.order, 0, from, rows), Size: j.Batch,
			Random: j.random, Augment: j.Augment, Teacher: t, Peers: peers}
		if s.Err() != nil {
			return s.Err()
		}
		f, err = torch.Train(j.program, j.optimizer.Optimizer, b)
		return err
	})
	return f, err
}

// count adds up what a call measured.
func (j *Job) count(f torch.Figures, rows int) error {
	for k, loss := range f.Losses {
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return fmt.Errorf("the loss of step %d of epoch %d is %v: training diverged; lower the learning rate", j.Step+k, j.Epoch, loss)
		}
		j.Loss += loss
		j.Correct += f.Correct[k]
	}
	j.Step += len(f.Losses)
	j.Steps += int64(len(f.Losses))
	j.Seen += rows
	j.Fresh = true
	j.learned(len(f.Losses))
	return nil
}

// ready makes the order of the epoch and the program if they are not there.
func (j *Job) ready() error {
	if j.scratch != nil {
		return nil
	}
	if err := knows(j.Clock, j.work(1), j.evaluation()); err != nil {
		return err
	}
	j.scratch = torch.NewScope()
	s := j.scratch
	device := j.Network.Placement().Device
	// An order is made from the seed and the epochs before, so it need not be saved.
	seed := j.Seed*1_000_003 + int64(j.Epoch) + int64(j.Abandoned)<<32
	order := s.Permutation(j.Data.Train.Count, s.NewGenerator(torch.CPU, seed))
	j.order = s.To(order, torch.Int64, device)
	var err error
	j.program, err = j.compile(s, j.Network)
	return err
}

// compile is a network's program on images kept as bytes.
func (j *Job) compile(s *torch.Scope, n *model.Network) (*torch.Program, error) {
	return n.ProgramOn(s, torch.ProgramOptions{Fast: !j.Exact, Steady: j.Steady, Precision: j.Precision}, func(b *torch.Builder, x torch.Value) torch.Value {
		return b.Normalize(x, 1.0/255, j.mean, j.deviation)
	})
}

// stale drops order and program: the network or the epoch is another.
func (j *Job) stale() error {
	if j.scratch == nil {
		return nil
	}
	err := j.scratch.Close()
	j.scratch, j.program, j.order = nil, nil, nil
	return err
}
