package cluster

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"graft/internal/events"
)

// Pool is the state of a virtual cluster at the current second of the simulation: its nodes and the jobs that run on
// them. Schedulers call the pool's methods to start, preempt and resize jobs.
type Pool struct {
	agenda *events.Kernel[*Job] // ends of the running jobs
	nodes  *Nodes
	place  Placer
	speed  SpeedModel
	links  LinkModel // speed, if jobs share links; otherwise nil
	// computes the work of jobs whose networks adapt; nil if no job adapts
	learner Learner
	extra   int64 // seconds that a job keeps its devices after its work is done

	first, last *Job // running jobs in the order of their starts
	running     int
	starts      int64
	scratch     []Share
	slab        []Share
	states      []*running // unused states of running jobs

	waiting     int // number of waiting jobs
	waitingGPUs int
	waitingFew  int // number of waiting jobs that fit on one node
	busy        busy
	fault       error
	changes     func(Change)
	limits      bool    // jobs end at their time limits
	lastTypes   []uint8 // type of the nodes of each job of the study; nil without types
	spots       *spots  // spot jobs of the pool; nil if they are not evicted

	spread []*Job    // memory of relink
	rated  []float64 // memory of relink
}

// Change describes a change of a job's devices, such as a start or a preemption.
type Change struct {
	At   int64  // second of the change
	Job  *Job   // job that changed
	What string // kind of change: start, preempt, fail, evict, resize, pack, unpack, links or
	// end
	GPUs   int     // number of devices after the change
	Rate   float64 // rate of the job after the change
	Shared bool    // whether, after the change, another job runs on the same devices
}

type busy struct {
	since   int64   // second up to which usage is counted
	horizon int64   // last second that is counted
	taken   float64 // device-seconds with a job
	all     float64 // total device-seconds
	// the same until the last second of the simulation, for the energy of the devices
	takenEver, allEver float64
}

func newPool(nodes *Nodes, place Placer, speed SpeedModel, now int64) *Pool {
	links, _ := speed.(LinkModel)
	return &Pool{agenda: events.NewKernel[*Job](now), nodes: nodes, place: place, speed: speed, links: links,
		busy: busy{since: now}}
}

// Now returns the current second.
func (p *Pool) Now() int64 { return p.agenda.Now() }

// GPUs returns the number of devices. Free devices of failed, drained and spare nodes do not count. For the scheduler
// of spot jobs, the devices of other jobs do not count.
func (p *Pool) GPUs() int { return p.nodes.sum - p.nodes.lost - p.nodes.away }

// Moves counts the changes of the nodes that the pool can use: nodes that enter or leave the service and, for the
// scheduler of spot jobs, devices that other jobs take or return.
func (p *Pool) Moves() int { return p.nodes.moves }

// Free returns the number of devices without a job.
func (p *Pool) Free() int { return p.nodes.free }

// Room returns the free capacity of the devices in thousandths of a device.
func (p *Pool) Room() int64 { return int64(p.nodes.free)*Whole + p.nodes.room }

// Nodes returns the current nodes.
func (p *Pool) Nodes() *Nodes { return p.nodes }

// Count returns the number of running jobs.
func (p *Pool) Count() int { return p.running }

// Running yields the running jobs in the order of their starts. The body of the loop may preempt the current job.
func (p *Pool) Running() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := p.first; j != nil; {
			after := j.running.after
			if !yield(j) {
				return
			}
			j = after
		}
	}
}

// Fits reports whether a waiting job has a placement now.
func (p *Pool) Fits(j *Job) bool {
	_, ok := p.find(j, j.GPUs)
	return ok
}

// find looks for devices for a job. The result is valid until the next call.
func (p *Pool) find(j *Job, gpus int) ([]Share, bool) {
	p.nodes.at(j)
	if p.nodes.types != nil {
		return p.findTyped(j, gpus)
	}
	return p.among(j, gpus, 1)
}

// among looks for devices of the nodes that the current view contains. On these nodes the job's time has the given
// rate.
func (p *Pool) among(j *Job, gpus int, rate float64) ([]Share, bool) {
	p.expect(j, gpus, rate)
	if p.nodes.share > 0 {
		if beside, ok := p.nodes.beside(); ok {
			return append(p.scratch[:0], beside), true
		}
	}
	if gpus > p.nodes.view.free {
		return nil, false
	}
	shares, ok := p.place.Place(p.nodes, gpus, p.scratch[:0])
	p.scratch = shares[:0]
	return shares, ok
}

