package curves

import (
	"strconv"

	"graft/cluster"
	"graft/internal/stat"
)

// Population draws the curves of jobs.
type Population struct {
	Options
	curves  []*Curve
	typical *Curve // median effects of each kind of growth, over the curves whose tables have it
}

// NewPopulation returns the population of a list of curves, which must not be empty.
func NewPopulation(o Options, curves []*Curve) *Population {
	middle := func(k Kind, of func(c *Curve) float64) float64 {
		var list []float64
		for _, c := range curves {
			if c.Measured(k) {
				list = append(list, of(c))
			}
		}
		if len(list) == 0 {
			return 0
		}
		return stat.Median(list)
	}
	effects := func(of func(c *Curve) Terms) Terms {
		return Terms{Deepen: middle(Deepen, func(c *Curve) float64 { return of(c).Deepen }),
			Widen: middle(Widen, func(c *Curve) float64 { return of(c).Widen })}
	}
	return &Population{o, curves, &Curve{
		Rate:  effects(func(c *Curve) Terms { return c.Rate }),
		Floor: effects(func(c *Curve) Terms { return c.Floor }),
		Loss:  effects(func(c *Curve) Terms { return c.Loss }),
	}}
}

// believed returns the curve with which a job decides.
func (p *Population) believed(own *Curve) *Curve {
	if p.Knowledge == OwnKnowledge {
		return own
	}
	b := *own
	for _, t := range []struct{ to, from *Terms }{{&b.Rate, &p.typical.Rate}, {&b.Floor, &p.typical.Floor},
		{&b.Loss, &p.typical.Loss}} {
		t.to.Deepen, t.to.Widen = t.from.Deepen, t.from.Widen
	}
	return &b
}

// Learner returns the learner of a pool in which a share of the jobs can grow. A job draws the same curve, and is among
// the same share of the jobs, under every scheduler.
func (p *Population) Learner(share float64, seed uint64) func(jobs []*cluster.Job) cluster.Learner {
	return func(jobs []*cluster.Job) cluster.Learner {
		l := &Learner{Population: p, share: share, seed: seed, at: make(map[*cluster.Job]int, len(jobs)),
			states: make([]state, len(jobs))}
		for k, j := range jobs {
			l.at[j], l.states[k] = k, l.begin(j)
		}
		return l
	}
}

// Learner follows the networks of a pool's jobs.
type Learner struct {
	*Population
	share  float64
	seed   uint64
	at     map[*cluster.Job]int // positions of the states of jobs
	states []state
}

// state is the network of a job.
type state struct {
	curve, believed *Curve
	network         Network
	error           float64
	target          float64 // error at which the job ends; zero without one
	work            float64 // remaining work when the job last got devices
	budget          float64 // work in the trace
	done            float64 // work that trained the network
	debt            float64 // repeated work that exceeds the work before it
	plan            plan
	grows           bool
}

// plan is a growth that a job has decided on.
type plan struct {
	kind Kind
	wait float64 // share of the budget until the growth
	on   bool
}

func (l *Learner) begin(j *cluster.Job) state {
	draws := j.Trace.Draws(l.seed)
	s := state{curve: l.curves[draws.IntN(len(l.curves))], budget: j.Remaining(), work: j.Remaining()}
	s.grows = draws.Float64() < l.share && l.Accepts(j.Trace)
	s.believed, s.error = l.Population.believed(s.curve), s.curve.Chance
	if l.Ends == ByAccuracy {
		s.target = s.never()
	}
	return s
}

// never returns the error of the job's network at the end of its work without growth.
// A job without work learns nothing.
func (s *state) never() float64 {
	if s.budget <= 0 {
		return s.curve.Chance
	}
	return s.curve.Train(Network{}, s.curve.Chance, 1)
}

// follow trains the network with the work since the job last got devices.
func (s *state) follow(left float64) {
	work := s.work - left - s.debt
	s.debt, work = max(0, -work), max(0, work)
	s.work, s.done = left, s.done+work
	if s.budget <= 0 {
		return
	}
	share := work / s.budget
	if s.plan.on && share >= s.plan.wait {
		s.error = s.curve.Grow(s.plan.kind, s.curve.Train(s.network, s.error, s.plan.wait))
		s.network, share = s.network.Grown(s.plan.kind), share-s.plan.wait
		s.plan = plan{}
	}
	if s.plan.on {
		s.plan.wait -= share
	}
	s.error = s.curve.Train(s.network, s.error, share)
}

// Given implements [cluster.Learner]: the job decides whether and how its network grows.
func (l *Learner) Given(j *cluster.Job, left float64) (float64, error) {
	s := &l.states[l.at[j]]
	s.follow(left)
	before := s.plan
	s.plan = s.choose()
	if s.target > 0 && (s.plan.on || before.on) {
		most := l.MostWork*s.budget - s.done
		s.work = s.debt + max(1, min(s.budget*s.until(s.curve, s.plan), most))
	}
	return s.work, nil
}

// choose returns the growth with the largest expected advantage: the lowest error at the end of the budget or, with a
// target, the least work until the target. A network grows no earlier than in the table of its curve, and only in ways
// that the table has.
func (s *state) choose() (best plan) {
	if !s.grows || s.network.Total() >= s.curve.Actions || s.budget <= 0 {
		return plan{}
	}
	wait := max(0, s.curve.First-s.done/s.budget)
	least := s.value(plan{})
	for k := range Kind(kinds) {
		if !s.curve.Measured(k) {
			continue
		}
		p := plan{k, wait, true}
		if v := s.value(p); v < least {
			best, least = p, v
		}
	}
	return best
}

