package agent

import (
	"context"

	"graft/cluster/node"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// shape is the shape of the observations.
var shape = candidates.Shape{World: "node", Noun: "a machine's tasks", Globals: Globals, Features: Features}

// ReadPolicy reads a policy from weights.
func ReadPolicy(set *weights.Set) (*candidates.Policy, error) { return shape.ReadPolicy(set) }

// SchedulerOf returns the scheduler that takes a policy's most likely actions. Each simulation has its own agent.
func SchedulerOf(name string, m *learn.Set) node.Kind {
	return node.Kind{Name: name, About: "learned",
		New: func(node.SchedulerOptions) node.Scheduler { return &scheduler{agent: m.Twin()} }}
}

type scheduler struct {
	state *state
	agent learn.Agent
}

// Decide implements [node.Scheduler]. If no task runs, it starts the most likely task, so that the simulation never
// stalls.
func (s *scheduler) Decide(m *node.Machine) node.Decision {
	if s.state == nil || s.state.machine != m {
		s.state = newState(m)
	}
	o := s.state.look()
	n := len(s.state.candidates)
	if n == 0 {
		return node.Decision{}
	}
	logits, _ := s.agent.Score(o)
	if len(m.Running) == 0 {
		logits = logits[:n]
	}
	k := learn.Likeliest(logits)
	if k == n {
		return node.Decision{}
	}
	return node.Decision{Start: s.state.candidates[k].task, On: s.state.candidates[k].on}
}

// background is the context of simulations that take milliseconds.
var background = context.Background()