// expect sets the second at which a job is expected to end on a number of devices, if a drain is planned: after its
// remaining work or, if that is later, after the user's time limit. The rate is relative to the type of nodes on which
// the job ran in the trace.
func (p *Pool) expect(j *Job, gpus int, rate float64) {
	if p.nodes.drains {
		left := int64(math.Ceil(max(0, p.Left(j)) * float64(j.asked) / float64(gpus) / rate))
		p.nodes.until = p.Now() + max(left, j.Trace.Limit) + p.extra
	}
}

// Start gives a waiting job its devices. It returns false if there is no placement.
func (p *Pool) Start(j *Job) bool { return p.StartOn(j, j.GPUs) }

// StartOn starts a waiting job on a number of devices other than the number that it requests. It returns false if there
// is no placement.
func (p *Pool) StartOn(j *Job, gpus int) bool {
	if j.Running() || gpus <= 0 || isFixed(j, gpus) {
		p.fail("cannot start job %s on %d devices; expected a waiting job and at least one device, and the requested "+
			"number of devices for a job that cannot be resized", j.Trace.ID, gpus)
		return false
	}
	shares, ok := p.find(j, gpus)
	if !ok {
		return false
	}
	p.nodes.take(shares)
	j.Nodes = p.kept(j, shares)
	p.begin(j, gpus, nil)
	p.tell(j, "start")
	p.relink()
	return true
}

// isFixed reports whether a job cannot have a number of devices, because it has only the number that it requests.
func isFixed(j *Job, gpus int) bool { return j.fixed && gpus != int(j.asked) }

// kept copies the shares of a job into the memory of its last ones, or else into memory shared by many jobs.
func (p *Pool) kept(j *Job, shares []Share) []Share {
	const first, most = 1 << 6, 1 << 12 // sizes of the first chunk of memory and of later ones
	if len(shares) <= cap(j.Nodes) {
		return append(j.Nodes[:0], shares...)
	}
	if len(p.slab)+len(shares) > cap(p.slab) {
		p.slab = make([]Share, 0, max(first, min(2*cap(p.slab), most), len(shares)))
	}
	from := len(p.slab)
	p.slab = append(p.slab, shares...)
	return p.slab[from:len(p.slab):len(p.slab)]
}

// begin adds a job with devices to the running jobs. It returns the rate of the host, which has the same devices; nil
// if there is none.
func (p *Pool) begin(j *Job, gpus int, host *Job) (hostRate float64) {
	if j.Running() || j.End != Never || j.Arrival > p.Now() {
		p.fail("cannot start job %s at second %d; expected a job that has arrived, is not running and has not ended",
			j.Trace.ID, p.Now())
		return j.rate
	}
	from := p.Now() + p.spots.delay(j)
	if j.Start == Never {
		j.Start = from
	}
	j.Queue += from - j.waits
	p.count(j, -1)
	j.GPUs = gpus
	p.given(j)
	r := p.state()
	*r = running{order: p.starts, since: from, spots: from, saved: j.work, partner: host, before: p.last}
	j.running = r
	p.beginLimit(j, from)
	p.onType(j)
	j.rate, hostRate = p.rates(j)
	p.starts++
	p.running++
	if r.before != nil {
		r.before.running.after = j
	} else {
		p.first = j
	}
	p.last = j
	r.end = p.foresee(j)
	r.ending = p.agenda.Schedule(r.end, 0, j)
	return hostRate
}

// state returns memory for the state of a job that starts, which stop makes available again.
func (p *Pool) state() *running {
	if n := len(p.states); n > 0 {
		r := p.states[n-1]
		p.states = p.states[:n-1]
		return r
	}
	return &running{}
}

// foresee returns the second at which a job ends if nothing changes.
func (p *Pool) foresee(j *Job) int64 {
	if j.work <= 0 {
		return p.beforeLimit(j, j.running.since+p.extra)
	}
	_, steps := used(j.work, j.rate, Never)
	if steps == Never {
		p.fail("job %s would never end: at a rate of %v, its work of %v seconds does not decrease", j.Trace.ID,
			j.rate, j.work)
	}
	return p.beforeLimit(j, j.running.since+steps+p.extra)
}

// count adds a job to the waiting jobs, or removes it.
func (p *Pool) count(j *Job, jobs int) {
	p.waiting += jobs
	p.waitingGPUs += jobs * j.GPUs
	if j.GPUs <= p.nodes.each {
		p.waitingFew += jobs
	}
}

// Left returns the remaining work of a job: the number of seconds that it would take alone on its requested devices
// (rate 1).
func (p *Pool) Left(j *Job) float64 {
	if !j.Running() {
		return j.work
	}
	left, _ := used(j.work, j.rate, max(0, p.Now()-j.running.since))
	return left
}

