package decider

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"graft/model"
	"graft/model/graph"
	"graft/net2net"
	"graft/tracing"
	"graft/vocab"
)

// Observation describes a network to a structural policy: its tokens and the candidate actions. It does not include the
// remaining time or other training state.
type Observation struct {
	Structure  *vocab.Structure
	Choices    []Choice
	Parameters int   // number of trained parameters of the network
	Operations int64 // floating-point operations of a forward pass over one example
	Layers     int   // number of layers with parameters
	Outputs    int   // number of outputs of the last layer, usually classes
}

// Choice is a candidate action.
type Choice struct {
	Action     net2net.Action
	Tokens     []int // indexes of the tokens that the action changes; empty for the action none
	Parameters int   // number of parameters that the action adds
	// floating-point operations that the action adds to a forward pass over one example
	Operations int64
	Layers     int // number of layers with parameters that the action adds
	// Step is the time of a training step after the action, copied from Situation.After; zero means unknown.
	Step time.Duration
	// Gain is the gain of the action, copied from Situation.Gains; zero means none or unknown.
	Gain float64

	after *model.Network // network without tensors; nil for the action none
}

// Target returns an action's operation and the kind of the first changed layer that has weights, such as "deepen
// convolution". The text is empty for the action "none".
func (o *Observation) Target(c Choice) string {
	if len(c.Tokens) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %v", c.Action.Kind, o.firstKind(c))
}

// firstKind is the kind of the first layer with weights that an action changes, or else of the first layer.
func (o *Observation) firstKind(c Choice) vocab.Kind {
	first := o.Structure.Tokens[c.Tokens[0]].Kind
	for _, k := range slices.Backward(c.Tokens) {
		if kind := o.Structure.Tokens[k].Kind; kind == vocab.Convolution || kind == vocab.Matrix {
			first = kind
		}
	}
	return first
}

// NewObservation creates the observation of a network with candidate actions. If an action does not fit the network, it
// returns an error.
func NewObservation(n *model.Network, actions []net2net.Action, surgery net2net.Options) (*Observation, error) {
	return observe(n, actions, surgery, false)
}

// ProposedObservation creates the observation of a network with all actions of the given kinds that fit, and the action
// "none". If the argument kinds is nil, the kinds are deepen and widen.
func ProposedObservation(n *model.Network, kinds []net2net.Kind, surgery net2net.Options) (*Observation, error) {
	actions, err := proposals(n, kinds, surgery.Form)
	if err != nil {
		return nil, err
	}
	return observe(n, actions, surgery, true)
}

// observe observes a network and actions. It skips impossible actions if skip is set, and fails on them otherwise.
func observe(n *model.Network, actions []net2net.Action, surgery net2net.Options, skip bool) (*Observation, error) {
	p, n := &Observation{}, n.Bare()
	changed, err := p.read(n, surgery)
	if err != nil {
		return nil, err
	}
	if p.Parameters, p.Operations, p.Layers, err = costs(n); err != nil {
		return nil, err
	}
	output, err := n.Output()
	if err != nil {
		return nil, err
	}
	if p.Outputs = output.Count(); n.Tokens() {
		p.Outputs = output[len(output)-1]
	}
	surgery.Batch = nil
	for _, a := range actions {
		c, err := p.choice(n, a, surgery, changed)
		if err == nil {
			p.Choices = append(p.Choices, c)
		} else if !skip {
			return nil, err
		}
	}
	return p, nil
}

// read reads the tokens, and returns a function that lists the tokens that an action changes.
func (p *Observation) read(n *model.Network,
	surgery net2net.Options) (changed func(net2net.Action, *net2net.Change) ([]int, error), err error) {
	if n.Graph != nil {
		p.Structure, err = vocab.ReadGraph(n.Graph)
		return func(_ net2net.Action, c *net2net.Change) ([]int, error) { return p.changedNodes(n.Graph, c), nil }, err
	}
	trace, err := tracing.Read(n)
	if err != nil {
		return nil, err
	}
	p.Structure, err = vocab.ReadStructure(trace)
	return func(a net2net.Action, _ *net2net.Change) (tokens []int, err error) {
		layers, err := changedLayers(trace, a, surgery.Compat)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a, err)
		}
		for _, l := range layers {
			if k, ok := p.Structure.Token(l); ok {
				tokens = append(tokens, k)
			}
		}
		return tokens, nil
	}, err
}

// changedNodes returns the tokens of a graph's operators that read a tensor changed or copied by an action.
func (p *Observation) changedNodes(g *graph.Graph, c *net2net.Change) (tokens []int) {
	touched, used := map[string]bool{}, map[string]bool{}
	for _, m := range c.Graph.Moves {
		if len(m.Dims) > 0 || m.Fresh || m.Values != "" || used[m.From] {
			touched[m.From] = true
		}
		used[m.From] = true
	}
	for k := range g.Nodes {
		token, ok := p.Structure.TokenOf(k)
		reads := false
		g.Nodes[k].Reads(func(arg any) {
			w, isWeight := arg.(graph.Weight)
			if isWeight {
				t := g.Tensor(string(w))
				reads = reads || touched[cmp.Or(t.Tied, t.Name)]
			}
		})
		if ok && reads {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

func costs(n *model.Network) (parameters int, operations int64, layers int, err error) {
	rows, err := n.Sheet()
	for _, r := range rows {
		parameters += r.Parameters
		operations += r.Operations
		if r.Parameters > 0 {
			layers++
		}
	}
	return parameters, operations, layers, err
}

// choice describes an action by applying it to a sketch.
func (p *Observation) choice(n *model.Network, a net2net.Action, surgery net2net.Options,
	changed func(net2net.Action, *net2net.Change) ([]int, error)) (Choice, error) {
	c := Choice{Action: a}
	if a.Kind == net2net.None {
		return c, nil
	}
	after := n.Bare()
	change, err := net2net.Apply(after, a, surgery)
	if err != nil {
		return c, err
	}
	if c.Tokens, err = changed(a, change); err != nil {
		return c, err
	}
	slices.Sort(c.Tokens)
	c.Tokens = slices.Compact(c.Tokens)
	parameters, operations, layerCount, err := costs(after)
	c.Parameters, c.Operations, c.Layers = parameters-p.Parameters, operations-p.Operations, layerCount-p.Layers
	c.after = after
	return c, err
}

// situate returns the situation of a state; the times of steps after each choice come from StepOf.
func (p *Observation) situate(s State) Situation {
	all := Situation{Observation: p, State: s}
	if s.StepOf == nil {
		return all
	}
	for _, c := range p.Choices {
		step := s.Step
		if c.after != nil {
			step = s.StepOf(c.after)
		}
		all.After = append(all.After, step)
	}
	return all
}

// changedLayers returns the layers of an action's block, or the layers that use its channels.
func changedLayers(t *tracing.Trace, a net2net.Action, compat net2net.Compat) ([]*tracing.Layer, error) {
	if a.Kind == "widen" {
		space, _, err := t.SpaceAt(a.Target)
		if err != nil {
			return nil, err
		}
		return slices.Concat(space.Makers, space.Keepers, space.Users), nil
	}
	target := a.Target
	if compat != net2net.Off {
		for k, path := range net2net.OriginalBlocks(t.Network) {
			if target == fmt.Sprint(k) {
				target = path
				break
			}
		}
	}
	b, err := t.Block(target)
	if err != nil {
		return nil, err
	}
	return b.Layers, nil
}
