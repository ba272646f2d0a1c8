package rewrite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// Options determines how Widen divides the original weights among copies.
type Options struct {
	// Spread is the maximum relative deviation of a copy's share from 1/n, where n is the number of copies. With
	// unequal shares, gradients of copies differ by a factor. Zero gives equal shares, as in Net2Net; such copies stay
	// equal.
	Spread float64
	// Partition gives each weight of a layer that sums over the axis to one copy, instead of shares to all copies. Axes
	// inside of attention scores have no such layer; they get shares, and so does a layer that computes its weight.
	Partition bool
	Seed      uint64    // seed of shares and padding
	Shares    []float64 // share of each place on the axis; nil draws the shares
	// From holds the place that each place on the axis copies, or -1 for a new unit, whose weights start at zero. Nil
	// copies all places in turn.
	From []int
}

// Widen returns a plan that enlarges an axis to the given size by copying entries of the axis. An axis can count hidden
// units, heads, groups of heads, queries in each group, channels, dimensions of a head, or dimensions of the residual
// stream. If the network sums over the axis, each copy gets a share of the original entry's weights. If the axis cannot
// change, Widen returns an error.
func Widen(a *axes.Axes, axis *axes.Term, to int, o Options) (*Plan, error) {
	axis = axis.Find()
	w := newWidening(a, axis, to)
	w.Options, w.plan.Seed = o, o.Seed
	if err := w.possible(); err != nil {
		return nil, err
	}
	w.spread()
	if w.normed() {
		if err := w.stream(); err != nil {
			return nil, err
		}
	} else {
		w.copies()
	}
	return resize(a, w.plan, map[*axes.Term]int{axis: to})
}

// place is a dimension of a tensor.
type place struct {
	tensor string
	dim    int
}

// widening is a plan under construction.
type widening struct {
	*axes.Axes
	Options
	axis   *axes.Term
	to     int
	plan   *Plan
	splits map[place]bool // dimensions that the network sums over
	scores bool           // products of two values sum over the axis, as in scores of attention
	// degree is 1 for the tensors that scale the factors of scores, and 2 for tensors with shares if their layer
	// computes its weight from them; see degrees
	degree map[string]int
	makers map[graph.Value]int // node that computes a value
	from   []int               // old place of each new place
	share  []float64
}

func newWidening(a *axes.Axes, axis *axes.Term, to int) *widening {
	w := &widening{Axes: a, axis: axis, to: to, plan: keep(a.Graph), splits: map[place]bool{},
		degree: map[string]int{}, makers: map[graph.Value]int{}}
	for k := range a.Graph.Nodes {
		for _, v := range a.Graph.Nodes[k].Results {
			w.makers[v] = k
		}
	}
	return w
}

// maker returns the node that computes a value; nil for an input of the network.
func (w *widening) maker(v graph.Value) *graph.Node {
	k, ok := w.makers[v]
	if !ok {
		return nil
	}
	return &w.Graph.Nodes[k]
}

// possible finds the sums of the network over the axis.
func (w *widening) possible() error {
	switch {
	case w.axis.Kind != axes.Axis:
		return fmt.Errorf("widen: the target is not a single axis")
	case w.axis.Fixed != "":
		return fmt.Errorf("widen: the axis of size %d cannot change: %s", w.axis.Size, w.axis.Fixed)
	case w.to <= w.axis.Size:
		return fmt.Errorf("widen: the size of the axis is already %d; use a larger size", w.axis.Size)
	}
	var computed []axes.Use // sums of products of two computed values
	for _, u := range w.Uses {
		if !u.Term.Has(w.axis) {
			continue
		}
		switch u.Kind {
		case axes.Looks:
			return fmt.Errorf("widen: the axis is the number of rows of an embedding; " +
				"more rows would change the network's function")
		case axes.Contracts:
			found, err := w.contraction(u)
			if err != nil {
				return err
			}
			if !found {
				computed = append(computed, u)
			}
		}
	}
	switch {
	case len(computed) == 0 && len(w.splits) == 0:
		return fmt.Errorf("widen: no layer of the network sums over the axis, so copies would change the network's " +
			"function")
	case len(computed) == 0:
		return w.onlySplit()
	case w.normed():
		return fmt.Errorf("widen: %s in %q sums products of two computed values over the axis, and a normalisation "+
			"also runs over it, so no tensor can take the shares of copies; choose another axis",
			w.Graph.Nodes[computed[0].Node].Operator, w.Graph.Nodes[computed[0].Node].Module)
	}
	return w.divide(computed)
}

