package trainer

import (
	"math"
	"time"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
)

// Forecast predicts the work of a job on a virtual clock before the job trains. Its fields are the inputs of the
// prediction.
type Forecast struct {
	Timeline             Timeline
	Profile              *clock.Profile
	Options              Options
	Training, Validation int            // number of images
	First                *model.Network // network at the start of the job; required
	Earlier              int            // epochs of earlier training, which count towards Options.Epochs
	// PerDevice makes the batch size proportional to the number of devices; Options.Batch is the batch size at the
	// start.
	PerDevice bool
	// Decide returns the action of a decision and the network after it, given the network before the decision.
	// Decisions are counted from 0. Nil means that decisions do not change the network.
	Decide func(n *model.Network, decision int) (net2net.Action, *model.Network)
	// Gains returns the number of gains that the decider computes before a decision. Nil means none.
	Gains func(n *model.Network) int
}

// Span is the expected work of a job between two changes of its devices.
type Span struct {
	From      time.Duration // used part of the budget when the job makes the change, or when it starts
	Devices   int           // number of devices
	Epochs    int           // epochs that end in the span
	Steps     int64         // training steps
	Batches   int64         // evaluation batches
	Decisions int           // decisions that follow the change, or happen in the span; see Adapt.When
	Late      int           // decisions that no training step of the network after them can follow
	Work      []Work        // steps and evaluation batches by network, in the order of their use
	Missed    bool          // the job ends before the event that begins the span
}

// Work is the expected work with one network.
type Work struct {
	Network *model.Network
	Steps   int64 // training steps
	Batches int64 // evaluation batches
}

// forecastTurns limits the turns of a forecast.
const forecastTurns = 200_000

// forecast is the state of a simulated job.
type forecast struct {
	Forecast
	now     time.Duration
	network *model.Network
	step    int // in the epoch
	devices int
	levels  []*model.Network // networks before each up that no down has reverted
	decided int              // decisions since the start
	unknown bool             // the profile lacks the costs of a network
	asked   int              // decisions since the last change of devices, or of the job; see Adapt.When
	moments []time.Duration  // times of decisions that are known before the job starts
	asking  bool
	up      int // index of the span of the last up; zero before the first
	spans   []Span
	least   int                          // minimum rows per step
	costs   map[clock.Work]time.Duration // cost of one piece of work; the same few recur in every epoch
}

// Spans returns the expected work before the first event and after each event, and false if this work is unknown. It
// follows the same steps as [Job.Run], without training, so it has no decisions whose times depend on training. An
// event that the job does not reach has a span without work.
func (f Forecast) Spans() (spans []Span, known bool) {
	r := f.begin()
	for range forecastTurns {
		if r.unknown {
			return nil, false
		}
		if !r.turn() {
			return r.ended(), true
		}
	}
	return nil, false
}

// begin returns the state at the start of the job.
func (f Forecast) begin() *forecast {
	f.Options.EnsureDefaults()
	if f.Decide == nil {
		f.Decide = func(n *model.Network, _ int) (net2net.Action, *model.Network) { return net2net.Action{}, n }
	}
	r := &forecast{Forecast: f, now: f.Timeline.Start, devices: f.Timeline.First(),
		spans: []Span{{From: f.Timeline.Start, Devices: f.Timeline.First()}},
		costs: map[clock.Work]time.Duration{}}
	f.Options.Timeline = f.Timeline
	r.moments = f.Options.Moments()
	var err error
	r.least, _, err = f.First.LeastRows()
	r.unknown = err != nil || f.Training < 1
	r.use(f.First)
	return r
}

// Least returns the shortest useful budget: the time of one step and of the evaluation after it. It returns false if
// this time is unknown.
func (f Forecast) Least() (time.Duration, bool) {
	r := f.begin()
	if r.unknown {
		return 0, false
	}
	return r.cost(r.Options.stepWork(r.network, r.batch(), r.devices)) + r.evaluation(), true
}

