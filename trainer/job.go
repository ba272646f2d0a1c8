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

// Parts are what a job is made of. All but Given, Scheduler, Book and Watch are required.
type Parts struct {
	Network *model.Network // with weights; the job takes it over
	Data    *dataset.Set   // on the network's device
	Clock   Clock
	Decider decider.Decider
	// Scheduler gives the job its devices and its time, on Clock. Nil follows the
	// timeline of the options.
	Scheduler Scheduler
	Book      Book // nil writes nothing down
	// Watch is called with where the job stands, before all that it does. It is
	// called by the goroutine that trains, which waits for it. Nil is nobody.
	Watch func(Progress)
	// Now is the machine's clock, for how often to save and to show; nothing that a
	// virtual clock decides depends on it.
	Now func() time.Time
	// Given is what is known of a network that was trained before; nil is nothing.
	Given *Given
	// Starter starts the processes of a job that trains in several; nil where it does
	// not.
	Starter Starter
}

// Job is a network in training. It is made by New or Resume.
type Job struct {
	Options
	Parts
	s *torch.Scope
	position
	optimizer *net2net.Optimizer
	random    *torch.Generator // of augmentation and dropout
	order     *torch.Tensor    // of this epoch's images
	program   *torch.Program
	scratch   *torch.Scope  // of order and program; made anew with them
	lessons   *torch.Tensor // logits of a larger network on the training images; nil is none
	kept      *kept         // as last evaluated, where that counts; nil where it does not
	mean      *torch.Tensor
	deviation *torch.Tensor
	saved     time.Time // when a checkpoint was last written, by Now
	pace      struct {  // of the last call that trained, by Now
		steps int // zero before there was one
		took  time.Duration
	}
	told Progress // what was last shown
	team *team    // nil where the job trains in one process
}

// position is where a job stands: with the tensors, all that its future depends on.
type position struct {
	Epoch      int               `json:"epoch"`          // the one under way
	Step       int               `json:"step"`           // done in it
	Steps      int64             `json:"steps"`          // done in all
	Rate       int               `json:"rate"`           // epochs that the learning rate has seen
	LR         float64           `json:"lr"`             // of the last step
	Used       float64           `json:"used"`           // of the budget, when the epoch began
	Time       time.Duration     `json:"time_ns"`        // on the clock
	Spent      time.Duration     `json:"spent_ns"`       // of the budget, when it was last evaluated or ended
	Past       int               `json:"past"`           // events of the timeline
	Live       []Taken           `json:"live,omitempty"` // changes beside the timeline
	Devices    int               `json:"devices"`        // now
	Asked      int               `json:"asked"`          // questions since the last up
	Asking     bool              `json:"asking"`         // an up wants a question still
	Decisions  int               `json:"decisions"`      // in all
	Loss       float64           `json:"loss"`           // summed over the epoch's steps
	Correct    int               `json:"correct"`        // images of the epoch
	Seen       int               `json:"seen"`           // images of the epoch
	Fresh      bool              `json:"fresh"`          // steps since the last evaluation
	Validation Score             `json:"validation"`
	Changes    []*net2net.Change `json:"changes"`   // that the network went through and still has
	Abandoned  int               `json:"abandoned"` // epochs
	Divided    int               `json:"divided"`   // how often the learning rate was
	Levels     []int             `json:"levels"`    // how many changes there were at each up
	Lessons    int               `json:"lessons"`   // epochs since the last shrinking
	Taught     int               `json:"taught"`    // steps that the teacher has taught
	Course     int               `json:"course"`    // steps that it teaches in all
	Deciding   time.Duration     `json:"deciding_ns"`
	Operating  time.Duration     `json:"operating_ns"`
	Started    bool              `json:"started"` // the beginning is written down
	Over       bool              `json:"over"`    // nothing is left to train
	Ended      bool              `json:"ended"`   // the end is written down
}

