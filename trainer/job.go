package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// Parts are what a job is made of. All but Book are required.
type Parts struct {
	Network *model.Network // with weights; the job takes it over
	Data    *dataset.Set   // on the network's device
	Clock   Clock
	Decider decider.Decider
	Book    Book // nil writes nothing down
	// Now is the machine's clock, for how often to save and to show; nothing that a
	// virtual clock decides depends on it.
	Now func() time.Time
}

// Job is a network in training. It is made by New or Resume.
type Job struct {
	Options
	Parts
	s         *torch.Scope
	scheduler *Planned
	position
	optimizer *net2net.Optimizer
	random    *torch.Generator // of augmentation and dropout
	order     *torch.Tensor    // of this epoch's images
	program   *torch.Program
	scratch   *torch.Scope // of order and program; made anew with them
	teacher   *teacher     // nil where there is none
	mean      *torch.Tensor
	deviation *torch.Tensor
	saved     time.Time // when a checkpoint was last written, by Now
}

// position is where a job stands: with the tensors, all that its future depends on.
type position struct {
	Epoch      int               `json:"epoch"`     // the one under way
	Step       int               `json:"step"`      // done in it
	Steps      int64             `json:"steps"`     // done in all
	Rate       int               `json:"rate"`      // epochs that the learning rate has seen
	LR         float64           `json:"lr"`        // of the last step
	Used       float64           `json:"used"`      // of the budget, when the epoch began
	Time       time.Duration     `json:"time_ns"`   // on the clock
	Past       int               `json:"past"`      // events of the timeline
	Devices    int               `json:"devices"`   // now
	Asked      int               `json:"asked"`     // questions since the last up
	Asking     bool              `json:"asking"`    // an up wants a question still
	Decisions  int               `json:"decisions"` // in all
	Loss       float64           `json:"loss"`      // summed over the epoch's steps
	Correct    int               `json:"correct"`   // images of the epoch
	Seen       int               `json:"seen"`      // images of the epoch
	Fresh      bool              `json:"fresh"`     // steps since the last evaluation
	Validation Score             `json:"validation"`
	Changes    []*net2net.Change `json:"changes"` // that the network went through and still has
	Levels     []int             `json:"levels"`  // how many changes there were at each up
	Lessons    int               `json:"lessons"` // epochs that the teacher has taught
	Deciding   time.Duration     `json:"deciding_ns"`
	Operating  time.Duration     `json:"operating_ns"`
	Started    bool              `json:"started"` // the beginning is written down
	Over       bool              `json:"over"`    // nothing is left to train
	Ended      bool              `json:"ended"`   // the end is written down
}

// Score is how well a network does on a split.
type Score struct {
	Loss     float64 `json:"loss"`
	Accuracy float64 `json:"accuracy"` // between 0 and 1
}

// New begins a job. Scope s owns what it makes; it must own the network as well.
func New(s *torch.Scope, p Parts, o Options) (*Job, error) {
	j, err := build(s, p, o)
	if err != nil {
		return nil, err
	}
	j.Devices = 1
	j.Time = p.Clock.Now()
	j.optimizer, err = net2net.NewOptimizer(s, p.Network, j.optimizerOptions())
	if err != nil {
		return nil, err
	}
	j.scheduler = NewPlanned(o.Timeline, p.Clock, 0)
	return j, s.Err()
}

// build checks the parts and makes what new and resumed jobs have in common.
func build(s *torch.Scope, p Parts, o Options) (*Job, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("begin a job: %w", err)
	}
	if err := fits(p); err != nil {
		return nil, fmt.Errorf("begin a job: %w", err)
	}
	if p.Book == nil {
		p.Book = nothing{}
	}
	j := &Job{Options: o, Parts: p, s: s}
	place := p.Network.Placement()
	j.random = s.NewGenerator(place.Device, o.Seed)
	channels := len(p.Data.Mean)
	j.mean = s.To(torch.From(s, p.Data.Mean, channels, 1, 1), torch.Float32, place.Device)
	j.deviation = s.To(torch.From(s, p.Data.Deviation, channels, 1, 1), torch.Float32, place.Device)
	return j, s.Err()
}

