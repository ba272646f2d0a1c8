package agent

import (
	"graft/cluster/elastic"
	"graft/learn"
	"graft/learn/candidates"
)

// Scheduler returns the scheduler that takes an agent's most likely actions.
func Scheduler(name string, agent learn.Agent) elastic.Kind {
	return elastic.Kind{Name: name, About: "learned",
		New: func(w *elastic.World) elastic.Scheduler { return &scheduler{newState(w), agent} }}
}

// SchedulerOf returns the scheduler that takes a policy's most likely actions. Each simulation has its own agent.
func SchedulerOf(name string, p *candidates.Policy) elastic.Kind {
	kind := Scheduler(name, nil)
	kind.New = func(w *elastic.World) elastic.Scheduler { return &scheduler{newState(w), p.Agent.Twin()} }
	return kind
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
