package model

import (
	"errors"
	"fmt"

	"graft/torch"
)

// Program compiles the network for LibTorch. The scope owns the program. The network still owns its tensors.
func (n *Network) Program(s *torch.Scope, o torch.ProgramOptions) (*torch.Program, error) {
	if n.Graph != nil {
		return n.graphProgram(s, o, nil)
	}
	return n.compile(s, o, &emitter{})
}

// Pixels configures the conversion of images from bytes to a network's input. Each byte x becomes (x · Factor - Mean) /
// Deviation.
type Pixels struct {
	Factor          float64
	Mean, Deviation *torch.Tensor // mean and deviation of each channel
}

// ProgramOn compiles the network for images that are stored as bytes, which the program first converts as p configures.
// The scope owns the program.
func (n *Network) ProgramOn(s *torch.Scope, o torch.ProgramOptions, p Pixels) (*torch.Program, error) {
	if n.Graph != nil {
		return n.graphProgram(s, o, &p)
	}
	return n.compile(s, o, &emitter{pixels: &p})
}

// Probe compiles a program that runs the network in train mode, and ends after the batch normalisation at path. The
// program sets the running statistics of this normalisation to the statistics of the batch. It changes nothing else in
// the network, and dropout is off.
func (n *Network) Probe(s *torch.Scope, path string) (*torch.Program, error) {
	return n.compile(s, torch.ProgramOptions{}, &emitter{until: path})
}

func (n *Network) compile(s *torch.Scope, o torch.ProgramOptions, e *emitter) (*torch.Program, error) {
	if n.scope == nil {
		return nil, errors.New("compile a network: it has no weights yet; initialize or load them first")
	}
	in := e.b.Input()
	if p := e.pixels; p != nil {
		in = e.b.Normalize(in, p.Factor, p.Mean, p.Deviation)
	}
	out, err := Run[torch.Value](n, in, e)
	if err != nil && !errors.Is(err, errReached) {
		return nil, fmt.Errorf("compile a network: %w", err)
	}
	if e.until != "" && err == nil {
		return nil, fmt.Errorf("compile a network: layer %s never runs", e.until)
	}
	return s.NewProgram(&e.b, out, o), s.Err()
}

// errReached ends a walk at the layer of a probe.
var errReached = errors.New("reached")

// emitter is the algebra of programs.
type emitter struct {
	b      torch.Builder
	until  string  // layer to probe and end at; empty emits all layers
	pixels *Pixels // nil means the network's own input
}

// Layer adds the instructions of a layer to the program.
func (e *emitter) Layer(at Place, leaf *Leaf, x torch.Value) (torch.Value, error) {
	if _, drops := leaf.Layer.(Dropout); drops && e.until != "" {
		return x, nil // statistics must be deterministic
	}
	norm, ok := leaf.Layer.(BatchNorm)
	if !ok || e.until == "" {
		return leaf.Layer.Emit(&e.b, x, leaf.Weights), nil
	}
	bound := norm.Bind(leaf.Weights)
	bound.Seen = nil
	if at.Path != e.until {
		bound.Momentum = 0
		return e.b.BatchNorm(x, bound), nil
	}
	bound.Momentum = 1
	return e.b.BatchNorm(x, bound), errReached
}

// Sum emits an instruction that adds two values.
func (e *emitter) Sum(_ string, body, shortcut torch.Value) (torch.Value, error) {
	return e.b.Add(body, shortcut), nil
}

// Cat concatenates channels. It emits several instructions if there are more parts than one instruction accepts.
func (e *emitter) Cat(_ string, parts []torch.Value) (torch.Value, error) {
	const most = 8
	for len(parts) > most {
		parts = append([]torch.Value{e.b.Cat(1, parts[:most]...)}, parts[most:]...)
	}
	return e.b.Cat(1, parts...), nil
}