// Trial returns the time that must be left in the budget for a trial of the decider with some steps: the steps, the
// evaluation after them and, unless Overrun is set, the last evaluation of the job. It returns false if this time is
// unknown.
func (f Forecast) Trial(steps, devices int) (time.Duration, bool) {
	r := f.begin()
	if r.unknown {
		return 0, false
	}
	r.devices = devices
	work := r.Options.stepWork(r.network, r.batch(), devices)
	work.Count = steps
	evaluations := 2
	if r.Options.Overrun {
		evaluations = 1
	}
	return r.cost(work) + time.Duration(evaluations)*r.evaluation(), true
}

// use continues with a network, if the profile has its costs.
func (r *forecast) use(n *model.Network) {
	r.unknown = r.unknown || n != r.network && r.Options.CoveredBy(r.Profile, n, nil) != nil
	r.network = n
}

// ended adds spans without work for the events that the job does not reach.
func (r *forecast) ended() []Span {
	for _, e := range r.Timeline.Events[len(r.spans)-1:] {
		r.spans = append(r.spans, Span{From: e.At, Devices: max(e.Devices, 1), Missed: true})
	}
	return r.spans
}

// span returns the current span.
func (r *forecast) span() *Span { return &r.spans[len(r.spans)-1] }

// did records work with the current network.
func (r *forecast) did(steps, batches int) {
	s := r.span()
	s.Steps, s.Batches = s.Steps+int64(steps), s.Batches+int64(batches)
	if last := len(s.Work) - 1; last < 0 || s.Work[last].Network != r.network {
		s.Work = append(s.Work, Work{Network: r.network})
	}
	w := &s.Work[len(s.Work)-1]
	w.Steps, w.Batches = w.Steps+int64(steps), w.Batches+int64(batches)
}

// epochs counts all epochs, earlier ones included.
func (r *forecast) epochs() int {
	n := r.Earlier
	for _, s := range r.spans {
		n += s.Epochs
	}
	return n
}

func (r *forecast) perEpoch() int { return torch.Pieces(r.Training, r.batch(), r.least) }

// batch is the number of images per step.
func (r *forecast) batch() int {
	if r.PerDevice {
		return max(1, r.Options.Batch*r.devices/r.Timeline.First())
	}
	return r.Options.Batch
}

func (r *forecast) cost(w clock.Work) time.Duration {
	count := time.Duration(w.Count)
	w.Devices, w.Count = r.devices, 1
	if _, known := r.costs[w]; !known {
		r.costs[w] = r.Profile.Cost(w)
	}
	return count * r.costs[w]
}

// batches is the number of batches of an evaluation.
func (r *forecast) batches() int {
	return (r.Validation + r.Options.EvalBatch - 1) / r.Options.EvalBatch
}

func (r *forecast) evaluation() time.Duration {
	return r.cost(clock.Work{Kind: clock.Batches, Count: r.batches(), Rows: r.Options.EvalBatch, Network: r.network})
}

// turn does the work that is due, like [Job.turn]; false means the end of the budget.
func (r *forecast) turn() bool {
	if r.Timeline.Stopped(r.now) {
		if r.step == r.perEpoch() {
			r.evaluate()
		}
		return false
	}
	events, event := r.Timeline.Events, len(r.spans)-1
	r.asking = r.asking || r.asked < len(r.moments) && r.moments[r.asked] <= r.now
	between := r.asking || r.step == r.perEpoch()
	switch {
	case event < len(events) && events[event].At <= r.now && !(r.Options.Abandon && between):
		r.take(events[event])
	case r.asking:
		r.decide()
	case r.step == r.perEpoch():
		r.evaluate()
		r.asking = r.Options.Adapt.Every && r.asked > 0 && r.asked < r.Options.Adapt.MaxDecisions
		return r.Options.Epochs == 0 || r.epochs() < r.Options.Epochs // the loss is unknown
	default:
		return r.train()
	}
	return true
}

// evaluate ends an epoch.
func (r *forecast) evaluate() {
	r.did(0, r.batches())
	r.now, r.step = r.now+r.evaluation(), 0
	r.span().Epochs++
}

