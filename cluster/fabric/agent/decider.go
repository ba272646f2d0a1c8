package agent

import (
	"math/rand/v2"

	"graft/cluster/fabric"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// shape is that of the observations.
var shape = candidates.Shape{World: "fabric", Noun: "training steps", Globals: Globals, Features: Features}

// ReadPolicy is the policy of a file.
func ReadPolicy(set *weights.Set) (*candidates.Policy, error) { return shape.ReadPolicy(set) }

// KindOf is the kind that takes a policy's likeliest actions. Each decider has an agent of its own.
func KindOf(name string, m *learn.Set) fabric.Kind {
	return fabric.Kind{Name: name, About: "learned",
		New: func(*rand.Rand) fabric.Decider { return &decider{agent: m.Twin()} }}
}

type decider struct {
	state *state
	agent learn.Agent
}

// Degree implements [fabric.Decider].
func (d *decider) Degree(w *fabric.World) (int, error) {
	if d.state == nil || d.state.world != w {
		d.state = newState(w)
	}
	o, err := d.state.look()
	if err != nil || len(d.state.offers) == 0 {
		return 0, err
	}
	logits, _ := d.agent.Score(o)
	if k := learn.Likeliest(logits); k < len(d.state.offers) {
		return d.state.offers[k].Degree, nil
	}
	return 0, nil
}