// contraction finds the tensor that takes the shares of a sum. It returns false if both operands are computed.
func (w *widening) contraction(u axes.Use) (found bool, err error) {
	name, ok := w.divided(u)
	if !ok {
		return false, nil
	}
	dim, err := w.summed(name, u)
	if err != nil {
		return false, err
	}
	w.splits[place{name, dim}] = true
	return true, nil
}

// divided returns the tensor that takes the shares of a sum, if an operand is a tensor.
func (w *widening) divided(u axes.Use) (name string, ok bool) {
	if name, ok = w.tensorOf(u.Right); !ok {
		name, ok = w.tensorOf(u.Left)
	}
	return name, ok
}

// tensorOf returns the tensor that an operand is, or is a view of. It is not ok for a tensor whose values cannot be
// scaled.
func (w *widening) tensorOf(operand any) (name string, ok bool) {
	switch v := operand.(type) {
	case graph.Weight:
		t := w.tensor(v)
		return t.Name, t.Role != graph.Constant && slices.Contains(floats, t.DType)
	case graph.Value:
		if n := w.maker(v); n != nil && len(n.Args) > 0 && slices.Contains(views, op(n)) {
			return w.tensorOf(n.Args[0].Value)
		}
	}
	return "", false
}

var floats = []weights.DType{weights.Float64, weights.Float32, weights.Float16, weights.BFloat16}

// tensor returns a tensor of the graph, or the one that it is tied to.
func (w *widening) tensor(name graph.Weight) *graph.Tensor {
	t := w.Graph.Tensor(string(name))
	if t.Tied != "" {
		t = w.Graph.Tensor(t.Tied)
	}
	return t
}

// views are operators that move values without changing them.
var views = strings.Fields(`t numpy_T transpose swapaxes permute view reshape flatten unflatten squeeze unsqueeze
	contiguous alias clone to detach select slice chunk split split_with_sizes unbind`)

// recurrent are the operators whose weights have their output units in both rows and columns.
var recurrent = []string{"lstm", "gru", "rnn_tanh", "rnn_relu"}

// summed is the dimension of a tensor that a use sums over: the last one, except for convolutions.
func (w *widening) summed(name string, u axes.Use) (int, error) {
	var found []int
	for d, t := range w.Tensors[name] {
		if t.Has(w.axis) {
			found = append(found, d)
		}
	}
	op := w.Graph.Nodes[u.Node].Name()
	if direct := op == "linear" || strings.HasPrefix(op, "conv") || slices.Contains(recurrent, op); direct &&
		slices.Contains(found, 1) {
		return 1, nil
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("widen: the change affects %d dimensions of tensor %s; expected exactly one, which the "+
			"next operator sums over", len(found), name)
	}
	return found[0], nil
}

// onlySplit checks that tensors with shares have no other readers. The residual stream handles tied weights itself.
func (w *widening) onlySplit() error {
	if w.normed() {
		return nil
	}
	for p := range w.splits {
		if other := w.otherReader(p); other != "" {
			return fmt.Errorf("widen: cannot scale the copies in %s, because %s also reads this tensor and does not "+
				"sum over the copies", p.tensor, other)
		}
	}
	return nil
}

// otherReader returns the name of an operator that reads a tensor and does not sum over the place.
func (w *widening) otherReader(p place) string {
	sums := map[int]bool{}
	for _, u := range w.Uses {
		if name, ok := w.divided(u); u.Kind == axes.Contracts && ok && name == p.tensor && u.Term.Has(w.axis) {
			sums[u.Node] = true
		}
	}
	for k := range w.Graph.Nodes {
		reads := false
		n := &w.Graph.Nodes[k]
		n.Reads(func(v any) {
			name, _ := w.tensorOf(v)
			reads = reads || name == p.tensor && w.carries(v)
		})
		if reads && !sums[k] && !slices.Contains(views, op(n)) {
			return n.Operator
		}
	}
	return ""
}

// normed reports whether a normalisation runs over the axis.
func (w *widening) normed() bool {
	return slices.ContainsFunc(w.Uses, func(u axes.Use) bool { return u.Kind == axes.Normalises && u.Term.Has(w.axis) })
}

