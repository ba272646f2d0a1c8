package dl2

import (
	"cmp"
	"errors"
	"slices"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// EnvOptions holds the parameters of DL2's published environment.
type EnvOptions struct {
	ShapeOptions // observations and actions of the policy; the options of its networks are ignored
	// Training draws actions as in DL2's published training, where the environment replaces many actions of the policy.
	// False draws actions as in DL2's published validation.
	Training    bool
	Likeliest   bool    // takes the most likely action if Training is false; false draws it
	Epsilon     float64 // probability, in training, that the action is drawn uniformly; zero means never
	NoInjection bool    // whether training never replaces actions by rules
	NoBalance   bool    // turns off the rule that grows a job with far fewer tasks than another
	MostSlots   int     // number of slots after which an episode is truncated; zero means 1000
}

// Env is DL2's published environment. Given the probabilities of a policy, it draws an action, possibly replaces it,
// and applies it.
type Env struct {
	board

	o        EnvOptions
	random   *numpy.Random
	noise    *noise
	analytic bool                     // speeds come from the analytic model
	counts   [3]float64               // actions taken, by kind
	slot     slotDraws                // draws of this slot
	slots    int                      // finished slots
	reward   float64                  // reward of the last slot
	gains    map[*elastic.Job]float64 // fraction of its epochs that each job completed in the last slot in which it ran
	ran      int                      // jobs that ran in the last slot
	cut      bool
	taken    []int // actions of the episode
}

// slotDraws are drawn at the start of each slot.
type slotDraws struct {
	Skip  int `json:"skip"`  // number of workers per job above which the end of the slot may be injected
	Ratio int `json:"ratio"` // servers per worker above which a job gets workers
}

// Taken holds the result of a step of Env.
type Taken struct {
	// probabilities of the policy, masked and divided by their sum; nil if no action was allowed
	Probabilities []float64
	Action        int          // index of the action; -1 if no action was allowed
	Job           *elastic.Job // job that the action concerns; nil for the end of the slot
	Reward        float64      // reward of the slot, if the step ended it
	Ended         bool         // whether the step ended the slot
	Valid         bool         // whether the action was possible
}

// published returns the options of the original environment, which resets dominant shares.
func published(o elastic.Options) elastic.Options {
	compatible := elastic.Compatible()
	o.Scaling = compatible.Scaling
	o.Quirks = slices.DeleteFunc(compatible.Quirks, func(name string) bool { return name == elastic.StaleShare.Name })
	return o
}

// newEnv starts an episode.
func newEnv(s elastic.Study, o EnvOptions, random *numpy.Random, errors *noise) (*Env, error) {
	o.MostSlots = cmp.Or(o.MostSlots, 1000)
	w, err := elastic.NewWorld(s)
	if err != nil {
		return nil, err
	}
	_, analytic := s.Speed.(elastic.Analytic)
	errors.join(w)
	e := &Env{o: o, random: random, noise: errors, analytic: analytic, board: newBoard(w, o.ShapeOptions),
		gains: map[*elastic.Job]float64{}}
	e.prepare()
	return e, nil
}

// Done reports whether all jobs are completed or the episode was truncated.
func (e *Env) Done() bool { return e.world.Done() || e.cut }

// Cut reports whether the episode was truncated because it reached the maximum number of slots before all jobs were
// completed.
func (e *Env) Cut() bool { return e.cut }

// Result returns the result of the episode so far.
func (e *Env) Result() *elastic.Result { return e.world.Result() }

// Gain returns the fraction of a job's estimated epochs that the job completed in the last slot. If j is nil, it
// returns the reward of the last slot, divided by the number of jobs that ran in this slot.
func (e *Env) Gain(j *elastic.Job) float64 {
	if j == nil {
		return e.reward / float64(max(1, e.ran))
	}
	return e.gains[j]
}

// prepare starts a slot.
func (e *Env) prepare() {
	e.world.Begin()
	e.begin()
	e.slot = slotDraws{e.random.IntN(1, e.world.Most()), e.random.IntN(3, 8)}
}

// move ends the slot within a step.
func (e *Env) move(t Taken) Taken {
	clear(e.gains)
	e.ran = 0
	all := slices.Clone(e.world.Jobs())
	for _, j := range all {
		e.gains[j] = -j.Progress / j.Epochs
		if len(j.Workers)+len(j.Servers) > 0 {
			e.ran++
		}
	}
	e.reward = e.world.End()
	for _, j := range all {
		e.gains[j] += j.Progress / j.Epochs
	}
	e.slots++
	if e.cut = !e.world.Done() && e.slots > e.o.MostSlots; !e.Done() {
		e.prepare()
	}
	t.Reward, t.Ended = e.reward, true
	return t
}

// errOver is the error of a step after the end of the episode.
var errOver = errors.New("step a DL2 episode: the episode has ended; begin another episode")

// Step takes one step, with the policy's probabilities for the last observation.
func (e *Env) Step(probabilities []float64) (Taken, error) {
	if e.Done() {
		return Taken{}, errOver
	}
	m, mask, ok := e.masked(probabilities)
	if !ok {
		return e.take(-1), nil
	}
	t := e.take(e.choose(m, mask))
	t.Probabilities = m
	return t, nil
}

// take takes an action; -1 ends the slot without an action.
func (e *Env) take(action int) Taken {
	e.taken = append(e.taken, action)
	t := Taken{Action: action, Job: e.job(action)}
	if t.Job == nil {
		t.Valid = action >= 0
		return e.move(t)
	}
	e.counts[action%e.Window.PerJob()]++
	if !e.add(action) {
		return e.move(t)
	}
	t.Valid = true
	return t
}

// choose draws an action; in training it may replace the action.
func (e *Env) choose(m []float64, mask []bool) int {
	if !e.o.Training {
		if e.o.Likeliest {
			return likeliest(m)
		}
		return draw(m, e.random)
	}
	e.random.Float64() // decides whether to ignore the mask, which never happens
	action := draw(m, e.random)
	if e.o.Epsilon > 0 && e.random.Float64() < e.o.Epsilon {
		action = e.evenly(m)
	}
	if e.o.NoInjection {
		return action
	}
	return e.inject(action, m, mask)
}

// evenly draws uniformly among the actions with a probability above a tiny threshold.
func (e *Env) evenly(m []float64) int {
	var all []int
	for k, p := range m {
		if p > fewest {
			all = append(all, k)
		}
	}
	return all[e.random.IntN(0, len(all))]
}
