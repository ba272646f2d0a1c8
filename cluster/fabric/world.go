package fabric

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/internal/events"
)

// Job is a job in an episode: a model, a number of training steps, and a time limit.
type Job struct {
	ID      int     // position of the job among the arrivals
	Model   int     // index of the model in Study.Models
	Limit   float64 // time limit as a fraction of the job's time on one server, above 0 and at most 1
	Steps   int     // number of training steps
	Arrival float64 // time of arrival in seconds

	Status  Status
	Cause   Cause   // reason why the job was blocked
	Degree  int     // chosen degree; 0 blocks the job
	Started float64 // time of the start in seconds; NaN before the start
	Ended   float64 // time of the end in seconds; NaN before the end
	Time    float64 // run time in seconds, for a started job
	Run     *Run    // state while the job runs, for a started job
}

// Status is the state of a job.
type Status uint8

// States of a job.
const (
	Absent Status = iota
	Queued
	Running
	Completed
	Blocked
)

var statusNames = [...]string{Absent: "absent", Queued: "queued", Running: "running", Completed: "completed",
	Blocked: "blocked"}

// String returns the name of a status.
func (s Status) String() string { return statusNames[s] }

// Cause is the reason why a job was blocked.
type Cause uint8

// Causes of blocking.
const (
	NoCause   Cause = iota
	Refused         // the decider chose degree 0
	NoServers       // there was no free block of servers
	TooSlow         // the job would exceed its time limit
	FullQueue       // too many jobs were waiting
	EndOfTime       // the job ran at the end of the episode, with the quirk running-blocked
)

var causeNames = [...]string{NoCause: "", Refused: "refused", NoServers: "no servers", TooSlow: "too slow",
	FullQueue: "full queue", EndOfTime: "end of time"}

// String returns the name of a cause. The name is empty if the job was not blocked.
func (c Cause) String() string { return causeNames[c] }

// Run holds the state of a running job.
type Run struct {
	Parted  *Parted
	Placed  *Placed // placement of the step, without the servers of single operations
	Step    *Step
	Busy    float64 // mean fraction of the job's servers that compute
	Compute float64 // seconds of the job in which a server computes
	Wire    float64 // seconds of the job in which a transfer runs
	rates   rates
}

// World simulates an episode of arriving jobs on a cluster. A decider chooses a degree for each arriving job, or blocks
// the job. A job that is not blocked is placed and runs to its end. A World is not safe for concurrent use.
type World struct {
	study   *Study
	quirks  cluster.Quirks
	timing  Timing
	Now     float64 // current time in seconds
	Jobs    []Job
	arrived int
	first   int // all jobs before this one have ended
	waiting int // job to decide on; -1 if none exists
	done    bool
	owner   []int               // by server: its job, or -1
	running int                 // running jobs
	ends    events.Heap[int]    // running jobs by end time
	batch   []int               // scratch space: jobs at the head of ends
	places  []int               // scratch space: servers of a block
	sum     rates               // of running jobs
	changes int                 // changes of sum since it was recomputed
	held    float64             // servers held by the jobs that ran before the last event
	steps   map[stepKey]*Step   // used with the quirk forgotten-placement
	Each    func(*Event)        // called for each event; nil calls nothing
	Pick    func(lanes int) int // chooses a lane for each transfer, like Site.Pick; nil uses lanes in turn
	event   Event
	Record  Record
}

// NewWorld begins an episode. The first job waits for a decision.
func NewWorld(study *Study) (*World, error) {
	if err := study.Validate(); err != nil {
		return nil, err
	}
	if study.parted == nil {
		study.Prepare()
	}
	w := &World{
		study: study, quirks: study.Options.Quirks, waiting: -1,
		timing: study.Timing(), Jobs: make([]Job, len(study.Jobs)),
		owner: make([]int, study.Network.Size()), steps: map[stepKey]*Step{},
	}
	copy(w.Jobs, study.Jobs)
	for k := range w.Jobs {
		j := &w.Jobs[k]
		j.ID, j.Started, j.Ended = k, math.NaN(), math.NaN()
	}
	for k := range w.owner {
		w.owner[k] = -1
	}
	w.Now = w.Jobs[0].Arrival
	w.arrive()
	return w, nil
}

