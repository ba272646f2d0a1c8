package trainer

import (
	"math"
	"time"

	"graft/model"
	"graft/torch"
	"graft/trainer/clock"
)

// Forecast holds the inputs that determine what a job on a virtual clock will do before it trains.
type Forecast struct {
	Timeline             Timeline
	Profile              *clock.Profile
	Options              Options
	Training, Validation int            // number of training images
	First                *model.Network // network at the start of the job
	Grown                *model.Network // network after the first decision; nil means First
}

// forecastTurns limits the turns of a forecast.
const forecastTurns = 200_000

// forecast is the state of a simulated job.
type forecast struct {
	Forecast
	now                time.Duration
	network            *model.Network
	step, epoch, event int // event counts the events taken so far
	devices            int
	asked              int
	asking             bool
	up                 int // index of the last up; negative before the first
	decisions          []int
	least              int                          // minimum rows per step
	costs              map[clock.Work]time.Duration // cost of one piece of work; the same few recur in every epoch
}

// Decisions returns the number of decisions after each event; known is false if it cannot be predicted. It follows the
// loop of [Job.Run] without training.
func (f Forecast) Decisions() (decisions []int, known bool) {
	f.Options.EnsureDefaults()
	if f.Grown == nil {
		f.Grown = f.First
	}
	r := &forecast{Forecast: f, now: f.Timeline.Start, network: f.First, devices: 1, up: -1,
		decisions: make([]int, len(f.Timeline.Events)), costs: map[clock.Work]time.Duration{}}
	var err error
	if r.least, _, err = f.First.LeastRows(); err != nil || f.Training < 1 || f.Options.Epochs > 0 ||
		r.covered() != nil {
		return nil, false
	}
	for range forecastTurns {
		if !r.turn() {
			return r.decisions, true
		}
	}
	return nil, false
}

// covered returns an error if the profile lacks the costs.
func (r *forecast) covered() error {
	for _, n := range []*model.Network{r.First, r.Grown} {
		if err := r.Options.CoveredBy(r.Profile, n, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *forecast) perEpoch() int { return torch.Pieces(r.Training, r.Options.Batch, r.least) }

func (r *forecast) cost(w clock.Work) time.Duration {
	count := time.Duration(w.Count)
	w.Devices, w.Count = r.devices, 1
	if _, known := r.costs[w]; !known {
		r.costs[w] = r.Profile.Cost(w)
	}
	return count * r.costs[w]
}

func (r *forecast) evaluation() time.Duration {
	o := r.Options
	return r.cost(clock.Work{Kind: clock.Batches, Count: (r.Validation + o.EvalBatch - 1) / o.EvalBatch,
		Rows: o.EvalBatch, Network: r.network})
}

// turn does the work that is due, like [Job.turn]; false means the end of the budget.
func (r *forecast) turn() bool {
	events := r.Timeline.Events
	between := r.asking || r.step == r.perEpoch()
	switch {
	case r.event < len(events) && events[r.event].At <= r.now && !(r.Options.Abandon && between):
		r.take(events[r.event])
	case r.asking:
		r.decide()
	case r.step == r.perEpoch():
		r.now += r.evaluation()
		r.step, r.epoch = 0, r.epoch+1
		r.asking = r.Options.Adapt.Every && r.asked > 0 && r.asked < r.Options.Adapt.MaxDecisions
	default:
		return r.train()
	}
	return true
}

func (r *forecast) take(e Event) {
	if e.Devices > 0 {
		r.devices = e.Devices
	}
	r.asked, r.asking = 0, e.Change == Up
	if e.Change == Up {
		r.up = r.event
	}
	if r.Options.Abandon {
		r.step = 0
	}
	r.event++
}

func (r *forecast) decide() {
	r.now += r.cost(clock.Work{Kind: clock.Deciding, Count: 1, Network: r.network}) +
		r.cost(clock.Work{Kind: clock.Surgery, Count: 1, Network: r.network})
	r.decisions[r.up]++
	r.asked, r.asking, r.network = r.asked+1, false, r.Grown
}

// train takes steps until the epoch or the budget ends, or the next event is due.
func (r *forecast) train() bool {
	one := r.cost(r.Options.stepWork(r.network, r.Options.Batch, r.devices))
	left := r.Timeline.Budget - r.now
	n := int(min(int64(r.perEpoch()-r.step), int64((left-1)/one)+1))
	if !r.Options.Overrun {
		left -= r.evaluation()
		n = int(min(int64(r.perEpoch()-r.step), int64(left/one)))
	}
	if left <= 0 || n < 1 {
		return false
	}
	if r.event < len(r.Timeline.Events) {
		due := math.Ceil(float64(r.Timeline.Events[r.event].At-r.now) / float64(one))
		n = int(min(float64(n), max(1, due)))
	}
	r.step, r.now = r.step+n, r.now+time.Duration(n)*one
	return true
}
