package rewrite

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/tracing/axes"
)

// stream plans another width of the residual stream, which normalisations run over. The new stream holds k whole copies
// and padding. The padding is the mean of the copies if norms centre, and zero if they do not, so mean and deviations
// stay, and the variance, or mean square, becomes η² = kD/D' times the old one. Norms compensate by a factor η and an
// epsilon times η².
func (w *widening) stream() error {
	s := &stream{widening: w, centre: w.Norms[0].Centre, padding: slices.Contains(w.from, -1)}
	s.eta2 = float64(w.to/w.axis.Size*w.axis.Size) / float64(w.to)
	for _, n := range w.Norms {
		if n.Term.Has(w.axis) && (n.Term.Find() != w.axis || n.Centre != s.centre) {
			return fmt.Errorf("widen: normalisations over the axis must all be of the same kind, " +
				"and must not include other axes")
		}
		if !n.Term.Has(w.axis) || !s.padding {
			continue
		}
		if node := w.Graph.Nodes[n.Node]; isComputed(node.Arg("weight")) || isComputed(node.Arg("bias")) {
			return fmt.Errorf("widen: %d is not a multiple of %d, and the weight or bias of the normalisation in %q "+
				"is computed, so it cannot compensate for padding; choose a multiple", w.to, w.axis.Size, node.Module)
		}
		if n.Weight == "" {
			return fmt.Errorf("widen: %d is not a multiple of %d, and a normalisation over the axis has no weight "+
				"that compensates for padding; choose a multiple", w.to, w.axis.Size)
		}
	}
	s.states()
	if err := s.fits(); err != nil {
		return err
	}
	if err := s.norms(); err != nil {
		return err
	}
	s.tensors()
	return nil
}

// isComputed reports whether an argument is the result of an operator.
func isComputed(arg any) bool {
	_, value := arg.(graph.Value)
	return value
}

// state is the value of a stream's padding.
type state int

const (
	asPadded state = iota // the mean of the copies, or zero, as required by the network's norms
	isZero
	isOther
)

type stream struct {
	*widening
	centre  bool
	padding bool // the stream has padding
	eta2    float64
	state   map[graph.Value]state // of values with the axis
	tied    map[string]bool       // tensors that both write and read the stream
	shared  map[graph.Value]bool  // outputs of norms that apply the shares of tied readers
}

// isNorm returns the normalisation that outputs a value; nil if there is none.
func (s *stream) isNorm(v graph.Value) *axes.Norm {
	for k := range s.Norms {
		if s.Norms[k].Output == v && s.Norms[k].Term.Has(s.axis) {
			return &s.Norms[k]
		}
	}
	return nil
}

// states tracks the padding through the network.
func (s *stream) states() {
	s.state = map[graph.Value]state{}
	for k := range s.Graph.Nodes {
		n := &s.Graph.Nodes[k]
		for _, v := range n.Results {
			if !slices.ContainsFunc(s.Values[v], func(t *axes.Term) bool { return t.Has(s.axis) }) {
				continue
			}
			if s.isNorm(v) != nil {
				s.state[v] = isZero
				continue
			}
			s.state[v] = s.after(n)
		}
	}
}

// keeping are operators that keep the mean of a stream if they work on each place separately.
var keeping = strings.Fields(`dropout feature_dropout neg contiguous clone alias detach to type_as view reshape flatten
	unflatten squeeze unsqueeze transpose swapaxes permute slice select cat stack chunk split split_with_sizes unbind
	expand expand_as mean repeat pad constant_pad_nd index_select`)

// zeroing are operators that keep zeros.
var zeroing = strings.Fields(`relu gelu silu tanh elu leaky_relu hardswish mish pow square abs sin`)

func (s *stream) after(n *graph.Node) state {
	op := n.Name()
	var operands []state
	factor := false // an operand is a tensor of the network with the axis
	n.Reads(func(v any) {
		switch v := v.(type) {
		case graph.Value:
			if st, ok := s.state[v]; ok {
				operands = append(operands, st)
			}
		case graph.Weight:
			factor = factor || slices.ContainsFunc(s.Tensors[string(v)],
				func(t *axes.Term) bool { return t.Has(s.axis) })
		}
	})
	all := func(want state) bool {
		return !slices.ContainsFunc(operands, func(st state) bool { return st != want })
	}
	zero := all(isZero) || !s.centre && all(asPadded)
	switch {
	case op == "embedding":
		return asPadded // rows are padded
	case op == "linear" || strings.HasPrefix(op, "conv"):
		return s.afterLayer(n, op == "linear")
	case len(operands) == 0:
		return asPadded
	case op == "mul" || op == "div":
		switch {
		case len(operands) == 1 && !factor && all(asPadded):
			return asPadded
		case zero:
			return isZero
		}
	case op == "add" || op == "sub":
		if all(asPadded) || !s.centre && !slices.Contains(operands, isOther) {
			return asPadded
		}
		if all(isZero) && !factor {
			return isZero
		}
	case slices.Contains(keeping, op) && all(operands[0]):
		return operands[0]
	case slices.Contains(zeroing, op) && zero:
		return isZero
	}
	return isOther
}

