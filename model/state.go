package model

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// Entry is a tensor of the network with its name in a state dict.
type Entry struct {
	Name   string
	Slot   Slot
	Tensor *torch.Tensor // tensor; nil while the network has no weights
	Leaf   *Leaf         // leaf that has the tensor
	At     int           // index of the tensor in the leaf
}

// State returns all tensors in the order of PyTorch's state dict.
func (n *Network) State() []Entry {
	var entries []Entry
	n.Walk(func(path string, m Module) bool {
		leaf, ok := m.(*Leaf)
		if !ok {
			return true
		}
		for k, slot := range leaf.Layer.Slots() {
			e := Entry{Name: childPath(path, slot.Name), Slot: slot, Leaf: leaf, At: k}
			if k < len(leaf.Weights) {
				e.Tensor = leaf.Weights[k]
			}
			entries = append(entries, e)
		}
		return true
	})
	return entries
}

// Trained returns the entries that an optimizer trains. Tied tensors occur once.
func (n *Network) Trained() []Entry {
	return slices.DeleteFunc(n.State(), func(e Entry) bool { return !e.Slot.Role.Trained() || e.Slot.Tied != "" })
}

// Params returns the tensors that an optimizer trains, in the order of Trained.
func (n *Network) Params() []*torch.Tensor {
	var params []*torch.Tensor
	for _, e := range n.Trained() {
		params = append(params, e.Tensor)
	}
	return params
}

// Placement holds the device, data type and random stream of new tensors. The zero value means float32 on the CPU with
// LibTorch's shared generator.
type Placement struct {
	Device torch.Device
	DType  torch.DType      // data type; zero means float32
	Random *torch.Generator // random number generator on the CPU; nil means LibTorch's shared generator
}

// Materialize creates the network's weights, initialised as in PyTorch. The scope owns the weights. Equal states of the
// random generator in p give equal values.
func (n *Network) Materialize(s *torch.Scope, p Placement) error {
	if p.DType == 0 {
		p.DType = torch.Float32
	}
	n.scope, n.device, n.dtype = s, p.Device, p.DType
	if n.Graph != nil {
		return n.materializeGraph(s, p)
	}
	for _, leaf := range n.Leaves() {
		leaf.Weights = Fresh(s, leaf.Layer, p)
	}
	return s.Err()
}

// Scope returns the scope that owns the network's tensors, or nil if it has no tensors.
func (n *Network) Scope() *torch.Scope { return n.scope }

// Placement returns the device and data type of the network's tensors.
func (n *Network) Placement() Placement { return Placement{Device: n.device, DType: n.dtype} }

// Fresh returns new tensors for a layer, initialised as in PyTorch.
func Fresh(s *torch.Scope, l Layer, p Placement) []*torch.Tensor {
	var tensors []*torch.Tensor
	fanIn := 0
	for _, slot := range l.Slots() {
		if slot.Role == Weight {
			fanIn = slot.Count() / slot.Shape[0]
		}
		t := draw(s, slot, fanIn, p)
		tensors = append(tensors, s.RequireGrad(t, slot.Role.Trained()))
	}
	return tensors
}

// kaimingBound is 1/sqrt(fan in), computed as PyTorch's kaiming_uniform_ does for leaky_relu with slope sqrt(5), so
// values are equal to the bit.
func kaimingBound(fanIn int) float64 {
	slope := math.Sqrt(5)
	gain := math.Sqrt(2 / (1 + slope*slope))
	return math.Sqrt(3) * (gain / math.Sqrt(float64(fanIn)))
}

// draw makes one tensor; fanIn is zero in layers without their own weight.
func draw(s *torch.Scope, slot Slot, fanIn int, p Placement) *torch.Tensor {
	dtype := slot.DType(p.DType)
	switch {
	case slot.Role == Weight:
		return uniform(s, slot, kaimingBound(fanIn), p)
	case slot.Role == Bias && fanIn > 0:
		return uniform(s, slot, 1/math.Sqrt(float64(fanIn)), p)
	case slot.Role == Scale || slot.Role == Var:
		return s.Full(1, dtype, p.Device, slot.Shape...)
	default:
		return s.Zeros(dtype, p.Device, slot.Shape...)
	}
}