// settle updates a running job's remaining work to now.
func (p *Pool) settle(j *Job) {
	j.work, j.running.since = p.Left(j), max(j.running.since, p.Now())
}

// setRate changes a job's rate from now on. A job without remaining work that keeps its devices for its extra second
// ends as before.
func (p *Pool) setRate(j *Job, rate float64) {
	p.settle(j)
	j.rate = rate
	if j.work <= 0 {
		return
	}
	j.running.end = p.foresee(j)
	p.agenda.Reschedule(j.running.ending, j.running.end)
}

// rates asks the speed model for the rates of a job and its partner on their devices.
func (p *Pool) rates(j *Job) (job, partner float64) {
	job, partner = p.speed.Rates(Placement{Job: j, GPUs: j.GPUs, Nodes: j.Nodes, Partner: j.running.partner})
	if j.running.partner == nil {
		partner = job
	}
	if !(min(job, partner) > 0) || math.IsInf(max(job, partner), 1) {
		p.fail("the speed model returns a rate of %v for job %s and %v for the job that shares its devices; "+
			"expected positive, finite rates", job, j.Trace.ID, partner)
		return 1, 1
	}
	return job * j.typeRate(), partner * cmp.Or(j.running.partner, j).typeRate()
}

// repeat adds the work that a job loses with its devices.
func (p *Pool) repeat(j *Job, lost float64) {
	if !(lost >= 0) {
		p.fail("the speed model returns a loss of %v seconds of work for job %s; expected at least 0", lost,
			j.Trace.ID)
		return
	}
	// a job without work repeats nothing; with its extra second the original charges it
	if j.work > 0 || p.extra > 0 {
		j.work += lost
	}
}

// Preempt takes all devices from a running job. The job must repeat some work (see [SpeedModel]) and waits again.
func (p *Pool) Preempt(j *Job) {
	if !j.Running() || j.Partner() != nil {
		p.fail("cannot preempt job %s; expected a running job that does not share its devices", j.Trace.ID)
		return
	}
	lost := p.speed.Lost(j)
	p.settle(j)
	p.stop(j)
	j.GPUs = int(j.asked)
	p.repeat(j, lost)
	j.Preemptions++
	p.wait(j)
	p.tell(j, "preempt")
	p.relink()
}

func (p *Pool) wait(j *Job) {
	j.waits = p.Now()
	p.count(j, 1)
}

// stop removes a job from the running jobs and from its devices.
func (p *Pool) stop(j *Job) {
	r := j.running
	if rest := r.since - max(r.spots, p.Now()); rest > 0 {
		j.loses().Delay -= rest
	}
	if rest := r.spots - p.Now(); rest > 0 { // spot jobs still use its devices
		j.Queue -= rest
		if j.Start == r.spots {
			j.Start = Never
		}
	}
	p.endLimit(j)
	if j.losses != nil {
		j.losses.notice = 0
	}
	if r.ending != 0 {
		p.agenda.Cancel(r.ending)
	}
	if r.before != nil {
		r.before.running.after = r.after
	} else {
		p.first = r.after
	}
	if r.after != nil {
		r.after.running.before = r.before
	} else {
		p.last = r.before
	}
	p.running--
	p.leave(j)
	j.running, p.states = nil, append(p.states, r)
}

// leave removes a job from its devices. A partner keeps them.
func (p *Pool) leave(j *Job) {
	other := j.running.partner
	if other == nil {
		p.nodes.at(j).release(j.Nodes)
		return
	}
	p.nodes.at(j).join(j.Nodes, -1)
	other.running.partner = nil
}

// Pack starts a waiting job on the devices of a job that runs alone and has the same number of devices. Both jobs work
// at the rates of the speed model until one of them ends. Pack returns false if the nodes do not have enough other
// resources, such as memory, for the waiting job, if it does not accept their type, or if the running job will be
// evicted.
func (p *Pool) Pack(guest, host *Job) bool {
	p.expect(guest, guest.GPUs, guest.RateOn(host.Type()))
	switch {
	case !host.Running() || host.running.partner != nil || guest.Running() || guest.GPUs != host.GPUs ||
		guest.Share()+host.Share() > 0:
		p.fail("cannot pack waiting job %s with job %s; expected jobs with equal numbers of whole devices, and a "+
			"running second job that does not share its devices", guest.Trace.ID, host.Trace.ID)
		return false
	case host.Lost().notice > 0 || !guest.Accepts(host.Type()) || !p.nodes.at(guest).canJoin(host.Nodes):
		return false
	}
	guest.Nodes = p.kept(guest, host.Nodes)
	p.nodes.join(host.Nodes, 1)
	host.running.partner = guest
	p.setRate(host, p.begin(guest, guest.GPUs, host))
	p.tell(guest, "start")
	p.tell(host, "pack")
	return true
}