// value returns the expected error of a plan at the end of the budget or, with a target, its expected work.
func (s *state) value(p plan) float64 {
	if s.target > 0 {
		return s.until(s.believed, p)
	}
	return s.after(s.believed, p, (s.work-s.debt)/s.budget)
}

// after returns the error after a share of the budget, by a curve.
func (s *state) after(c *Curve, p plan, share float64) float64 {
	if !p.on || share <= p.wait {
		return c.Train(s.network, s.error, share)
	}
	e := c.Grow(p.kind, c.Train(s.network, s.error, p.wait))
	return c.Train(s.network.Grown(p.kind), e, share-p.wait)
}

// until returns the share of the budget until the target, by a curve.
func (s *state) until(c *Curve, p plan) float64 {
	now := c.Needs(s.network, s.error, s.target)
	if !p.on || now <= p.wait {
		return now
	}
	e := c.Grow(p.kind, c.Train(s.network, s.error, p.wait))
	return p.wait + c.Needs(s.network.Grown(p.kind), e, s.target)
}

// Ended implements [cluster.Learner].
func (l *Learner) Ended(j *cluster.Job, left float64) {
	l.states[l.at[j]].follow(left)
}

// Offer implements [cluster.Learner].
func (l *Learner) Offer(j *cluster.Job, gpus int, left float64) cluster.Offer {
	rate := float64(min(gpus, j.Trace.GPUs)) / float64(j.Trace.GPUs)
	if l.NoiseScale > 0 {
		rate = float64(gpus) / float64(j.Trace.GPUs) * l.useful(j, gpus)
	}
	s := l.states[l.at[j]] // a copy
	s.follow(left)
	p := s.choose()
	if !p.on {
		return cluster.Offer{Goodput: rate}
	}
	return cluster.Offer{Action: p.kind.String(), Goodput: rate * s.advantage(p)}
}

// advantage returns the expected work without growth, relative to the work with a planned growth, for the same error:
// the target, or the error at the end of the budget.
func (s *state) advantage(p plan) float64 {
	with, plain := (s.work-s.debt)/s.budget, *s
	if s.target > 0 {
		with = s.value(p)
	} else {
		plain.target = s.value(p)
	}
	return min(mostAdvantage, plain.until(s.believed, plan{})/with)
}

// mostAdvantage limits the goodput of a network that reaches an error which it never reaches without growth.
const mostAdvantage = 10

// Speed returns a speed model in which examples of batches above the requested ones are less useful.
func (p *Population) Speed(model cluster.SpeedModel) cluster.SpeedModel {
	if p.NoiseScale == 0 {
		return model
	}
	return batchSpeed{model, p}
}

type batchSpeed struct {
	cluster.SpeedModel
	p *Population
}

// Rates implements [cluster.SpeedModel].
func (m batchSpeed) Rates(at cluster.Placement) (job, partner float64) {
	job, partner = m.SpeedModel.Rates(at)
	return job * m.p.useful(at.Job, at.GPUs), partner
}

// useful returns how useful an example is with the batch on a number of devices, relative to the requested number.
func (p *Population) useful(j *cluster.Job, gpus int) float64 {
	if p.NoiseScale == 0 || gpus <= j.Trace.GPUs {
		return 1
	}
	return (p.NoiseScale + 1) / (p.NoiseScale + float64(gpus)/float64(j.Trace.GPUs))
}

// Columns implements [cluster.Learner].
func (l *Learner) Columns() []string {
	return []string{"can_grow", "deepened", "widened", "accuracy [share]", "accuracy_never [share]"}
}

// Cells implements [cluster.Learner].
func (l *Learner) Cells(row []byte, j *cluster.Job) []byte {
	r := l.Result(j)
	row = strconv.AppendBool(append(row, ','), r.Grows)
	for _, n := range r.Network {
		row = strconv.AppendInt(append(row, ','), int64(n), 10)
	}
	for _, a := range []float64{r.Accuracy, r.Never} {
		row = strconv.AppendFloat(append(row, ','), a, 'f', 6, 64)
	}
	return row
}

// Result describes the network of an ended job.
type Result struct {
	Grows    bool    // the job can grow its network
	Network  Network // network at the end
	Accuracy float64 // accuracy at the end
	Never    float64 // accuracy without growth at the end of the work in the trace
	// the job ended with a lower accuracy, or needed more work, than without growth
	Worse  bool
	Missed bool // the job ended without the accuracy at which it was to end
}

// Result returns the result of an ended job. A job that ended before its pool was simulated, in a profiler, did not
// grow.
func (l *Learner) Result(j *cluster.Job) Result {
	k, known := l.at[j]
	if !known {
		s := l.begin(j)
		return Result{Grows: s.grows, Accuracy: 1 - s.never(), Never: 1 - s.never()}
	}
	s := &l.states[k]
	r := Result{Grows: s.grows, Network: s.network, Accuracy: 1 - s.error, Never: 1 - s.never()}
	r.Missed = s.target > 0 && s.error > s.target+closeEnough
	never := r.Never
	if j.TimedOut() && s.budget > 0 { // without growth, it would have reached its limit too
		never = 1 - s.curve.Train(Network{}, s.curve.Chance, min(1, s.done/s.budget))
	}
	r.Worse = s.network.Total() > 0 && (r.Accuracy < never-closeEnough || s.done > s.budget+1)
	return r
}

// closeEnough is the error by which a job that ends by accuracy may miss it: ends are rounded to whole seconds.
const closeEnough = 1e-9