// fits checks that network and data belong together.
func fits(p Parts) error {
	if p.Network == nil || p.Network.Scope() == nil || p.Data == nil || p.Clock == nil || p.Decider == nil || p.Now == nil {
		return errors.New("it needs a network with weights, data, a clock, a decider and the machine's clock")
	}
	if shape := p.Data.Shape; !p.Network.Input.Same(shape[:]) {
		return fmt.Errorf("the network takes %v and the images of %s are %v; give the network that input, or other images", p.Network.Input, p.Data.Name, model.Shape(shape[:]))
	}
	out, err := p.Network.Output()
	if err != nil {
		return err
	}
	if len(out) != 1 || out[0] != len(p.Data.Classes) {
		return fmt.Errorf("the network gives %v and %s has %d classes; say so with the network's classes", out, p.Data.Name, len(p.Data.Classes))
	}
	if p.Data.Train.Count == 0 || p.Data.Validation.Count == 0 {
		return fmt.Errorf("%s has %d training and %d validation images; both are needed", p.Data.Name, p.Data.Train.Count, p.Data.Validation.Count)
	}
	return nil
}

func (j *Job) optimizerOptions() torch.OptimizerOptions {
	o := j.Optimizer
	o.Fused = !j.Exact
	return o
}

// perEpoch is the steps of an epoch.
func (j *Job) perEpoch() int { return (j.Data.Train.Count + j.Batch - 1) / j.Batch }

// ErrStopped says that a job was asked to stop and has saved all that it did.
var ErrStopped = errors.New("the job was stopped, and its progress is saved")

// Run works until the budget is used up, or until ctx is cancelled: then it saves
// the job and returns ErrStopped.
func (j *Job) Run(ctx context.Context) (*Outcome, error) {
	defer j.close()
	j.saved = j.Now()
	if !j.Started {
		j.Started = true
		if err := j.Book.Note(j.note("start")); err != nil {
			return nil, err
		}
	}
	for !j.Over {
		if ctx.Err() != nil {
			return nil, errors.Join(ErrStopped, j.save())
		}
		if err := j.turn(ctx); err != nil {
			return nil, err
		}
		if err := j.maybeSave(); err != nil {
			return nil, err
		}
	}
	return j.finish()
}

// turn does what comes next: heed the scheduler, adapt, train some steps, or end
// the epoch or the job.
func (j *Job) turn(ctx context.Context) error {
	a := j.scheduler.Allocation()
	j.Past = j.scheduler.Past()
	if a.Change != Same || a.Devices != j.Devices {
		return j.reallocate(a)
	}
	if j.Asking {
		return j.adapt(ctx)
	}
	if j.Step == j.perEpoch() {
		return j.endEpoch()
	}
	n := j.allowed()
	if n == 0 {
		return j.end()
	}
	return j.train(n)
}

// evaluation is the work of a look at the validation split.
func (j *Job) evaluation() Work {
	return Work{Kind: Batches, Count: (j.Data.Validation.Count + j.EvalBatch - 1) / j.EvalBatch, Rows: j.EvalBatch, Network: j.Network, Devices: j.Devices}
}

func (j *Job) work(steps int) Work {
	return Work{Kind: Steps, Count: steps, Rows: j.Batch, Network: j.Network, Devices: j.Devices}
}

// chunk is how long one call into LibTorch may take, so that stops and changes are
// heeded soon. It has no influence on what is computed.
const chunk = 200 * time.Millisecond

// longest is the most steps in one call, for the same reason, where a virtual clock
// does not say how long they really take.
const longest = 64