// uniform draws on the host, so every device gets the same values.
func uniform(s *torch.Scope, slot Slot, bound float64, p Placement) *torch.Tensor {
	host := s.Zeros(torch.Float32, torch.CPU, slot.Shape...)
	s.Uniform(host, -bound, bound, p.Random)
	if p.DType == torch.Float32 && !p.Device.CUDA {
		return host
	}
	moved := s.To(host, p.DType, p.Device)
	s.Free(host)
	return moved
}

// Save copies the network's tensors to the host, as a set that can be written to a weight file.
func (n *Network) Save() (*weights.Set, error) {
	set := &weights.Set{}
	for _, e := range n.State() {
		w, err := e.Tensor.Weights(e.Name)
		if err != nil {
			return nil, fmt.Errorf("save %s: %w", e.Name, err)
		}
		set.Tensors = append(set.Tensors, w)
	}
	return set, nil
}

// StateDict returns a copy of set without the constants of the network's graph, because PyTorch's state dict does not
// contain constants.
func (n *Network) StateDict(set *weights.Set) *weights.Set {
	constant := map[string]bool{}
	for _, e := range n.State() {
		constant[e.Name] = e.Slot.Role == Constant
	}
	dict := &weights.Set{Metadata: set.Metadata}
	for _, t := range set.Tensors {
		if !constant[t.Name] {
			dict.Tensors = append(dict.Tensors, t)
		}
	}
	return dict
}

// WithConstants adds the constants of a graph to weights from a state dict, which does not contain them. The graph
// determines the values of the constants.
func (n *Network) WithConstants(set *weights.Set) (*weights.Set, error) {
	if n.Graph == nil {
		return set, nil
	}
	drawn, err := n.Graph.DrawnConstants()
	if err != nil {
		return nil, err
	}
	whole, given := *set, byName(set)
	for _, w := range drawn {
		if _, ok := given[w.Name]; !ok {
			whole.Tensors = append(slices.Clip(whole.Tensors), w)
		}
	}
	return &whole, nil
}

// Load copies weights into the network by name. Names and shapes must match exactly; on a mismatch nothing is changed
// and the error lists all differences. Two kinds of tensors may be missing. Counts of batches in running statistics,
// which PyTorch before 0.4.1 did not write, default to zero. Constants of a graph, which are not in a state dict,
// default to the values that the graph determines.
func (n *Network) Load(set *weights.Set) error {
	if n.scope == nil {
		return errors.New("load weights: the network has no tensors to load into")
	}
	byName, entries := byName(set), n.State()
	if err := n.fits(entries, byName); err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		for _, e := range entries {
			if w, ok := byName[e.Name]; ok {
				s.Copy(e.Tensor, torch.FromWeights(s, n.device, w))
			} else if e.Slot.Role == Seen {
				s.Fill(e.Tensor, 0)
			}
		}
		return s.Err()
	})
}

// LoadUndrawn copies tensors from a set into a network that runs as a graph. It copies only the tensors for which no
// initialization is defined, as listed by [graph.Graph.Undrawn]. The set must contain these tensors with the same
// shapes.
func (n *Network) LoadUndrawn(set *weights.Set) error {
	if n.Graph == nil {
		return nil
	}
	given, tensors := byName(set), n.Tensors()
	return torch.With(func(s *torch.Scope) error {
		for _, name := range n.Graph.Undrawn() {
			w, ok := given[name]
			if shape := n.Graph.Tensor(name).Shape; !ok || !sameShape(w.Shape, shape) {
				return fmt.Errorf("load weights: the file lacks the tensor %s %v of this %s, and no initialization "+
					"is defined for it; use the weights file written with the network", name, shape, n.Name())
			}
			s.Copy(tensors[name], torch.FromWeights(s, n.device, w))
		}
		return s.Err()
	})
}

// Fits returns the error that Load would return: a list of the differences between weights and the network's names and
// shapes. It does not load the weights.
func (n *Network) Fits(set *weights.Set) error { return n.fits(n.State(), byName(set)) }