// afterLayer is the state after a layer that writes the stream, or that works on each place of it separately, such as a
// layer over tokens or a depthwise convolution.
func (s *stream) afterLayer(n *graph.Node, linear bool) state {
	x, _ := n.Arg("input").(graph.Value)
	weight, _ := n.Arg("weight").(graph.Weight)
	before, has := s.state[x]
	rows := s.Tensors[string(weight)]
	own := len(rows) > 0 && rows[0].Has(s.axis) // each place has its own weights
	carried := has && !own
	if has && own && !linear && len(rows) > 1 && !rows[1].Has(s.axis) {
		carried = len(s.Values[x]) > 1 && s.Values[x][1].Has(s.axis)
	}
	switch bias := n.Arg("bias") != nil; {
	case !carried:
		return asPadded
	case before == isZero && !bias:
		return isZero
	case before == asPadded && s.centre && !own:
		return asPadded
	case before != isOther && !s.centre && (own || !bias):
		return asPadded
	}
	return isOther
}

// fits checks that norms and readers are compatible with the padding.
func (s *stream) fits() error {
	s.tied, s.shared = map[string]bool{}, map[graph.Value]bool{}
	if s.padding {
		for _, n := range s.Norms {
			st, inside := s.state[n.Input]
			if inside && (st == isOther || st == isZero && s.centre) {
				return fmt.Errorf("widen: growing the stream from %d to %d requires padding, but padding would "+
					"change the normalisation of %s; use a multiple of %d", s.axis.Size, s.to, n.Input, s.axis.Size)
			}
		}
	}
	for p := range s.splits {
		if s.makes(p.tensor) {
			s.tied[p.tensor] = true
		}
	}
	for _, u := range s.Uses {
		if u.Kind != axes.Contracts || !u.Term.Has(s.axis) {
			continue
		}
		name, _ := s.tensorOf(u.Right)
		from, _ := u.Left.(graph.Value)
		if s.tied[name] {
			if err := s.shareTied(from, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// makes reports whether a tensor that is summed over also writes the stream, like the embedding of a tied head.
func (s *stream) makes(name string) bool {
	for k := range s.Graph.Nodes {
		n := &s.Graph.Nodes[k]
		op := n.Name()
		if weight, ok := n.Arg("weight").(graph.Weight); ok && op == "embedding" {
			if t, _ := s.tensorOf(weight); t == name {
				return true
			}
		}
	}
	return false
}

// shareTied finds the norm before a tied reader, which applies the reader's shares.
func (s *stream) shareTied(v graph.Value, name string) error {
	for s.isNorm(v) == nil {
		n := s.producer(v)
		op := ""
		if n != nil {
			op = n.Name()
		}
		before, ok := graph.Value(""), false
		if n != nil && len(n.Args) > 0 {
			before, ok = n.Args[0].Value.(graph.Value)
		}
		if !ok || !slices.Contains(keeping, op) || !s.onlyTied(v) {
			return fmt.Errorf("widen: layers that write and read the residual stream share tensor %s; the reading "+
				"layer needs a normalisation before it, but graft found none; untie the tensor first (widen:untied)",
				name)
		}
		v = before
	}
	if norm := s.isNorm(v); norm.Weight == "" || !s.onlyTied(v) {
		return fmt.Errorf("widen: layers that write and read the residual stream share tensor %s, but the "+
			"normalisation before the reading layer cannot be adjusted: it has no weight, or another operator also "+
			"uses its result; untie the tensor first (widen:untied)", name)
	}
	s.shared[v] = true
	return nil
}

func (s *stream) producer(v graph.Value) *graph.Node {
	for k := range s.Graph.Nodes {
		if slices.Contains(s.Graph.Nodes[k].Results, v) {
			return &s.Graph.Nodes[k]
		}
	}
	return nil
}

// onlyTied reports whether a value reaches only tied readers.
func (s *stream) onlyTied(v graph.Value) bool {
	for _, k := range s.Readers(v) {
		n := &s.Graph.Nodes[k]
		op := n.Name()
		name, _ := s.tensorOf(n.Arg("weight")) // empty for an operator without a weight
		switch {
		case op == "linear" && s.tied[name]:
		case slices.Contains(keeping, op) && s.onlyTied(n.Results[0]):
		default:
			return false
		}
	}
	return true
}

// norms changes weights, biases and epsilons.
func (s *stream) norms() error {
	eta := math.Sqrt(s.eta2)
	for _, n := range s.Norms {
		if !n.Term.Has(s.axis) {
			continue
		}
		node := &s.plan.Graph.Nodes[n.Node]
		node.Set(n.Eps, n.Epsilon*s.eta2)
		weight, bias := Dim{From: s.from, Pad: Ones}, Dim{From: s.from}
		weight.Share, weight.Moment = make([]float64, s.to), make([]float64, s.to)
		bias.Moment = slices.Clone(s.share)
		if s.shared[n.Output] {
			bias.Share, bias.Moment, weight.Pad = s.share, ones(s.to), Zeros
		}
		for k := range s.to {
			weight.Share[k], weight.Moment[k] = eta, s.share[k]/eta
			if s.shared[n.Output] {
				weight.Share[k], weight.Moment[k] = eta*s.share[k], 1/eta
			}
			if s.from[k] < 0 { // padding gets its fill value
				weight.Share[k], weight.Moment[k] = 1, 0
				if bias.Share != nil {
					bias.Share[k] = 1
				}
			}
		}
		if err := s.change(n.Weight, weight); err != nil {
			return err
		}
		if err := s.change(n.Bias, bias); err != nil {
			return err
		}
	}
	return nil
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// change adds a change to a tensor once. Norms that share it must need the same change, and other operators may read it
// only if all values stay.
func (s *stream) change(name string, d Dim) error {
	if name == "" {
		return nil
	}
	name = s.tensor(graph.Weight(name)).Name
	switch dims := s.plan.move(name).Dims; {
	case len(dims) == 0:
		s.plan.add(name, d)
	case !reflect.DeepEqual(dims[0], d):
		return fmt.Errorf("widen: normalisations share the tensor %s, and only one of them applies the shares of a "+
			"reader whose weights also write the residual stream; untie these weights first (widen:untied)", name)
	}
	scaled := slices.ContainsFunc(d.Share, func(f float64) bool { return f != 1 })
	if (scaled || slices.Contains(d.From, -1)) && s.readElsewhere(name) {
		return fmt.Errorf("widen: the values of %s must change for the normalisations over the axis, but another "+
			"operator also reads this tensor; choose another size or another axis", name)
	}
	return nil
}

// readElsewhere reports whether an operator other than the normalisations over the axis reads a tensor.
func (s *stream) readElsewhere(name string) bool {
	for k := range s.Graph.Nodes {
		n := &s.Graph.Nodes[k]
		reads := false
		n.Reads(func(v any) {
			w, ok := v.(graph.Weight)
			reads = reads || ok && s.tensor(w).Name == name
		})
		if reads && (len(n.Results) == 0 || s.isNorm(n.Results[0]) == nil) {
			return true
		}
	}
	return false
}

// tensors changes the layers that write the stream and the layers that read it.
func (s *stream) tensors() {
	normed := map[string]bool{}
	for _, n := range s.Norms {
		for _, name := range []string{n.Weight, n.Bias} {
			if name != "" && n.Term.Has(s.axis) {
				normed[s.tensor(graph.Weight(name)).Name] = true
			}
		}
	}
	s.each(func(t graph.Tensor, dim int, d Dim, share []float64) {
		switch {
		case normed[t.Name]:
			return
		case s.splits[place{t.Name, dim}] && !s.tied[t.Name]:
			d.Split = true
			if d.Partition = s.Partition; !s.Partition {
				d.Share = slices.Clone(share)
			}
			if s.padding && d.Share != nil {
				for k, from := range d.From {
					if from < 0 {
						d.Share[k] = 1
					}
				}
			}
			if s.quiet(t.Name) {
				d.Pad = Random
			}
		default:
			d.Moment = share
			if s.centre {
				d.Pad = Mean
			}
		}
		s.plan.add(t.Name, d)
	})
}

// quiet reports whether all values that a reader sums over are zero in their padding: its columns there are then
// arbitrary.
func (s *stream) quiet(name string) bool {
	for _, u := range s.Uses {
		tensor, _ := s.tensorOf(u.Right)
		from, ok := u.Left.(graph.Value)
		if u.Kind == axes.Contracts && tensor == name && u.Term.Has(s.axis) &&
			(!ok || s.state[from] != isZero && (s.centre || s.state[from] != asPadded)) {
			return false
		}
	}
	return true
}
