package agent

import (
	"math/rand/v2"

	"graft/cluster/fabric"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// shape is the shape of the observations.
var shape = candidates.Shape{World: "fabric", Noun: "training steps", Globals: Globals, Features: Features}

// ReadPolicy reads a policy from weights.
func ReadPolicy(set *weights.Set) (*candidates.Policy, error) { return shape.ReadPolicy(set) }

// KindOf returns the kind of decider that takes a policy's most likely actions. Each decider has its own agent.
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