// allowed is how many steps may run before something else is due: the end of the
// epoch, a change of the allocation, or the final evaluation, for which time is kept
// back so that no step is thrown away.
func (j *Job) allowed() int {
	n := min(j.perEpoch()-j.Step, longest)
	if j.Steps < int64(j.Schedule.WarmUp) {
		n = 1 // the rate changes with every step
	}
	one := j.Clock.Cost(j.work(1))
	now := j.Clock.Now()
	last := j.scheduler.Budget() - j.Clock.Cost(j.evaluation())
	if one <= 0 {
		if now >= last {
			return 0
		}
		return 1
	}
	fit := int((last - now) / one)
	due := int(math.Ceil(float64(j.scheduler.Next()-now) / float64(one)))
	return max(0, min(n, fit, max(1, due), max(1, int(chunk/one))))
}

// train runs steps in one call.
func (j *Job) train(n int) error {
	if err := j.ready(); err != nil {
		return err
	}
	o := j.optimizer.Options(0)
	j.LR = j.Schedule.Rate(j.Optimizer.LR, j.Rate, j.Steps, j.Used)
	o.LR = j.LR
	if err := j.optimizer.Configure(0, o); err != nil {
		return err
	}
	from := j.Step * j.Batch
	rows := min(n*j.Batch, j.Data.Train.Count-from)
	return torch.With(func(s *torch.Scope) error {
		b := torch.Batches{Inputs: j.Data.Train.Images, Labels: j.Data.Train.Labels, Order: s.Narrow(j.order, 0, from, rows), Size: j.Batch,
			Random: j.random, Augment: j.Augment, Teacher: j.lesson()}
		if s.Err() != nil {
			return s.Err()
		}
		j.Clock.Begin()
		f, err := torch.Train(j.program, j.optimizer.Optimizer, b)
		if err != nil {
			return fmt.Errorf("train step %d of epoch %d: %w", j.Step, j.Epoch, err)
		}
		j.Clock.Spend(j.work(n))
		return j.count(f, rows)
	})
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
	// An order is made from the seed and the epoch alone, so it need not be saved.
	order := s.Permutation(j.Data.Train.Count, s.NewGenerator(torch.CPU, j.Seed*1_000_003+int64(j.Epoch)))
	j.order = s.To(order, torch.Int64, device)
	var err error
	j.program, err = j.compile(s, j.Network)
	return err
}

// compile is a network's program on images kept as bytes.
func (j *Job) compile(s *torch.Scope, n *model.Network) (*torch.Program, error) {
	return n.ProgramOn(s, torch.ProgramOptions{Fast: !j.Exact, Steady: j.Steady}, func(b *torch.Builder, x torch.Value) torch.Value {
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

func (j *Job) close() {
	_ = j.stale()
	j.teacher.close()
	j.teacher = nil
}

// evaluate looks at a split.
func (j *Job) evaluate(split dataset.Split) (Score, error) {
	if err := j.ready(); err != nil {
		return Score{}, err
	}
	f, err := torch.Evaluate(j.program, torch.Batches{Inputs: split.Images, Labels: split.Labels, Size: j.EvalBatch})
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
	j.Clock.Begin()
	score, err := j.evaluate(j.Data.Validation)
	if err != nil {
		return err
	}
	j.Clock.Spend(j.evaluation())
	j.Validation, j.Fresh = score, false
	return nil
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
	j.Used = float64(j.Clock.Now()) / float64(j.scheduler.Budget())
	j.Asking = j.Asked > 0 && j.Asked < j.Adapt.Most && j.Adapt.Every
	if j.teacher != nil {
		if j.Lessons++; j.Lessons >= j.Distill.Epochs {
			j.teacher.close()
			j.teacher = nil
		}
	}
	if j.Epochs > 0 && j.Epoch >= j.Epochs {
		j.Over = true
	}
	return j.stale()
}

// end is the end of the budget: what was trained since the last evaluation is
// evaluated and counts.
func (j *Job) end() error {
	j.Over = true
	if !j.Fresh && j.Epoch > 0 {
		return nil
	}
	if err := j.validate(); err != nil {
		return err
	}
	return j.Book.Epoch(j.row())
}