// CanTrain returns an error that names the first tensor from which training would diverge: a tensor with NaN or, in a
// tree of layers, infinities. In a graph of operators, infinities may mask attention.
func (n *Network) CanTrain(set *weights.Set) error {
	given := byName(set)
	for _, e := range n.State() {
		w, ok := given[e.Name]
		if !ok || e.Slot.Role == Constant {
			continue
		}
		if nan, infinite := w.NotFinite(); nan > 0 || infinite > 0 && n.Graph == nil {
			return fmt.Errorf("tensor %s has %d NaN and %d infinite values of %d, so training would diverge; "+
				"use other weights, such as an earlier checkpoint", e.Name, nan, infinite, w.Count())
		}
	}
	return nil
}

func byName(set *weights.Set) map[string]weights.Tensor {
	tensors := make(map[string]weights.Tensor, len(set.Tensors))
	for _, t := range set.Tensors {
		tensors[t.Name] = t
	}
	return tensors
}

// fits lists the differences between weights and the network.
func (n *Network) fits(entries []Entry, byName map[string]weights.Tensor) error {
	var shapes, missing, others []string
	known := make(map[string]bool)
	for _, e := range entries {
		known[e.Name] = true
		w, ok := byName[e.Name]
		switch {
		case !ok && e.Slot.Role == Constant && !n.draws(e.Name):
			missing = append(missing, fmt.Sprintf("%s %v is missing; state dicts have no constants, "+
				"use the .safetensors file of an export", e.Name, e.Slot.Shape))
		case !ok && e.Slot.Role != Seen && e.Slot.Role != Constant:
			missing = append(missing, fmt.Sprintf("%s %v is missing", e.Name, e.Slot.Shape))
		case ok && !sameShape(w.Shape, e.Slot.Shape):
			shapes = append(shapes, fmt.Sprintf("%s is %v in the file and %v in the network", e.Name, w.Shape,
				e.Slot.Shape))
		case ok && e.Slot.Tied != "" && graph.Untied(w, byName[e.Slot.Tied]):
			shapes = append(shapes, fmt.Sprintf("%s and %s are one tensor in the network, but differ in the file",
				e.Name, e.Slot.Tied))
		}
	}
	for _, other := range slices.Sorted(maps.Keys(byName)) {
		if !known[other] {
			others = append(others, fmt.Sprintf("%s %v is only in the file", other, byName[other].Shape))
		}
	}
	faults := slices.Concat(someOf(shapes), someOf(missing), someOf(others))
	if len(faults) == 0 {
		return nil
	}
	if prefix := prefixOf(entries, byName); prefix != "" {
		return fmt.Errorf("load weights: the tensors of this %s have the prefix %q in the file; run 'graft weights "+
			"convert --prefix %s FILE OUT', and use OUT", n.Name(), prefix, prefix)
	}
	return fmt.Errorf("load weights: the weights do not fit this %s: the network has %d tensors, the file has %d:\n "+
		" %s\n"+
		"use weights written for this network, or the network that matches these weights",
		n.Name(), len(entries), len(byName), strings.Join(faults, "\n  "))
}

// prefixOf returns the prefix under which the weights have all names of the network. DataParallel adds "module.",
// torch.compile "_orig_mod."; graft reads a state dict within a checkpoint under its key, such as "state_dict.".
func prefixOf(entries []Entry, byName map[string]weights.Tensor) string {
	var names []string
	for _, e := range entries {
		if e.Slot.Role != Seen && e.Slot.Role != Constant {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		prefix, found := strings.CutSuffix(name, names[0])
		if found && !slices.ContainsFunc(names, func(n string) bool { _, has := byName[prefix+n]; return !has }) {
			return prefix
		}
	}
	return ""
}

// draws reports whether a graph determines the values of a constant.
func (n *Network) draws(name string) bool {
	t := n.Graph.Tensor(name)
	return t != nil && t.DrawnConstant()
}

// someOf keeps the first differences of a kind and counts the others.
func someOf(faults []string) []string {
	const shown = 6
	if more := len(faults) - shown; more > 1 {
		faults = append(faults[:shown:shown], fmt.Sprintf("and %d more", more))
	}
	return faults
}

func sameShape(a []int64, b []int) bool {
	return slices.EqualFunc(a, b, func(x int64, y int) bool { return x == int64(y) })
}