// Resize changes the number of devices of a job that runs alone. The job must repeat some work (see [SpeedModel]). If
// there is no placement, Resize returns false and the job keeps its devices.
func (p *Pool) Resize(j *Job, gpus int) bool {
	if !j.Running() || j.Partner() != nil || gpus <= 0 || isFixed(j, gpus) {
		p.fail("cannot resize job %s to %d devices; expected a running job that can be resized and does not share "+
			"its devices, and at least one device", j.Trace.ID, gpus)
		return false
	}
	p.nodes.at(j).release(j.Nodes)
	lost := p.speed.Lost(j)
	shares, ok := p.find(j, gpus)
	if ok {
		j.Nodes, j.GPUs = p.kept(j, shares), gpus
		p.onType(j)
	}
	p.nodes.take(j.Nodes)
	if ok {
		p.settle(j)
		p.repeat(j, lost)
		p.given(j)
		j.running.saved = j.work
		from := max(j.running.since, p.Now()+p.spots.delay(j))
		if from > j.running.since { // it waits for spot jobs, beyond a restart delay
			j.Queue += from - j.running.since
			j.running.since, j.running.spots = from, from
		}
		rate, _ := p.rates(j)
		p.setRate(j, rate)
		p.tell(j, "resize")
		p.relink()
	}
	return ok
}

// finish ends a job. A partner then has its devices for itself.
func (p *Pool) finish(j *Job) {
	p.settle(j)
	other := j.running.partner
	p.stop(j)
	j.End, j.GPUs = p.Now(), int(j.asked)
	if p.learner != nil {
		p.learner.Ended(j, max(0, j.work))
	}
	p.tell(j, "end")
	p.unpack(other)
	p.relink()
}

// unpack gives the former partner of a job its devices for itself. It does nothing without a partner.
func (p *Pool) unpack(other *Job) {
	if other == nil {
		return
	}
	if rate, _ := p.rates(other); rate != other.rate {
		p.setRate(other, rate)
	}
	p.tell(other, "unpack")
}

// relink updates the rates of the jobs that share links, after the devices of a job have changed.
func (p *Pool) relink() {
	if p.links == nil {
		return
	}
	p.spread = p.spread[:0]
	for j := p.first; j != nil; j = j.running.after {
		if len(j.Nodes) > 1 && j.running.partner == nil {
			p.spread = append(p.spread, j)
		}
	}
	p.rated = slices.Grow(p.rated[:0], len(p.spread))[:len(p.spread)]
	p.links.Together(p.spread, p.rated)
	for k, j := range p.spread {
		rate := p.rated[k] * j.typeRate()
		switch {
		case !(rate > 0) || math.IsInf(rate, 1):
			p.fail("the speed model returns a rate of %v for job %s, which shares links; expected a positive, finite "+
				"rate", rate, j.Trace.ID)
			return
		case rate != j.rate:
			p.setRate(j, rate)
			p.tell(j, "links")
		}
	}
}

// Fail ends the simulation with an error that the scheduler reports.
func (p *Pool) Fail(err error) {
	if p.fault == nil {
		p.fault = err
	}
}

func (p *Pool) fail(format string, args ...any) {
	p.Fail(fmt.Errorf(format, args...))
}

func (p *Pool) tell(j *Job, what string) {
	if p.changes != nil {
		p.changes(Change{At: p.Now(), Job: j, What: what, GPUs: j.GPUs, Rate: j.rate, Shared: j.Partner() != nil})
	}
}

// advance moves the clock to a second and counts the usage of devices until then.
func (p *Pool) advance(to int64) {
	taken, all := float64(p.GPUs()-p.nodes.free-p.nodes.both), float64(p.GPUs())
	if p.nodes.lends {
		all = float64(p.nodes.lasting) // the pool of the other jobs counts all other devices
	}
	if span := float64(min(to, p.busy.horizon) - p.busy.since); span > 0 {
		p.busy.taken += span * taken
		p.busy.all += span * all
	}
	span := float64(to - p.busy.since)
	p.busy.takenEver += span * taken
	p.busy.allEver += span * all
	p.busy.since = to
	p.agenda.Advance(to)
}

// Waiting returns the number of waiting jobs.
func (p *Pool) Waiting() int { return p.waiting }
