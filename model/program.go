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

// Still compiles a program that runs the network in train mode, changes nothing in it, and has no dropout.
func (n *Network) Still(s *torch.Scope) (*torch.Program, error) {
	if n.Graph == nil {
		return n.compile(s, torch.ProgramOptions{}, &emitter{quiet: true})
	}
	bound, err := n.Graph.BindTensors(s, n.Tensors())
	if err != nil {
		return nil, fmt.Errorf("compile a network: %w", err)
	}
	return bound.Probe(s, n.Graph.Output, "", nil)
}

// Before compiles a program that runs the network in train mode, and returns the input of the layer at path. The
// program changes nothing in the network, and dropout is off.
func (n *Network) Before(s *torch.Scope, path string) (*torch.Program, error) {
	return n.compile(s, torch.ProgramOptions{}, &emitter{before: path})
}

// After compiles a program like Before that returns the output of the layer.
func (n *Network) After(s *torch.Scope, path string) (*torch.Program, error) {
	return n.compile(s, torch.ProgramOptions{}, &emitter{after: path})
}

// Shifted compiles a program that runs the network in train mode, and adds a tensor to the output of the layer at path.
// The gradient of the tensor is the gradient of the layer's output. The program changes nothing in the network, and
// dropout is off.
func (n *Network) Shifted(s *torch.Scope, path string, by *torch.Tensor) (*torch.Program, error) {
	return n.compile(s, torch.ProgramOptions{}, &emitter{shifted: path, by: by})
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
	if end := e.until + e.before + e.after; end != "" && err == nil {
		return nil, fmt.Errorf("compile a network: layer %s never runs", end)
	}
	return s.NewProgram(&e.b, out, o), s.Err()
}

// errReached ends a walk at the layer of a probe.
var errReached = errors.New("reached")

// emitter is the algebra of programs.
type emitter struct {
	b       torch.Builder
	until   string        // layer to probe and end at; empty emits all layers
	before  string        // layer to end in front of; empty emits all layers
	after   string        // layer to end behind; empty emits all layers
	shifted string        // layer whose output is shifted; empty shifts none
	quiet   bool          // emits all layers without dropout and changes of statistics
	by      *torch.Tensor // shift of that layer
	pixels  *Pixels       // nil means the network's own input
}

// still reports whether the program must not change the network.
func (e *emitter) still() bool { return e.quiet || e.until+e.before+e.after+e.shifted != "" }

// Layer adds the instructions of a layer to the program.
func (e *emitter) Layer(at Place, leaf *Leaf, x torch.Value) (torch.Value, error) {
	if at.Path == e.before && e.before != "" {
		return x, errReached
	}
	y, err := e.layer(at, leaf, x)
	if at.Path == e.shifted && e.shifted != "" {
		y = e.b.Shift(y, e.by)
	}
	if at.Path == e.after && e.after != "" {
		return y, errors.Join(err, errReached)
	}
	return y, err
}

func (e *emitter) layer(at Place, leaf *Leaf, x torch.Value) (torch.Value, error) {
	if _, drops := leaf.Layer.(Dropout); drops && e.still() {
		return x, nil // statistics must be deterministic
	}
	norm, ok := leaf.Layer.(BatchNorm)
	if !ok || !e.still() {
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
