package agent

import (
	"context"

	"graft/cluster/node"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// shape is that of the observations.
var shape = candidates.Shape{World: "node", Noun: "a machine's tasks", Globals: Globals, Features: Features}

// ReadPolicy is the policy of a file.
func ReadPolicy(set *weights.Set) (*candidates.Policy, error) { return shape.ReadPolicy(set) }

// SchedulerOf is the scheduler that takes a policy's likeliest actions. Each has an agent of its own.
func SchedulerOf(name string, m *learn.Set) node.Kind {
	return node.Kind{Name: name, About: "learned",
		New: func(node.SchedulerOptions) node.Scheduler { return &scheduler{agent: m.Twin()} }}
}

type scheduler struct {
	state *state
	agent learn.Agent
}

// Decide implements [node.Scheduler]. Where nothing runs it starts the likeliest task, so that it never
// stands still.
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

// background is for simulations that take milliseconds.
var background = context.Background()