// spread chooses the copies and their shares. The residual stream gets whole copies, and padding for the rest.
func (w *widening) spread() {
	n := w.axis.Size
	whole := w.to
	if w.normed() {
		whole = w.to / n * n
	}
	for k := range w.to {
		if k < whole {
			w.from = append(w.from, k%n)
		} else {
			w.from = append(w.from, -1)
		}
	}
	if len(w.From) == w.to {
		w.from = w.From
	}
	if len(w.Shares) == w.to {
		w.share = w.Shares
		return
	}
	spread := w.Spread
	if w.Partition {
		spread = 0
	}
	w.share = shares(w.from, n, spread, rand.New(rand.NewPCG(w.Seed, uint64(n)<<32|uint64(w.to))))
	for k, f := range w.From {
		if f < 0 {
			w.share[k] = 1 // a new unit shares nothing
		}
	}
}

// shares gives the copies of each place shares that add up to one, each at least 1-spread of an equal share. Padding
// has zero.
func shares(from []int, n int, spread float64, random *rand.Rand) []float64 {
	copies := make([][]int, n)
	for k, f := range from {
		if f >= 0 {
			copies[f] = append(copies[f], k)
		}
	}
	share := make([]float64, len(from))
	for _, places := range copies {
		if len(places) == 0 {
			continue
		}
		count, last := float64(len(places)), len(places)-1
		for _, k := range places[:last] {
			share[k] = 1/count + spread*(random.Float64()-0.5)/count
		}
		off := remainder(share, places) - 1/count
		if math.Abs(off) > spread/count { // otherwise the last copy alone would take the sum of all deviations
			for _, k := range places[:last] {
				share[k] += off / count
			}
		}
		share[places[last]] = remainder(share, places)
	}
	return share
}

// remainder subtracts the shares of all copies except the last from one.
func remainder(share []float64, places []int) float64 {
	rest := 1.0
	for _, k := range places[:len(places)-1] {
		rest -= share[k]
	}
	return rest
}

// expanded returns a dimension's change that follows from the change of the axis.
func (w *widening) expanded(t *axes.Term) (from []int, share []float64) {
	t = t.Find()
	switch {
	case t == w.axis:
		return w.from, w.share
	case t.Kind == axes.Axis:
		for k := range t.Size {
			from, share = append(from, k), append(share, 1)
		}
	case t.Kind == axes.Sum:
		offset := 0
		for _, p := range t.Parts {
			f, s := w.expanded(p)
			for k := range f {
				if f[k] >= 0 {
					from = append(from, f[k]+offset)
				} else {
					from = append(from, -1)
				}
			}
			share, offset = append(share, s...), offset+p.Find().Size
		}
	default:
		from, share = []int{0}, []float64{1}
		for _, p := range t.Parts {
			f, s := w.expanded(p)
			from, share = cross(from, share, f, s, p.Find().Size)
		}
	}
	return from, share
}

func cross(outer []int, outerShare []float64, inner []int, innerShare []float64,
	size int) (from []int, share []float64) {
	for i := range outer {
		for j := range inner {
			at := -1
			if outer[i] >= 0 && inner[j] >= 0 {
				at = outer[i]*size + inner[j]
			}
			from, share = append(from, at), append(share, outerShare[i]*innerShare[j])
		}
	}
	return from, share
}

// copies plans copies and shares of an axis that no normalisation runs over. In scores each factor gets the square root
// of the share, so products have the share.
func (w *widening) copies() {
	w.each(func(t graph.Tensor, dim int, d Dim, share []float64) {
		if w.From != nil {
			d.Pad = Units
		}
		switch {
		case w.splits[place{t.Name, dim}]:
			d.Split = true
			if d.Partition = w.Partition; !w.Partition {
				d.Share = share
			}
		case w.degree[t.Name] == 1:
			roots := make([]float64, len(share))
			for k := range share {
				roots[k] = math.Sqrt(share[k])
			}
			d.Share, d.Moment = roots, roots
		default:
			d.Moment = share
		}
		w.plan.add(t.Name, d)
	})
}

// each visits the dimensions of tensors that contain the axis.
func (w *widening) each(visit func(t graph.Tensor, dim int, d Dim, share []float64)) {
	for _, t := range w.Graph.Tensors {
		if t.Tied != "" {
			continue
		}
		for dim, term := range w.Tensors[t.Name] {
			if term.Has(w.axis) {
				from, share := w.expanded(term)
				visit(t, dim, Dim{At: dim, From: from}, share)
			}
		}
	}
}