// Waiting returns the job that waits for a decision, or nil after the end of the episode.
func (w *World) Waiting() *Job {
	if w.waiting < 0 || w.done {
		return nil
	}
	return &w.Jobs[w.waiting]
}

// arrive admits the next job to the queue.
func (w *World) arrive() {
	job := &w.Jobs[w.arrived]
	w.arrived++
	w.load(job)
	if w.waiting >= 0 {
		w.block(job, FullQueue)
		return
	}
	job.Status = Queued
	w.waiting = job.ID
}

// next returns the time of the next arrival, or infinity.
func (w *World) next() float64 {
	if w.arrived < len(w.Jobs) {
		return w.Jobs[w.arrived].Arrival
	}
	return math.Inf(1)
}

// Decide starts the waiting job at a degree, or blocks the job if the degree is 0. Time then advances until the next
// job waits or the episode ends.
func (w *World) Decide(degree int) error {
	job := w.Waiting()
	if job == nil {
		return errors.New("no job is waiting: the episode is over")
	}
	if degree < 0 || degree > w.study.Options.MaxParts {
		return fmt.Errorf("the degree of job %[2]d is %[1]d; expected 0 to %[3]d (0 blocks the job)", degree,
			job.ID,
			w.study.Options.MaxParts)
	}
	job.Degree = degree
	w.waiting = -1
	if err := w.admit(job); err != nil {
		return fmt.Errorf("job %d, %s at degree %d: %w", job.ID, w.study.Models[job.Model].Name, degree, err)
	}
	w.advance()
	for w.waiting < 0 && !w.done {
		w.advance()
	}
	return nil
}

// admit starts a job if it fits and ends within its limit.
func (w *World) admit(job *Job) error {
	if job.Degree == 0 {
		w.block(job, Refused)
		return nil
	}
	run, cause, err := w.prepare(job, job.Degree, w.Pick)
	if err != nil {
		return err
	}
	if run != nil {
		job.Time = run.Step.Time * float64(job.Steps)
	}
	if cause != NoCause {
		w.block(job, cause)
		return nil
	}
	w.start(job, run)
	return nil
}

// prepare places a job at a degree and simulates its step. The returned cause is the reason why it cannot start.
func (w *World) prepare(job *Job, degree int, pick func(lanes int) int) (*Run, Cause, error) {
	parted := w.study.Parted(job.Model, degree)
	site := Site{
		Network: w.study.Network, Memory: w.study.Options.Memory, Forward: w.quirks.Keeps(ForwardMemory),
		Free: func(server int) bool { return w.owner[server] < 0 }, Pick: pick,
	}
	placed, err := Place(&site, parted)
	if errors.Is(err, ErrNoPlace) {
		return nil, NoServers, nil
	}
	if err != nil {
		return nil, NoCause, err
	}
	step, err := w.step(job, placed)
	if err != nil {
		return nil, NoCause, err
	}
	steps := float64(job.Steps)
	run := &Run{Parted: parted, Placed: placed, Step: step, Compute: step.Compute * steps, Wire: step.Transfer * steps}
	if w.slow(job, run) {
		return run, TooSlow, nil
	}
	return run, NoCause, nil
}

// slow reports whether a job exceeds its time limit.
func (w *World) slow(job *Job, run *Run) bool {
	time := run.Step.Time * float64(job.Steps)
	if w.quirks.Keeps(RoundedLimit) {
		return time > job.Limit*(run.Parted.Details.Compute*w.timing.Unit*float64(job.Steps))
	}
	return time > job.Limit*w.study.Sequential(job)*(1+1e-9)
}

func (w *World) block(job *Job, cause Cause) {
	job.Status, job.Cause = Blocked, cause
	w.Record.Blocked++
	w.event.Blocked++
}

