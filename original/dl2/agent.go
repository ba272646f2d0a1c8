package dl2

import (
	"context"
	"fmt"
	"math"
	"slices"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
	"graft/learn/dense"
)

// nets are the networks of one agent, or the shared ones.
type nets struct{ policy, value *dense.Network }

func (n nets) clone() nets { return nets{clone(n.policy), clone(n.value)} }

// agent acts in its own environments and computes gradients from its own memory.
type agent struct {
	*course
	id       int
	imitates bool
	random   *numpy.Random
	memory   *Memory[transition]

	workloads [][]elastic.Spec
	types     int    // job types in the workloads
	drawn     []byte // state of random before the workloads were drawn
	next      int    // number of the next workload
	lesson    *lesson
	env       *Env

	nets                // networks for actions and for the last gradient
	sent    *nets       // networks for the next gradient; nil means the newest
	alone   *dense.Pass // evaluates one state
	since   int         // slots since the last gradient
	updates int         // gradients computed in this phase
	last    seen
}

// seen holds the last outcomes of an agent.
type seen struct{ reward, jct, makespan float64 }

// course holds the options and workloads of all agents.
type course struct {
	o        Options
	study    elastic.Study
	generate elastic.GenerateOptions
	teacher  elastic.Kind
}

func (c *course) newAgent(id int, imitates bool, begin nets) (*agent, error) {
	o := MemoryOptions{Capacity: c.o.Replay.Capacity, Even: imitates || c.o.Replay.Even, ByReward: !c.o.Replay.NoSort,
		EvictLeast: c.o.Replay.EvictLeast, MeanBaseline: !c.o.Reinforced.NoMean, Critic: !c.o.Reinforced.NoCritic}
	memory, err := NewMemory[transition](o)
	a := &agent{course: c, id: id, imitates: imitates, memory: memory,
		random: numpy.New(uint32(c.o.Seed) + uint32(id) + 1), nets: begin.clone()}
	a.alone = a.policy.NewPass(1)
	a.last = seen{math.NaN(), math.NaN(), math.NaN()}
	return a, err
}

// wanted returns the number of job types at the current number of updates.
func (a *agent) wanted() int {
	w, all := a.o.Workloads, len(a.study.Types)
	if w.FirstTypes == 0 {
		return all
	}
	return min(all, w.FirstTypes+a.updates/w.TypesEvery)
}

// draw draws the workloads for a number of job types.
func (a *agent) draw(types int) error {
	a.types, a.workloads = types, nil
	a.drawn, _ = a.random.MarshalBinary() // never fails
	for range a.o.Workloads.Count {
		jobs, err := elastic.Generate(a.study.Types[:types], a.generate, a.random)
		if err != nil {
			return err
		}
		a.workloads = append(a.workloads, jobs)
	}
	return nil
}

// workload returns the study with workload k.
func (a *agent) workload(k int) elastic.Study {
	s := a.study
	s.Jobs = a.workloads[k%len(a.workloads)]
	return s
}

// begin starts the next workload, unless one is running.
func (a *agent) begin() (err error) {
	if a.lesson != nil && !a.lesson.done() || a.env != nil && !a.env.Done() {
		return nil
	}
	if types := a.wanted(); a.workloads == nil || types != a.types {
		if err := a.draw(types); err != nil {
			return err
		}
	}
	s := a.workload(a.next)
	if a.next++; a.imitates {
		a.lesson, err = newLesson(s, a.teacher, a.teaching(), 0, a.random, nil)
		return err
	}
	a.env, err = newEnv(s, a.exploring(), a.random, newNoise(&s, a.random))
	return err
}

// teaching returns the window options for samples.
func (a *agent) teaching() elastic.WindowOptions {
	o := a.o.Shape.WindowOptions
	if !a.o.Supervised.NoShuffle {
		o.Shuffle = a.random.Permutation
	}
	return o
}

func (a *agent) exploring() EnvOptions {
	r := a.o.Reinforced
	return EnvOptions{ShapeOptions: a.o.Shape, Training: true, NoInjection: r.NoInjection, NoBalance: r.NoBalance,
		MostSlots: a.o.Workloads.MostSlots}
}

// Annealing of exploration.
const annealing = 500 // updates

// epsilon returns the probability of a uniform draw, which falls with the updates.
func (a *agent) epsilon() float64 {
	if !a.o.Reinforced.EpsilonGreedy {
		return 0
	}
	slower := 1.0
	if !a.o.Reinforced.SameEpsilon {
		slower += float64(a.id) / float64(a.o.Agents)
	}
	return 2 / (1 + math.Exp(float64(a.updates)/(annealing*slower)))
}

// due reports whether the agent computes its next gradient now.
func (a *agent) due() bool {
	every := a.o.Reinforced.Every
	if a.imitates {
		every = 1
	}
	return a.memory.Full() && a.since >= every
}

// fill simulates slots until a gradient is due.
func (a *agent) fill(ctx context.Context) error {
	for !a.due() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.slot(); err != nil {
			return fmt.Errorf("workload %d: %w", a.next-1, err)
		}
	}
	return nil
}

// slot simulates a slot and stores its transitions.
func (a *agent) slot() error {
	if err := a.begin(); err != nil {
		return err
	}
	a.since++
	var all []transition
	if a.imitates {
		all = a.lesson.slot()
		a.note(a.lesson.done(), a.lesson.world.Result)
	} else {
		var err error
		if all, err = a.act(); err != nil {
			return err
		}
		a.note(a.env.Done(), a.env.Result)
	}
	for _, k := range a.kept(len(all)) {
		if err := a.memory.Store(all[k], all[k].reward); err != nil {
			return err
		}
	}
	return nil
}

// note keeps the outcome of a finished workload.
func (a *agent) note(done bool, result func() *elastic.Result) {
	if done {
		r := result()
		a.last.jct, a.last.makespan = r.MeanJCT, r.Makespan
	}
}

// kept returns the indices of the slot's transitions to store.
func (a *agent) kept(n int) []int {
	if fill := a.o.Replay.Fill; fill > 0 && !a.imitates && n > 0 {
		return a.random.Choice(n, fill)
	}
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	return all
}

// act simulates a slot by the policy.
func (a *agent) act() (all []transition, err error) {
	var jobs []*elastic.Job
	for a.env.o.Epsilon = a.epsilon(); ; {
		p := probabilities(a.alone, a.env.Observe())
		t, err := a.env.Step(p)
		if err != nil {
			return nil, err
		}
		if t.Valid {
			all = append(all, transition{slices.Clone(a.env.Window.State), t.Probabilities, t.Action, t.Reward})
			jobs = append(jobs, t.Job)
		}
		if t.Ended {
			a.last.reward = t.Reward
			a.reward(all, jobs, t.Reward)
			return all, nil
		}
	}
}

// discount is the discount of the reward per later action in the same slot.
const discount = 0.99

// reward assigns rewards to all actions of a slot.
func (a *agent) reward(all []transition, jobs []*elastic.Job, slot float64) {
	for k := len(all) - 1; k >= 0; k-- {
		switch t := &all[k]; a.o.Reinforced.Reward {
		case JobProgress:
			t.reward = a.env.Gain(jobs[k])
		case Discounted:
			if k+1 < len(all) {
				t.reward += float64(discount * all[k+1].reward)
			}
		default:
			t.reward = slot
		}
	}
}