// Score is how well a network does on a split.
type Score struct {
	Loss     float64 `json:"loss"`     // the mean, in nats
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
	if err := j.goOn(p.Given); err != nil {
		return nil, err
	}
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
	if p.Scheduler == nil {
		p.Scheduler = NewPlanned(o.Timeline, p.Clock)
	}
	j := &Job{Options: o, Parts: p, s: s}
	var err error
	if j.team, err = newTeam(j); err != nil {
		return nil, fmt.Errorf("begin a job: %w", err)
	}
	return j, j.furnish()
}

// furnish makes the generator, and what images are normalised with.
func (j *Job) furnish() error {
	j.random = j.s.NewGenerator(j.Network.Placement().Device, j.Seed)
	return j.prepare()
}

// prepare puts what images are normalised with on the device.
func (j *Job) prepare() error {
	device, channels := j.Network.Placement().Device, len(j.Data.Mean)
	j.mean = j.s.To(torch.From(j.s, j.Data.Mean, channels, 1, 1), torch.Float32, device)
	j.deviation = j.s.To(torch.From(j.s, j.Data.Deviation, channels, 1, 1), torch.Float32, device)
	return j.s.Err()
}

// fits checks that network and data belong together.
func fits(p Parts) error {
	if p.Network == nil || p.Network.Scope() == nil || p.Data == nil || p.Clock == nil || p.Decider == nil || p.Now == nil {
		return errors.New("it needs a network with weights, data, a clock, a decider and the machine's clock")
	}
	if p.Data.Train.Count == 0 || p.Data.Validation.Count == 0 {
		return fmt.Errorf("%s has %d training and %d validation images; both are needed", p.Data.Name, p.Data.Train.Count, p.Data.Validation.Count)
	}
	return belong(p.Network, p.Data)
}

// belong checks that a network takes the images and tells their classes apart.
func belong(n *model.Network, data *dataset.Set) error {
	if shape := data.Shape; !n.Input.Same(shape[:]) {
		return fmt.Errorf("the network takes %v and the images of %s are %v; give the network that input, or other images", n.Input, data.Name, model.Shape(shape[:]))
	}
	out, err := n.Output()
	if err != nil {
		return err
	}
	if len(out) != 1 || out[0] != len(data.Classes) {
		return fmt.Errorf("the network gives %v and %s has %d classes; say so with the network's classes", out, data.Name, len(data.Classes))
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
// the job and returns ErrStopped. Where the decider leaves a decision open it saves
// the job as well, and returns decider.ErrOpen.
func (j *Job) Run(ctx context.Context) (o *Outcome, err error) {
	defer j.close()
	defer func() { j.Scheduler.End(err) }()
	j.show(Starts)
	j.saved = j.Now()
	if !j.Started {
		j.Started = true
		if err := j.Book.Note(j.note("start")); err != nil {
			return nil, err
		}
	}
	for !j.Over {
		if err := j.team.gather(ctx); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, errors.Join(ErrStopped, j.save())
		}
		err := j.turn(ctx)
		if errors.Is(err, decider.ErrOpen) {
			return nil, errors.Join(decider.ErrOpen, j.save())
		}
		if err != nil {
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
	if done, err := j.between(ctx); done {
		return err
	}
	if a := j.Scheduler.Allocation(); a.Change != Same || a.Devices != j.Devices {
		return j.heed(a)
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

// looking is the work of a look at a split.
func (j *Job) looking(split dataset.Split) Work {
	return Work{Kind: Batches, Count: (split.Count + j.EvalBatch - 1) / j.EvalBatch, Rows: j.EvalBatch, Network: j.Network, Devices: j.Devices}
}

// evaluation is the work of a look at the validation split.
func (j *Job) evaluation() Work { return j.looking(j.Data.Validation) }

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

func (j *Job) close() {
	j.team.close()
	_ = j.stale()
	j.dismiss()
	j.kept.close()
	j.kept = nil
}

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
