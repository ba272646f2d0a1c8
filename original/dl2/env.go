package dl2

import (
	"errors"
	"fmt"
	"slices"

	"graft/cluster/elastic"
	"graft/cluster/elastic/numpy"
)

// EnvOptions are the parameters of the published environment.
type EnvOptions struct {
	Window int // jobs that are seen; zero means 20
	// Training draws as the published training did: the environment, not the policy, chooses many
	// actions. False is its validation.
	Training  bool
	Likeliest bool // takes the likeliest action in validation; false draws
	MostSlots int  // slots after which an episode fails; zero means 1000
}

// The constants of its exploration.
const (
	drawRange   = 100_000 // a draw of an action has so many values
	fewest      = 1e-20   // probability from which an action may be injected
	rareAction  = 0.001   // share of actions below which a kind is injected
	rareServers = 0.01    // chance of a bundle where a job has many workers
)

// Env is the published environment: a policy's probabilities go in, and the environment draws,
// replaces and takes the action. It needs parameter servers.
type Env struct {
	Window *elastic.Window // as it was at the last Observe

	o      EnvOptions
	world  *elastic.World
	random *numpy.Random
	counts [3]float64 // actions of each kind that were taken
	ratio  int        // servers for a worker from which a job gets workers
	slots  int
	reward float64 // of the last slot
	done   bool
}

// Taken is the result of a step.
type Taken struct {
	Probabilities []float64 // the policy's, masked and divided by their sum; nil where nothing was allowed
	Action        int       // -1 where nothing was allowed
	Reward        float64   // of the slot, where it ended
	Ended         bool      // the slot ended
	Valid         bool      // the action was possible
}

// NewEnv begins an episode. Random numbers come from one stream, as in the original.
func NewEnv(s elastic.Study, o EnvOptions, random *numpy.Random) (*Env, error) {
	if o.MostSlots == 0 {
		o.MostSlots = 1000
	}
	compatible := elastic.Compatible()
	s.Options.Scaling, s.Options.Quirks = compatible.Scaling, slices.DeleteFunc(compatible.Quirks, func(name string) bool { return name == elastic.StaleShare.Name })
	if s.Options.AllReduce || s.Options.SpeedError > 0 {
		return nil, errors.New("begin an episode of DL2: it has no form without parameter servers or with errors of speeds here")
	}
	w, err := elastic.NewWorld(s)
	if err != nil {
		return nil, err
	}
	e := &Env{o: o, world: w, random: random, Window: elastic.NewWindow(w, elastic.WindowOptions{Size: o.Window})}
	e.prepare()
	return e, nil
}

// Done reports whether all jobs have completed.
func (e *Env) Done() bool { return e.done }

// Result is that of the episode so far.
func (e *Env) Result() *elastic.Result { return e.world.Result() }

// prepare begins a slot: each job gets a bundle, as long as the least loaded node has room.
func (e *Env) prepare() {
	e.world.Begin()
	for _, j := range e.world.Jobs() {
		e.world.Add(j, elastic.Bundle)
	}
	e.random.IntN(1, e.world.Most()) // a number of workers that only other variants read
	e.ratio = e.random.IntN(3, 8)
}

// end ends the slot. The original draws an error of each job's speed, which is zero here.
func (e *Env) end() error {
	for _, j := range e.world.Jobs() {
		if len(j.Workers) > 0 && len(j.Servers) > 0 {
			e.random.Float64()
		}
	}
	e.reward = e.world.End()
	if e.done = e.world.Done(); e.done {
		return nil
	}
	if e.slots++; e.slots > e.o.MostSlots {
		return fmt.Errorf("episode of DL2: jobs are left after %d slots; the policy starves them", e.o.MostSlots)
	}
	e.prepare()
	return nil
}

// Observe is the state, row by row.
func (e *Env) Observe() []float64 {
	e.Window.Observe()
	return e.Window.State
}

// mask says which actions are allowed: those of jobs that are there and not at their maximum, and to
// end the slot.
func (e *Env) mask() []bool {
	mask := make([]bool, e.Window.Actions())
	for k, j := range e.Window.Jobs {
		for a := range 3 {
			mask[3*k+a] = j != nil && e.world.Allowed(j, elastic.Action(a))
		}
	}
	mask[len(mask)-1] = true
	return mask
}