// start assigns a job to its servers.
func (w *World) start(job *Job, run *Run) {
	job.Status, job.Started, job.Run = Running, w.Now, run
	whole := job.Time
	if !w.quirks.Keeps(StepShare) {
		whole = run.Step.Time
	}
	run.Busy = run.Step.Busy(len(run.Placed.Servers), whole)
	run.rates = w.rates(job)
	for _, server := range run.Placed.Servers {
		w.owner[server] = job.ID
	}
	run.Placed = run.Placed.summary()
	w.push(job.ID)
	w.running++
	w.change(run.rates, 1)
}

func (w *World) push(id int) {
	job := &w.Jobs[id]
	w.ends.Push(events.Key{events.Float(job.Started + job.Time), int64(id)}, id)
}

// soonest removes from the heap the running jobs that end within some seconds of the first end, or of now if that is
// later.
func (w *World) soonest(within float64) []int {
	w.batch = w.batch[:0]
	until := math.Inf(-1)
	for {
		_, id, ok := w.ends.Head()
		if !ok || len(w.batch) > 0 && w.Jobs[id].Started+w.Jobs[id].Time > until {
			return w.batch
		}
		if len(w.batch) == 0 {
			until = max(w.Now, w.Jobs[id].Started+w.Jobs[id].Time) + within
		}
		w.ends.Pop()
		w.batch = append(w.batch, id)
	}
}

// near is the remaining time in s at which a job counts as ended.
const near = 1e-7

// advance moves the clock to the next arrival, end of a job, or end of the episode.
func (w *World) advance() {
	tick := w.tick()
	if math.IsInf(tick, 1) && !w.quirks.Keeps(EndlessClock) {
		w.finish()
		return
	}
	w.begin(tick)
	w.held = w.sum.servers
	w.Now += tick
	w.complete()
	if w.arrived < len(w.Jobs) && w.Now+near >= w.next() {
		w.event.Arrived++
		w.arrive()
	}
	w.done = w.Now >= w.study.Options.Until || w.arrived == len(w.Jobs) && !w.study.Options.More && w.running == 0 &&
		w.waiting < 0
	w.end()
	if w.done {
		w.finish()
	}
}

// tick returns the seconds to the next event. Jobs are ordered by end time except for rounding, so it checks all jobs
// that end within near of the first.
func (w *World) tick() float64 {
	tick := min(w.next()-w.Now, w.study.Options.Until-w.Now)
	for _, id := range w.soonest(near) {
		tick = min(tick, w.left(&w.Jobs[id]))
		w.push(id)
	}
	return max(tick, 0)
}

// left returns the seconds that a job has left.
func (w *World) left(job *Job) float64 { return job.Time - (w.Now - job.Started) }

// complete ends the jobs that are over, in order of arrival.
func (w *World) complete() {
	over := w.soonest(2 * near)
	slices.Sort(over)
	for _, id := range over {
		job := &w.Jobs[id]
		if w.left(job)-near > 0 {
			w.push(id)
			continue
		}
		job.Status, job.Ended = Completed, w.Now
		w.Record.Completed++
		w.event.Completed++
		w.running--
		for _, server := range job.Run.Placed.Servers {
			w.owner[server] = -1
		}
		w.change(job.Run.rates, -1)
	}
}

// finish ends the episode; running jobs stay running.
func (w *World) finish() {
	w.done = true
	if w.quirks.Keeps(RunningBlocked) {
		w.Record.Blocked += w.running
	}
}

// Held returns the number of servers that count as occupied for deciders. With the quirk [LateRelease], this is the
// number before the last event.
func (w *World) Held() int {
	if w.quirks.Keeps(LateRelease) {
		return int(w.held)
	}
	return int(w.sum.servers)
}

// Running returns the number of running jobs.
func (w *World) Running() int { return w.running }

// Study returns the simulated study.
func (w *World) Study() *Study { return w.study }

// Over reports whether the episode has ended.
func (w *World) Over() bool { return w.done }

// Arrived returns the number of jobs that have arrived.
func (w *World) Arrived() int { return w.arrived }
