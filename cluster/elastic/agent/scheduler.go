package agent

import (
	"slices"

	"graft/cluster/elastic"
	"graft/learn"
)

// Scheduler is the scheduler that takes an agent's likeliest actions.
func Scheduler(name string, agent learn.Agent) elastic.Kind {
	return elastic.Kind{Name: name, About: "learned", New: func(w *elastic.World) elastic.Scheduler { return &scheduler{newState(w), agent} }}
}

type scheduler struct {
	*state
	agent learn.Agent
}

// Schedule implements [elastic.Scheduler].
func (s *scheduler) Schedule(*elastic.World) {
	s.begin()
	for {
		logits, _ := s.agent.Score(s.look())
		k := learn.Likeliest(logits)
		if k >= len(s.candidates) {
			return
		}
		s.add(k)
	}
}

// Record runs a scheduler on a workload, and reports each of its actions as an example to imitate.
// Actions that an agent does not have, such as a worker of a job without tasks, are left out.
func Record(s elastic.Study, kind elastic.Kind, report func(learn.Example)) error {
	w, err := elastic.NewWorld(s)
	if err != nil {
		return err
	}
	now, scheduler := newState(w), kind.New(w)
	note := func(choose func() int) {
		o := now.look()
		if k := choose(); k >= 0 {
			report(learn.Example{Observation: learn.Observation{Values: slices.Clone(o.Values)}, Action: k})
		}
	}
	w.Observer = func(w *elastic.World, j *elastic.Job, a elastic.Action) {
		note(func() int {
			return slices.IndexFunc(now.candidates, func(c candidate) bool { return c.job == j && c.action == a })
		})
		now.jobs[slices.Index(w.Jobs(), j)].known = false
	}
	for !w.Done() {
		w.Begin()
		now.begin()
		scheduler.Schedule(w)
		note(func() int { return len(now.candidates) })
		w.End()
	}
	return nil
}
