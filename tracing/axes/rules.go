package axes

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
)

// rules hold a rule for each operator, by its name without the overload.
var rules map[string]rule

func init() { // rules refer to each other
	rules = map[string]rule{
		"linear": linear, "matmul": matmul("other"), "bmm": matmul("mat2"), "mm": matmul("mat2"), "outer": outer,
		"embedding": embedding,
		"addmm":     addmm, "scaled_dot_product_attention": attention, "lstm": recurrent, "gru": recurrent,
		"rnn_tanh": recurrent, "rnn_relu": recurrent,
		"layer_norm": layerNorm, "rms_norm": layerNorm, "batch_norm": channelNorm, "instance_norm": channelNorm,
		"group_norm": groupNorm, "prelu": channelNorm,
		"conv1d": conv, "conv2d": conv, "conv3d": conv,
		"cat": cat, "stack": stack, "chunk": chunk, "split": chunk, "split_with_sizes": chunk, "unbind": unbind,
		"select": selected, "slice": slice, "narrow": slice,
		"view": reshaped, "reshape": reshaped, "flatten": reshaped, "unflatten": unflatten, "squeeze": reshaped,
		"unsqueeze": reshaped,
		"view_as":   likeOther, "reshape_as": likeOther, "transpose": swap("dim0", "dim1"),
		"swapaxes": swap("axis0", "axis1"), "t": reverse, "numpy_T": reverse, "permute": permute,
		"expand": expand, "expand_as": expand, "repeat_interleave": interleave, "repeat": repeat, "pad": pad,
		"constant_pad_nd": pad,
		"softmax":         along("softmax runs over it"), "log_softmax": along("softmax runs over it"),
		"cumsum": along("cumsum runs over it"),
	}
	add := func(r rule, names string) {
		for name := range strings.FieldsSeq(names) {
			rules[name] = r
		}
	}
	add(same, `dropout relu relu6 hardtanh leaky_relu elu selu celu gelu silu mish hardswish hardsigmoid sigmoid tanh
		softplus log_sigmoid hardshrink softshrink threshold neg abs exp log sqrt rsqrt reciprocal square sin cos tan
		atan sinh cosh erf log1p log2 expm1 exp2 ceil round trunc nan_to_num clamp clamp_min clamp_max floor sign
		detach bitwise_not logical_not isnan tril triu contiguous clone alias zeros_like ones_like full_like to
		_to_copy type_as feature_dropout`)
	add(elementwise, `add sub mul div rsub pow maximum minimum remainder fmod addcmul addcdiv lerp eq ne lt le gt ge
		logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor where masked_fill`)
	add(reduced, `mean sum amax amin var std prod all any logsumexp argmax argmin linalg_vector_norm norm`)
	add(made, `arange zeros ones full new_zeros new_ones new_full linspace`)
	add(spatial, `max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d
		adaptive_avg_pool2d adaptive_avg_pool3d upsample_nearest1d upsample_linear1d upsample_nearest2d
		upsample_bilinear2d upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d`)
}

func one(terms []*Term) [][]*Term { return [][]*Term{terms} }

func same(r *reader) [][]*Term { return one(r.first()) }

func elementwise(r *reader) [][]*Term {
	var lists [][]*Term
	for _, a := range r.n.Args {
		if terms := r.terms(a.Value); terms != nil {
			lists = append(lists, terms)
		}
		if w, ok := a.Value.(graph.Weight); ok {
			r.added[string(w)] = true
		}
	}
	return one(broadcast(lists...))
}

func linear(r *reader) [][]*Term {
	x, w := r.arg("input"), r.arg("weight")
	last := len(x) - 1
	unify(x[last], w[1])
	r.use(Contracts, w[1], r.n.Arg("input"), r.n.Arg("weight"))
	if b := r.arg("bias"); b != nil {
		unify(b[0], w[0])
	}
	return one(with(x, last, w[0]))
}

func matmul(other string) rule {
	return func(r *reader) [][]*Term {
		return one(r.product(r.n.Args[0].Value, r.n.Arg(other)))
	}
}

func addmm(r *reader) [][]*Term {
	return one(broadcast(r.product(r.n.Arg("mat1"), r.n.Arg("mat2")), r.arg("self")))
}

// product is the product of matrices, or of stacks of them.
func (r *reader) product(left, right any) []*Term {
	a, b := r.terms(left), r.terms(right)
	inner := b[max(0, len(b)-2)]
	unify(a[len(a)-1], inner)
	r.use(Contracts, inner, left, right)
	var out []*Term
	if len(a) > 1 && len(b) > 1 {
		out = broadcast(a[:len(a)-2], b[:len(b)-2])
	}
	if len(a) > 1 {
		out = append(slices.Clip(out), a[len(a)-2])
	}
	if len(b) > 1 {
		out = append(slices.Clip(out), b[len(b)-1])
	}
	return out
}

