package agent

import (
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