// Step takes a step by a policy's probabilities for the last observation.
func (e *Env) Step(probabilities []float64) (t Taken, err error) {
	mask := e.mask()
	skip := len(mask) - 1
	t.Action = -1
	m, sum := slices.Clone(probabilities), 0.0
	for k := range m {
		if !mask[k] {
			m[k] = 0
		}
		sum += m[k]
	}
	if !slices.Contains(mask[:skip], true) || sum <= 0 {
		return e.move(t)
	}
	for k := range m {
		m[k] /= sum
	}
	t.Probabilities, t.Action = m, e.choose(m, mask)
	if t.Action == skip {
		t.Valid = true
		return e.move(t)
	}
	e.counts[t.Action%3]++
	if !e.world.Add(e.Window.Jobs[t.Action/3], elastic.Action(t.Action%3)) {
		return e.move(t)
	}
	t.Valid = true
	return t, nil
}

// move ends the slot within a step.
func (e *Env) move(t Taken) (Taken, error) {
	err := e.end()
	t.Reward, t.Ended = e.reward, true
	return t, err
}

// choose draws an action, and in training replaces it by rules.
func (e *Env) choose(m []float64, mask []bool) int {
	if e.o.Likeliest && !e.o.Training {
		return slices.Index(m, slices.Max(m))
	}
	if e.o.Training {
		e.random.Float64() // whether to do without the mask, which never happens
	}
	drawn := e.draw(m)
	if e.o.Training {
		return e.inject(drawn, m, mask)
	}
	return drawn
}

// draw is the first action up to which probabilities sum to more than a draw; the first of all where
// rounding leaves none.
func (e *Env) draw(m []float64) int {
	limit, sum := float64(e.random.IntN(1, drawRange))/drawRange, 0.0
	for k, p := range m {
		if sum += p; sum > limit {
			return k
		}
	}
	return 0
}

// inject replaces an action by the published rules, in their order of draws; later rules replace what
// earlier ones chose.
func (e *Env) inject(action int, m []float64, mask []bool) int {
	if k := e.unbalanced(); k >= 0 && m[3*k+2] > fewest && m[3*k] > fewest {
		if action = 3 * k; e.random.Float64() < 0.5 {
			action += int(elastic.Bundle)
		}
	}
	for k, j := range e.Window.Jobs {
		if j == nil {
			continue
		}
		if kind := e.rare(); kind >= 0 && mask[3*k+kind] && m[3*k+kind] > fewest {
			return 3*k + kind
		}
		if replaced, stop := e.complete(action, k, j, m, mask); stop {
			return replaced
		}
	}
	return action
}

// unbalanced is the column of the job with the fewest tasks, if another one has many times more; else
// -1.
func (e *Env) unbalanced() int {
	least, most, at := -1, -1, -1
	for k, j := range e.Window.Jobs {
		if j == nil {
			continue
		}
		tasks := len(j.Workers) + len(j.Servers)
		if least < 0 || tasks < least {
			least, at = tasks, k
		}
		most = max(most, tasks)
	}
	if least <= 0 || most/least <= e.random.IntN(3, 6) {
		return -1
	}
	return at
}

// rare is the kind of action that was taken least, if it is rare; else -1.
func (e *Env) rare() int {
	least, sum := slices.Min(e.counts[:]), e.counts[0]+e.counts[1]+e.counts[2]
	if least > 0 && least/sum < rareAction {
		return slices.Index(e.counts[:], least)
	}
	return -1
}

// complete gives a job what it lacks, and says whether no further job is looked at. That of servers
// tests the probability of a worker, as published.
func (e *Env) complete(action, k int, j *elastic.Job, m []float64, mask []bool) (int, bool) {
	workers, servers := len(j.Workers), len(j.Servers)
	worker, server, bundle := 3*k, 3*k+1, 3*k+2
	can := func(a int) bool { return mask[a] && m[a] > fewest }
	switch {
	case workers == 0 || servers == 0:
		if workers == 0 && servers == 0 && can(bundle) && e.random.Float64() < 0.5 {
			action = bundle
		}
		if workers == 0 && can(worker) {
			action = worker
		}
		if servers == 0 && mask[server] && m[worker] > fewest {
			action = server
		}
		return action, true
	case servers > workers*e.ratio && e.random.Float64() < 0.5:
		if !can(bundle) || !can(worker) {
			return action, false
		}
		if action = worker; e.random.Float64() < 0.5 {
			action = bundle
		}
		return action, true
	case float64(workers) >= float64(servers)*0.5 && e.random.Float64() < 0.5:
		if !can(bundle) || !can(server) {
			return action, false
		}
		if action = server; e.random.Float64() < rareServers {
			action = bundle
		}
		return action, true
	}
	return action, false
}
