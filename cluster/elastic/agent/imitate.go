package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/cluster/elastic"
	"graft/learn"
)

// Lesson shows an agent the actions of a teacher in the states that the agent reaches (DAgger: Ross, Gordon and
// Bagnell, AISTATS 2011). At the start of each slot, the teacher decides the number of workers and servers of every
// job. An action is correct if it brings a job closer to these numbers; the order of such actions does not matter. If
// no such action exists, ending the slot is correct.
type Lesson struct {
	Teacher elastic.Kind
	Agent   learn.Agent // agent that takes the actions; nil follows the teacher
	Follow  float64     // fraction of slots in which correct actions replace the agent's actions
	// number of slots after which the teacher's actions replace all actions of the agent; zero means 2000
	Slots int
}

// patience times Slots is the number of slots after which the lesson fails.
const patience = 10

// counts holds the numbers of a job's tasks.
type counts struct{ workers, servers int }

// Give simulates a whole workload. It returns each state with its correct actions and with the sum of the rewards that
// [Env] gives after this state.
func (l *Lesson) Give(ctx context.Context, s elastic.Study, random *rand.Rand) (all []learn.Example, err error) {
	w, err := elastic.NewWorld(s)
	if err != nil {
		return nil, fmt.Errorf("learn from scheduler %s: %w", l.Teacher.Name, err)
	}
	unit, err := rewardUnit(s)
	if err != nil {
		return nil, err
	}
	var ends []int // of the examples of each slot
	var rewards []float64
	now, teacher, slots := newState(w), l.Teacher.New(w), l.Slots
	if slots == 0 {
		slots = defaultSlots
	}
	for !w.Done() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.Begin()
		teacher.Schedule(w)
		targets := make([]counts, len(w.Jobs()))
		for k, j := range w.Jobs() {
			targets[k] = counts{len(j.Workers), len(j.Servers)}
		}
		w.Begin() // removes the tasks again
		now.begin()
		all = l.slot(all, now, targets, l.Agent == nil || w.Slot() >= slots || random.Float64() < l.Follow, random)
		w.End()
		ends, rewards = append(ends, len(all)), append(rewards, -unit*float64(len(w.Jobs())))
		if w.Slot() > patience*slots {
			return nil, fmt.Errorf("learn from scheduler %s: %d jobs are unfinished after %d slots; choose another "+
				"teacher, or raise learn.max_slots", l.Teacher.Name, len(w.Jobs()), w.Slot())
		}
	}
	later, end := 0.0, len(all)
	for k := len(ends) - 1; k >= 0; k-- {
		later += rewards[k]
		from := 0
		if k > 0 {
			from = ends[k-1]
		}
		for i := from; i < end; i++ {
			all[i].Return = later
		}
		end = from
	}
	return all, nil
}

// slot plays a slot, and appends its states.
func (l *Lesson) slot(all []learn.Example, now *state, targets []counts, follow bool,
	random *rand.Rand) []learn.Example {
	for {
		o := now.look()
		right := now.right(targets)
		o.Values = slices.Clone(o.Values)
		all = append(all, learn.Example{Observation: o, Actions: right})
		action := right[random.IntN(len(right))]
		if !follow {
			logits, _ := l.Agent.Score(o)
			action = learn.Sample(learn.LogProbabilities(logits, nil), random)
		}
		if action == len(now.candidates) {
			return all
		}
		now.add(action)
	}
}

// right returns the candidates that bring a job closer to its counts, or the end of the slot if none exist.
func (s *state) right(targets []counts) (all []int) {
	for k, c := range s.candidates {
		workers, servers := targets[c.place].workers-len(c.job.Workers), targets[c.place].servers-len(c.job.Servers)
		ok := workers > 0 && servers > 0
		switch {
		case c.action == elastic.Worker:
			ok = workers > 0
		case c.action == elastic.Server:
			ok = servers > 0
		case s.world.AllReduce():
			ok = workers > 0
		}
		if ok {
			all = append(all, k)
		}
	}
	if len(all) == 0 {
		return []int{len(s.candidates)}
	}
	return all
}