func outer(r *reader) [][]*Term { return one([]*Term{r.arg("self")[0], r.arg("vec2")[0]}) }

func embedding(r *reader) [][]*Term {
	w := r.arg("weight")
	r.use(Looks, w[0], r.n.Arg("indices"), r.n.Arg("weight"))
	return one(append(slices.Clone(r.arg("indices")), w[1]))
}

// attention unifies the heads of queries, keys and values; with enable_gqa the heads of the queries are groups of
// heads.
func attention(r *reader) [][]*Term {
	q, k, v := r.arg("query"), r.arg("key"), r.arg("value")
	dims := len(q)
	for d := range dims - 2 {
		unify(k[d], v[d])
		if q[d].Size != k[d].Size {
			unify(q[d], productOf(k[d], fresh(q[d].Size/k[d].Size)))
		} else {
			unify(q[d], k[d])
		}
	}
	unify(q[dims-1], k[dims-1])
	unify(k[dims-2], v[dims-2])
	r.use(Contracts, q[dims-1], r.n.Arg("query"), r.n.Arg("key"))
	k[dims-2].Fix("attention runs over it")
	q[dims-2].Fix("attention runs over it")
	if mask := r.arg("attn_mask"); mask != nil {
		broadcast(mask, append(slices.Clone(q[:dims-1]), k[dims-2]))
	}
	return one(with(q, dims-1, v[dims-1]))
}