func (r *forecast) take(e Event) {
	if e.Devices > 0 {
		done := r.step * r.batch()
		r.devices = e.Devices
		r.step = min(done/r.batch(), r.perEpoch())
	}
	if r.onDevices() {
		r.asked, r.asking = 0, e.Change == Up
	}
	r.spans = append(r.spans, Span{From: r.now, Devices: r.devices})
	switch last := len(r.levels) - 1; {
	case e.Change == Up:
		r.up, r.levels = len(r.spans)-1, append(r.levels, r.network)
	case last >= 0:
		if before := r.levels[last]; before != r.network {
			r.now, r.network = r.now+r.cost(clock.Work{Kind: clock.Surgery, Count: 1, Network: r.network}), before
		}
		r.levels = r.levels[:last]
	}
	if r.Options.Abandon {
		r.step = 0
	}
}

func (r *forecast) onDevices() bool { return r.Options.Adapt.Kind().Name == WhenDevices }

func (r *forecast) decide() {
	action, after := r.Decide(r.network, r.decided)
	r.now += r.cost(clock.Work{Kind: clock.Deciding, Count: 1, Network: r.network})
	if r.Gains != nil {
		r.now += r.gradientsOf(r.network, r.Gains(r.network))
	}
	span := r.span()
	if r.onDevices() {
		span = &r.spans[r.up]
	}
	span.Decisions++
	r.asked, r.asking, r.decided = r.asked+1, false, r.decided+1
	before := r.network
	if r.use(after); r.unknown {
		return
	}
	took := r.surgery(action, before)
	if r.late(took) {
		span.Late++
		if action.Kind != net2net.None {
			r.network = before
			return
		}
	}
	r.now += took
}

// surgery returns the time of an action on a network, without the decision.
func (r *forecast) surgery(action net2net.Action, before *model.Network) (took time.Duration) {
	if action.Kind == net2net.None {
		return 0
	}
	took = r.cost(clock.Work{Kind: clock.Surgery, Count: 1, Network: r.network})
	if r.Options.Adapt.starting(action) {
		took += r.gradientsOf(before, 1)
	}
	return took
}

// gradientsOf returns the time of some gradients of a network.
func (r *forecast) gradientsOf(n *model.Network, count int) time.Duration {
	if count == 0 {
		return 0
	}
	w := r.Options.gradientWork(n, r.Training, r.Profile.Knows)
	return time.Duration(count*w.Count) * r.Profile.Cost(w)
}

// late reports whether no step of the current network can follow surgery of the given time, like [adaptation.late].
func (r *forecast) late(took time.Duration) bool {
	if r.Options.Overrun {
		return false
	}
	end := r.step == r.perEpoch()
	if end && r.Options.Epochs > 0 && r.epochs()+1 >= r.Options.Epochs {
		return true
	}
	left := r.Timeline.Budget - r.evaluation() - r.now - took
	if end {
		left -= r.evaluation()
	}
	return left < max(r.cost(r.Options.stepWork(r.network, r.batch(), r.devices)), 1)
}

// train takes steps until the epoch or the budget ends, or the next event is due.
func (r *forecast) train() bool {
	one := r.cost(r.Options.stepWork(r.network, r.batch(), r.devices))
	left := r.Timeline.Budget - r.now
	if !r.Options.Overrun {
		left -= r.evaluation()
	}
	if r.Timeline.Stop > 0 {
		left = min(left, r.Timeline.Stop-r.now)
	}
	n := int(min(int64(r.perEpoch()-r.step), int64((left-1)/one)+1))
	if !r.Options.Overrun {
		n = int(min(int64(r.perEpoch()-r.step), int64(left/one)))
	}
	if left <= 0 || n < 1 {
		return false
	}
	if next, known := r.next(); known {
		due := math.Ceil(float64(next-r.now) / float64(one))
		n = int(min(float64(n), max(1, due)))
	}
	r.did(n, 0)
	r.step, r.now = r.step+n, r.now+time.Duration(n)*one
	return true
}

// next returns the time of the next event or decision.
func (r *forecast) next() (at time.Duration, known bool) {
	at = math.MaxInt64
	if event := len(r.spans) - 1; event < len(r.Timeline.Events) {
		at, known = r.Timeline.Events[event].At, true
	}
	if r.asked < len(r.moments) {
		at, known = min(at, r.moments[r.asked]), true
	}
	return at, known
}