// gates are the numbers of rows per unit in the weights of recurrent layers.
var gates = map[string]int{"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}

// recurrent gives all layers and directions one axis of hidden units, since they have the same size in PyTorch. The
// rows of a unit are the weights of its gates; both kinds of weights sum over their columns.
func recurrent(r *reader) [][]*Term {
	name := r.n.Name()
	x, params := r.first(), r.list("params")
	layers, each, directions := r.whole("num_layers", 1), 2, 1
	if on, _ := r.n.Arg("has_biases").(bool); on {
		each = 4
	}
	if on, _ := r.n.Arg("bidirectional").(bool); on {
		directions = 2
	}
	if len(params) != layers*directions*each || len(x) != 3 {
		return r.unread(x, params)
	}
	units := r.terms(params[1])[1]
	gate, direction := fresh(gates[name]), fresh(directions)
	gate.Fix("they are the gates of a recurrent layer")
	direction.Fix("they are the directions of a recurrent layer")
	out := productOf(direction, units)
	for k, p := range params {
		terms := r.terms(p)
		unify(terms[0], productOf(gate, units))
		switch in := terms[len(terms)-1]; {
		case len(terms) == 1: // a bias
		case k%each == 1:
			unify(in, units)
			r.use(Contracts, in, nil, p)
		case k < directions*each:
			unify(in, x[2])
			r.use(Contracts, in, r.n.Args[0].Value, p)
		default:
			unify(in, out)
			r.use(Contracts, in, nil, p)
		}
	}
	states, _ := r.n.Arg("hx").([]any)
	if states == nil {
		states = []any{r.n.Arg("hx")}
	}
	for _, h := range states {
		if terms := r.terms(h); len(terms) == 3 {
			unify(terms[2], units)
		}
	}
	results := r.freshResults("")
	results[0] = []*Term{x[0], x[1], out}
	for _, h := range results[1:] {
		h[2] = units
	}
	return results
}

// unread creates new axes that surgery does not change.
func (r *reader) unread(x []*Term, params []any) [][]*Term {
	const reason = "projections of recurrent layers are not supported"
	for _, p := range params {
		for _, t := range r.terms(p) {
			t.Fix(reason)
		}
	}
	results := r.freshResults(reason)
	results[0][0], results[0][1] = x[0], x[1]
	return results
}

func layerNorm(r *reader) [][]*Term {
	x := r.arg("input")
	n := len(r.list("normalized_shape"))
	for _, name := range []string{"weight", "bias"} {
		for k, t := range r.arg(name) {
			unify(t, x[len(x)-n+k])
		}
	}
	for _, t := range x[len(x)-n:] {
		r.use(Normalises, t, r.n.Arg("input"), nil)
	}
	if n > 1 {
		fixAllOf(x[len(x)-n:], "a normalisation runs over it together with other axes")
		return one(x)
	}
	r.builtNorm()
	return one(x)
}

// channelNorm works on each channel, the second dimension, separately.
func channelNorm(r *reader) [][]*Term {
	x := r.first()
	for _, a := range r.n.Args[1:] {
		if terms := r.terms(a.Value); len(terms) == 1 && terms[0].Size == x[min(1, len(x)-1)].Size {
			unify(terms[0], x[min(1, len(x)-1)])
		}
	}
	return one(x)
}

func groupNorm(r *reader) [][]*Term {
	x := channelNorm(r)[0]
	groups := r.whole("num_groups", 1)
	inside := fresh(x[1].Size / groups)
	unify(x[1], productOf(fresh(groups), inside))
	inside.Fix("a group normalisation runs over it")
	return one(x)
}

// conv sums over input channels and creates an axis of output channels; groups divide both.
func conv(r *reader) [][]*Term {
	x, w := r.first(), r.arg("weight")
	groups := r.whole("groups", 1)
	channels := x[1]
	switch {
	case groups == 1:
		unify(channels, w[1])
		r.use(Contracts, w[1], r.n.Args[0].Value, r.n.Arg("weight"))
	default:
		runs := fresh(groups)
		unify(channels, productOf(runs, w[1]))
		unify(w[0], productOf(runs, fresh(w[0].Size/groups)))
		if w[1].Size > 1 {
			r.use(Contracts, w[1], r.n.Args[0].Value, r.n.Arg("weight"))
		}
	}
	for _, t := range w[2:] {
		t.Fix("it is a kernel's size")
	}
	if b := r.arg("bias"); b != nil {
		unify(b[0], w[0])
	}
	return one(r.places(with(x, 1, w[0]), 2))
}

// places gives dimensions from one on terms of the result's sizes, unless they equal the input's.
func (r *reader) places(terms []*Term, from int) []*Term {
	out := slices.Clone(terms)
	for k := from; k < len(out); k++ {
		if size := r.out()[k]; out[k].Size != size {
			out[k] = fresh(size)
		}
		out[k].Fix("it is a position in an image")
	}
	return out
}

func spatial(r *reader) [][]*Term { return one(r.places(r.first(), min(2, len(r.first())-1))) }

func cat(r *reader) [][]*Term {
	var parts [][]*Term
	for _, item := range r.list("tensors") {
		if terms := r.terms(item); len(terms) != 1 || terms[0].Size != 0 {
			parts = append(parts, terms)
		}
	}
	dim := r.dim("dim", 0, len(parts[0]))
	var joined []*Term
	for _, p := range parts {
		joined = append(joined, p[dim])
		for d := range p {
			if d != dim {
				unify(parts[0][d], p[d])
			}
		}
	}
	return one(with(parts[0], dim, sumOf(joined...)))
}

func stack(r *reader) [][]*Term {
	items := r.list("tensors")
	firstTerms := r.terms(items[0])
	for _, item := range items {
		for d, t := range r.terms(item) {
			unify(firstTerms[d], t)
		}
	}
	count := fresh(len(items))
	count.Fixed = "it counts stacked tensors"
	return one(slices.Insert(slices.Clone(firstTerms), r.dim("dim", 0, len(firstTerms)+1), count))
}

// chunk divides a dimension into a sum.
func chunk(r *reader) [][]*Term {
	x := r.first()
	dim := r.dim("dim", 0, len(x))
	var parts []*Term
	for _, v := range r.n.Results {
		parts = append(parts, fresh(r.Shapes[v][dim]))
	}
	unify(x[dim], sumOf(parts...))
	var all [][]*Term
	for _, p := range parts {
		all = append(all, with(x, dim, p))
	}
	return all
}

func unbind(r *reader) [][]*Term {
	x := r.first()
	dim := r.dim("dim", 0, len(x))
	x[dim].Fix("it is unbound into its entries")
	return slices.Repeat(one(without(x, dim)), len(r.n.Results))
}

func selected(r *reader) [][]*Term {
	x := r.first()
	dim := r.dim("dim", 0, len(x))
	x[dim].Fix("an entry of it is selected")
	return one(without(x, dim))
}

// slice takes a part of a sum. Its ends are numbers, or the size of another axis; then it takes the first places.
func slice(r *reader) [][]*Term {
	x := r.first()
	dim := r.dim("dim", 0, len(x))
	size, got := x[dim].Size, r.out()[dim]
	_, named := r.n.Arg("end").(graph.Value)
	if got == size && !named {
		return one(x)
	}
	from := r.whole("start", 0)
	if from < 0 {
		from += size
	}
	if named || r.whole("step", 1) != 1 || from < 0 || from+got > size {
		if !named {
			x[dim].Fix("a part of it is selected")
		}
		return one(with(x, dim, fresh(got)))
	}
	var parts []*Term
	for _, n := range []int{from, got, size - from - got} {
		if n > 0 {
			parts = append(parts, fresh(n))
		}
	}
	unify(x[dim], sumOf(parts...))
	middle := parts[0]
	if from > 0 {
		middle = parts[1]
	}
	return one(with(x, dim, middle))
}

// reshaped reads the same values with other dimensions.
func reshaped(r *reader) [][]*Term {
	return one(reshape(r.first(), freshTerms(r.out(), "")))
}

// unflatten divides a dimension. One of size one stays a factor: it may be a number of groups that grows.
func unflatten(r *reader) [][]*Term {
	x, out := r.first(), freshTerms(r.out(), "")
	dim := r.dim("dim", 0, len(x))
	parts := out[dim : dim+len(out)-len(x)+1]
	if x[dim].Find().Kind != Axis || len(parts) < 2 || x[dim].Size == 1 {
		return reshaped(r)
	}
	unify(x[dim], &Term{Kind: Product, Size: x[dim].Size, Parts: parts})
	return one(slices.Concat(x[:dim], parts, x[dim+1:]))
}

func likeOther(r *reader) [][]*Term { return one(reshape(r.first(), r.arg("other"))) }

func swap(a, b string) rule {
	return func(r *reader) [][]*Term {
		x := slices.Clone(r.first())
		i, j := r.dim(a, 0, len(x)), r.dim(b, 1, len(x))
		x[i], x[j] = x[j], x[i]
		return one(x)
	}
}

func reverse(r *reader) [][]*Term {
	x := slices.Clone(r.first())
	slices.Reverse(x)
	return one(x)
}

func permute(r *reader) [][]*Term {
	x := r.first()
	var out []*Term
	for _, d := range r.list("dims") {
		at := int(d.(int64))
		if at < 0 {
			at += len(x)
		}
		out = append(out, x[at])
	}
	return one(out)
}

// expand repeats dimensions of size one.
func expand(r *reader) [][]*Term {
	if w, ok := r.n.Args[0].Value.(graph.Weight); ok { // such as a class token
		r.added[string(w)] = true
	}
	x, other := r.first(), r.arg("other")
	out := freshTerms(r.out(), "")
	for k, t := range x {
		if at := len(out) - len(x) + k; t.Size == out[at].Size {
			out[at] = t
		}
	}
	if other != nil {
		broadcast(out, other)
	}
	return one(out)
}

// interleave repeats each place, which makes the dimension a product.
func interleave(r *reader) [][]*Term {
	x := r.first()
	if r.n.Arg("dim") == nil {
		return unknown(r)
	}
	dim := r.dim("dim", 0, len(x))
	return one(with(x, dim, productOf(x[dim], fresh(r.out()[dim]/x[dim].Size))))
}

func repeat(r *reader) [][]*Term {
	x := r.first()
	out := freshTerms(r.out(), "")
	for k, t := range x {
		if at := len(out) - len(x) + k; t.Size > 0 {
			out[at] = productOf(fresh(out[at].Size/t.Size), t)
		}
	}
	return one(out)
}

func pad(r *reader) [][]*Term {
	x := slices.Clone(r.first())
	for k, t := range x {
		if size := r.out()[k]; size != t.Size {
			t.Fix("it is padded")
			x[k] = fresh(size)
			x[k].Fixed = "it is padded"
		}
	}
	return one(x)
}

func along(reason string) rule {
	return func(r *reader) [][]*Term {
		x := r.first()
		x[r.dim("dim", -1, len(x))].Fix(reason)
		return one(x)
	}
}

// reduced removes the dimensions that it runs over.
func reduced(r *reader) [][]*Term {
	x := r.first()
	gone := map[int]bool{}
	for _, d := range r.list("dim") {
		at := int(d.(int64))
		if at < 0 {
			at += len(x)
		}
		gone[at] = true
	}
	keep, _ := r.n.Arg("keepdim").(bool)
	op := r.n.Name()
	if op == "mean" && keep && len(gone) == 1 && gone[len(x)-1] && r.handNorm() {
		r.use(Normalises, x[len(x)-1], r.Norms[len(r.Norms)-1].Input, nil)
		return one(with(x, len(x)-1, fresh(1)))
	}
	var out []*Term
	for k, t := range x {
		if !gone[k] && len(gone) > 0 {
			out = append(out, t)
			continue
		}
		t.Fix(fmt.Sprintf("%s runs over it", op))
		if keep {
			out = append(out, fresh(1))
		}
	}
	return one(out)
}

// made are values that have no inputs.
func made(r *reader) [][]*Term { return r.freshResults("") }
