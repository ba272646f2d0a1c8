package graph

import (
	"math"
	"slices"
	"strings"

	"graft/torch/weights"
)

// shapeRules hold a rule for each operator, by its name without the overload.
var shapeRules = func() map[string]shapeRule {
	rules := map[string]shapeRule{
		"linear": linearShape, "matmul": matmulShape, "bmm": productShape(3, "self", "mat2"),
		"mm": productShape(2, "self", "mat2"), "addmm": productShape(2, "mat1", "mat2"),
		"baddbmm":   productShape(3, "batch1", "batch2"),
		"embedding": embeddingShape,
		"outer": func(s *shaper) [][]int {
			return one(slices.Concat(s.shape("self"), s.shape("vec2")))
		},
		"scaled_dot_product_attention": attentionShape, "lstm": recurrentShape(2), "gru": recurrentShape(1),
		"rnn_tanh": recurrentShape(1), "rnn_relu": recurrentShape(1),
		"cat": catShape, "stack": stackShape, "chunk": chunkShape, "split": splitShape, "split_with_sizes": splitShape,
		"unbind": unbindShape,
		"view":   viewShape, "reshape": viewShape, "flatten": flattenShape, "unflatten": unflattenShape,
		"transpose": transposeShape("dim0", "dim1"),
		"swapaxes":  transposeShape("axis0", "axis1"), "t": reverseShape, "numpy_T": reverseShape,
		"permute": permuteShape, "movedim": movedimShape,
		"expand": expandShape, "repeat": repeatShape, "tile": repeatShape, "repeat_interleave": interleaveShape,
		"squeeze": squeezeShape, "unsqueeze": unsqueezeShape, "select": selectShape, "slice": sliceShape,
		"narrow": narrowShape, "diff": diffShape,
		"index_select": indexSelectShape, "index": indexShape,
		"gather": func(s *shaper) [][]int { return one(s.shape("index")) },
		"pad":    padShape, "constant_pad_nd": padShape, "reflection_pad1d": padShape, "reflection_pad2d": padShape,
		"replication_pad1d": padShape, "replication_pad2d": padShape,
		"arange": arangeShape, "one_hot": func(s *shaper) [][]int {
			return one(append(slices.Clone(s.first()), s.int("num_classes", -1)))
		},
		"dot": dotShape, "mv": mvShape, "bilinear": bilinearShape,
		"cdist": cdistShape, "cosine_similarity": cosineShape,
		"einsum": einsumShape, "diagonal": diagonalShape, "unfold": unfoldShape, "topk": topkShape,
		"linspace": linspaceShape, "meshgrid": meshgridShape, "_weight_norm": weightNormShape,
		"grid_sampler": gridShape,
		"im2col":       im2colShape, "col2im": col2imShape,
		"pixel_shuffle": pixelShape, "pixel_unshuffle": pixelShape,
	}
	add := func(rule shapeRule, names string) {
		for name := range strings.FieldsSeq(names) {
			rules[name] = rule
		}
	}
	add(channelsShape, `batch_norm instance_norm group_norm`)
	add(normedShape, `layer_norm rms_norm`)
	add(sameShape, `dropout feature_dropout relu relu6 hardtanh
		leaky_relu elu selu celu gelu silu mish hardswish hardsigmoid sigmoid tanh softplus log_sigmoid
		hardshrink softshrink threshold softmax log_softmax neg abs exp log sqrt rsqrt reciprocal square sin cos tan
		atan sinh cosh erf log1p log2 expm1 exp2 ceil round trunc nan_to_num floor sign
		detach bitwise_not logical_not isnan tril triu cumsum contiguous clone alias flip roll slice_scatter
		select_scatter index_put zeros_like ones_like full_like to _to_copy type_as channel_shuffle`)
	add(broadcastShape, `add sub mul div rsub pow maximum minimum remainder fmod addcmul addcdiv lerp
		clamp clamp_min clamp_max eq ne lt le gt ge logical_and logical_or logical_xor
		bitwise_and bitwise_or bitwise_xor where masked_fill`)
	add(reducedShape, `mean sum amax amin argmax argmin logsumexp var std prod all any linalg_vector_norm norm`)
	add(extremeShape, `max min`)
	add(otherShape, `view_as reshape_as`)
	rules["prelu"] = func(s *shaper) [][]int {
		in, weight := s.first(), s.shape("weight")
		if count := product(weight); count != 1 && (len(in) < 2 || count != in[1]) {
			s.fail("got %d slopes for an input of shape %v, expected one, or one per channel", count, in)
		}
		return one(in)
	}
	rules["expand_as"] = func(s *shaper) [][]int {
		s.checkExpands("the input", s.first(), s.shape("other"))
		return one(s.shape("other"))
	}
	add(sizedShape, `zeros ones full new_zeros new_ones new_full`)
	add(convShape, `conv1d conv2d conv3d`)
	add(transposedShape, `conv_transpose1d conv_transpose2d conv_transpose3d`)
	add(poolShape, `max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d`)
	add(adaptiveShape, `adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
		adaptive_max_pool2d`)
	add(upsampleShape, `upsample_nearest1d upsample_linear1d upsample_nearest2d upsample_bilinear2d `+
		`upsample_bicubic2d upsample_nearest3d upsample_trilinear3d _upsample_nearest_exact1d `+
		`_upsample_nearest_exact2d _upsample_nearest_exact3d`)
	add(func(s *shaper) [][]int {
		shape := s.first()
		dim := s.dim("dim", -1, len(shape))
		if shape[dim]%2 != 0 {
			s.fail("dimension %d has the odd size %d", dim, shape[dim])
		}
		return one(with(shape, dim, shape[dim]/2))
	}, `glu`)
	return rules
}()

func one(shape []int) [][]int { return [][]int{shape} }

func sameShape(s *shaper) [][]int { return one(s.first()) }

func otherShape(s *shaper) [][]int {
	other := s.shape("other")
	if product(s.first()) != product(other) {
		s.fail("%d values do not fit the shape %v", product(s.first()), other)
	}
	return one(other)
}

// channelsShape checks that a norm has a value per channel, or divides the channels into groups.
func channelsShape(s *shaper) [][]int {
	in := s.first()
	if len(in) < 2 {
		s.fail("got an input of shape %v, expected at least 2 dimensions", in)
		return nil
	}
	for _, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		if shape := s.shape(name); shape != nil && !slices.Equal(shape, in[1:2]) {
			s.fail("got %d channels, but %s has the shape %v", in[1], name, shape)
		}
	}
	if groups := s.int("num_groups", 1); in[1]%groups != 0 {
		s.fail("the %d channels cannot be divided into %d groups", in[1], groups)
	}
	return one(in)
}

// normedShape checks the last dimensions, over which a norm computes.
func normedShape(s *shaper) [][]int {
	in, over := s.first(), s.ints("normalized_shape")
	if len(over) == 0 || len(over) > len(in) || !slices.Equal(in[len(in)-len(over):], over) {
		s.fail("got an input of shape %v, expected last dimensions %v", in, over)
	}
	for _, name := range []string{"weight", "bias"} {
		if shape := s.shape(name); shape != nil && !slices.Equal(shape, over) {
			s.fail("%s has the shape %v, expected %v", name, shape, over)
		}
	}
	return one(in)
}

func sizedShape(s *shaper) [][]int { return one(s.ints("size")) }

func broadcastShape(s *shaper) [][]int {
	var shapes [][]int
	for _, a := range s.n.Args {
		switch a.Value.(type) {
		case Value, Weight:
			shapes = append(shapes, s.shapeOf(a.Value))
		}
	}
	return one(s.broadcast(shapes...))
}

func linearShape(s *shaper) [][]int {
	in, weight := s.shape("input"), s.shape("weight")
	if in[len(in)-1] != weight[len(weight)-1] {
		s.fail("got %d features, expected %d", in[len(in)-1], weight[len(weight)-1])
	}
	out := slices.Clone(in[:len(in)-1])
	if len(weight) > 1 {
		out = append(out, weight[0])
	}
	s.checkExpands("the bias", s.shape("bias"), out)
	return one(out)
}

// checkExpands returns an error if a shape cannot be expanded to another one.
func (s *shaper) checkExpands(what string, from, to []int) {
	for k := range from {
		at := len(to) - len(from) + k
		if at < 0 || from[k] != 1 && from[k] != to[at] {
			s.fail("%s of shape %v cannot be expanded to %v", what, from, to)
			return
		}
	}
}

// productShape infers shapes for products of matrices, or of batches of matrices, that must not be broadcast. A third
// tensor may be added.
func productShape(dims int, a, b string) shapeRule {
	return func(s *shaper) [][]int {
		left, right := s.shape(a), s.shape(b)
		if len(left) != dims || len(right) != dims || dims == 3 && left[0] != right[0] {
			s.fail("cannot multiply shapes %v and %v; expected %d dimensions and equal batches", left, right, dims)
			return nil
		}
		out := s.matmul(left, right)
		if a != "self" {
			s.checkExpands("the summand", s.shape("self"), out)
		}
		return one(out)
	}
}

func matmulShape(s *shaper) [][]int {
	return one(s.matmul(s.first(), s.shape("other")))
}

func (s *shaper) matmul(a, b []int) []int {
	left, right := len(a) == 1, len(b) == 1
	if left {
		a = []int{1, a[0]}
	}
	if right {
		b = []int{b[0], 1}
	}
	rows, inner, columns := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	if inner != b[len(b)-2] {
		s.fail("cannot multiply shapes %v and %v", a, b)
	}
	out := s.broadcast(a[:len(a)-2], b[:len(b)-2])
	if !left {
		out = append(out, rows)
	}
	if !right {
		out = append(out, columns)
	}
	return out
}

func embeddingShape(s *shaper) [][]int {
	weight := s.shape("weight")
	return one(append(slices.Clone(s.shape("indices")), weight[1]))
}

func attentionShape(s *shaper) [][]int {
	q, k, v := s.shape("query"), slices.Clone(s.shape("key")), slices.Clone(s.shape("value"))
	n := len(q)
	if n < 2 || len(k) != n || len(v) != n || q[n-1] != k[n-1] || k[n-2] != v[n-2] {
		s.fail("the shapes of queries %v, keys %v and values %v do not fit", q, k, v)
		return nil
	}
	if s.truth("enable_gqa") && n > 2 { // each head of the keys serves several heads of the queries
		if k[n-3] < 1 || v[n-3] < 1 || q[n-3]%k[n-3] != 0 || q[n-3]%v[n-3] != 0 {
			s.fail("the %d heads of the queries are no multiple of %d heads", q[n-3], k[n-3])
		}
		k[n-3], v[n-3] = q[n-3], q[n-3]
	}
	return one(append(s.broadcast(q[:n-2], k[:n-2], v[:n-2]), q[n-2], v[n-1]))
}

// lstmGates is the number of gates of an LSTM, whose weights are stacked.
const lstmGates = 4

// recurrentShape infers shapes for LSTM, GRU and RNN: outputs and final states.
func recurrentShape(states int) shapeRule {
	return func(s *shaper) [][]int {
		in, params := s.first(), s.list("params")
		layers, ways := s.int("num_layers", 1), 1
		if s.truth("bidirectional") {
			ways = 2
		}
		hidden := params[1][1] // of the outputs; a projection makes it smaller than the cell state
		batch := in[1]
		if s.truth("batch_first") {
			batch = in[0]
		}
		if in[2] != params[0][1] {
			s.fail("got %d features, expected %d", in[2], params[0][1])
		}
		results := one(with(in, 2, hidden*ways))
		for range states {
			results = append(results, []int{layers * ways, batch, hidden})
		}
		if states == 2 {
			results[2][2] = params[0][0] / lstmGates
		}
		return results
	}
}

// catShape ignores parts of shape [0], as PyTorch does.
func catShape(s *shaper) [][]int {
	all := s.list("tensors")
	parts := slices.DeleteFunc(slices.Clone(all), func(p []int) bool { return len(p) == 1 && p[0] == 0 })
	if len(parts) == 0 {
		return all[:min(len(all), 1)]
	}
	dim := s.dim("dim", 0, len(parts[0]))
	size := 0
	for _, p := range parts {
		if len(p) != len(parts[0]) || !slices.Equal(with(p, dim, 0), with(parts[0], dim, 0)) {
			s.fail("cannot concatenate the shapes %v along dimension %d", parts, dim)
			return nil
		}
		size += p[dim]
	}
	return one(with(parts[0], dim, size))
}

func stackShape(s *shaper) [][]int {
	parts := s.list("tensors")
	for _, p := range parts {
		if !slices.Equal(p, parts[0]) {
			s.fail("cannot stack the shapes %v; they must be equal", parts)
		}
	}
	return one(slices.Insert(slices.Clone(parts[0]), s.dim("dim", 0, len(parts[0])+1), len(parts)))
}

// chunkShape cuts into chunks of equal size; the last one may be smaller.
func chunkShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	chunks := s.int("chunks", 1)
	if chunks < 1 {
		s.fail("the number of chunks is %d; expected at least 1", chunks)
		return nil
	}
	return s.cuts(shape, dim, (shape[dim]+chunks-1)/chunks)
}

// mostParts limits the results of an operator that divides a tensor.
const mostParts = 1 << 16

func (s *shaper) cuts(shape []int, dim, size int) (parts [][]int) {
	if size < min(1, shape[dim]) || size > 0 && shape[dim]/size >= mostParts {
		s.fail("the part size is %d for a dimension of size %d; expected a part size of at least 1 that gives at most "+
			"%d parts", size, shape[dim], mostParts)
		return nil
	}
	if size == 0 { // an empty dimension
		return one(shape)
	}
	for from := 0; from < shape[dim] || from == 0; from += size {
		parts = append(parts, with(shape, dim, min(size, shape[dim]-from)))
	}
	return parts
}

func splitShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	for _, name := range []string{"split_size", "split_sizes"} {
		switch v := s.n.Arg(name).(type) {
		case []any:
			var parts [][]int
			sum := 0
			for _, size := range v {
				parts = append(parts, with(shape, dim, s.whole(size)))
				sum += s.whole(size)
			}
			if sum != shape[dim] {
				s.fail("the sizes %v have the sum %d, expected %d", v, sum, shape[dim])
			}
			return parts
		case nil:
		default:
			return s.cuts(shape, dim, s.whole(v))
		}
	}
	s.fail("the argument split_size or split_sizes is missing")
	return nil
}

func unbindShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	if shape[dim] > mostParts {
		s.fail("the operator returns %d tensors; expected at most %d", shape[dim], mostParts)
		return nil
	}
	return slices.Repeat(one(slices.Delete(slices.Clone(shape), dim, dim+1)), shape[dim])
}

// viewShape replaces a size of -1 by the remaining size.
func viewShape(s *shaper) [][]int {
	sizes := s.ints("size")
	if sizes == nil {
		sizes = s.ints("shape")
	}
	return one(s.fill(sizes, product(s.first())))
}

func (s *shaper) fill(sizes []int, count int) []int {
	out, open, known := slices.Clone(sizes), -1, 1
	for k, size := range sizes {
		if size == -1 {
			if open >= 0 {
				s.fail("the shape %v has two open sizes; expected at most one", sizes)
			}
			open = k
		} else {
			known *= size
		}
	}
	if open >= 0 && known > 0 {
		out[open] = count / known
	}
	if product(out) != count {
		s.fail("%d values do not fit the shape %v", count, sizes)
	}
	return out
}

func flattenShape(s *shaper) [][]int {
	shape := s.first()
	if len(shape) == 0 {
		return one([]int{1})
	}
	from, to := s.dim("start_dim", 0, len(shape)), s.dim("end_dim", -1, len(shape))
	if from > to {
		s.fail("start_dim is %d, expected at most end_dim, which is %d", from, to)
		return nil
	}
	return one(slices.Concat(shape[:from], []int{product(shape[from : to+1])}, shape[to+1:]))
}

func unflattenShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	return one(slices.Concat(shape[:dim], s.fill(s.ints("sizes"), shape[dim]), shape[dim+1:]))
}

func transposeShape(a, b string) shapeRule {
	return func(s *shaper) [][]int {
		shape := slices.Clone(s.first())
		from, to := s.dim(a, 0, len(shape)), s.dim(b, 1, len(shape))
		shape[from], shape[to] = shape[to], shape[from]
		return one(shape)
	}
}

func reverseShape(s *shaper) [][]int {
	shape := slices.Clone(s.first())
	slices.Reverse(shape)
	return one(shape)
}

func permuteShape(s *shaper) [][]int {
	shape, dims := s.first(), s.ints("dims")
	var out []int
	seen := map[int]bool{}
	for _, d := range dims {
		at, ok := wrap(d, len(shape))
		if !ok {
			s.fail("the tensor has no dimension %d", d)
			return nil
		}
		seen[at] = true
		out = append(out, shape[at])
	}
	if len(dims) != len(shape) || len(seen) != len(shape) {
		s.fail("dims are %v, expected each of %d dimensions once", dims, len(shape))
	}
	return one(out)
}

func movedimShape(s *shaper) [][]int {
	shape := s.first()
	from, to := s.dim("source", 0, len(shape)), s.dim("destination", 0, len(shape))
	rest := slices.Delete(slices.Clone(shape), from, from+1)
	return one(slices.Insert(rest, to, shape[from]))
}

func expandShape(s *shaper) [][]int {
	shape, sizes := s.first(), slices.Clone(s.ints("size"))
	for k := range sizes {
		if at := k - len(sizes) + len(shape); sizes[k] == -1 && at >= 0 {
			sizes[k] = shape[at]
		}
	}
	s.checkExpands("the input", shape, sizes)
	return one(sizes)
}

func repeatShape(s *shaper) [][]int {
	shape, times := s.first(), s.ints("repeats")
	if times == nil {
		times = s.ints("dims")
	}
	if len(times) < len(shape) && strings.HasPrefix(s.n.Operator, "repeat") {
		s.fail("repeats are %v, expected a number for each of %d dimensions", times, len(shape))
	}
	for len(times) < len(shape) { // tile may have fewer
		times = append([]int{1}, times...)
	}
	out := slices.Clone(times)
	for k, size := range shape {
		out[len(times)-len(shape)+k] *= size
	}
	return one(out)
}

func interleaveShape(s *shaper) [][]int {
	shape := s.first()
	if s.n.Arg("dim") == nil {
		return one([]int{product(shape) * s.int("repeats", 1)})
	}
	dim := s.dim("dim", 0, len(shape))
	return one(with(shape, dim, shape[dim]*s.int("repeats", 1)))
}

func squeezeShape(s *shaper) [][]int {
	shape := s.first()
	if s.n.Arg("dim") == nil {
		return one(slices.DeleteFunc(slices.Clone(shape), func(size int) bool { return size == 1 }))
	}
	dim := s.dim("dim", 0, max(len(shape), 1))
	if len(shape) == 0 || shape[dim] != 1 {
		return one(shape)
	}
	return one(slices.Delete(slices.Clone(shape), dim, dim+1))
}

func unsqueezeShape(s *shaper) [][]int {
	shape := s.first()
	return one(slices.Insert(slices.Clone(shape), s.dim("dim", 0, len(shape)+1), 1))
}

func selectShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	if index := s.int("index", 0); s.err == nil && (index >= shape[dim] || index < -shape[dim]) {
		s.fail("index %d is out of range for dimension %d of size %d", index, dim, shape[dim])
	}
	return one(slices.Delete(slices.Clone(shape), dim, dim+1))
}

func sliceShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	bound := func(name string, missing int) int {
		at := s.int(name, missing)
		if at < 0 {
			at += shape[dim]
		}
		return min(max(at, 0), shape[dim])
	}
	from, to, step := bound("start", 0), bound("end", shape[dim]), s.int("step", 1)
	return one(with(shape, dim, max(0, (to-from+step-1)/step)))
}

func narrowShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", 0, len(shape))
	start, length := s.int("start", 0), s.int("length", 0)
	if start < 0 {
		start += shape[dim]
	}
	if start < 0 || length < 0 || start+length > shape[dim] {
		s.fail("got %d values from index %d of dimension %d, which has size %d", length, start, dim, shape[dim])
	}
	return one(with(shape, dim, length))
}

func diffShape(s *shaper) [][]int {
	shape := s.first()
	dim := s.dim("dim", -1, len(shape))
	size := shape[dim] - s.int("n", 1)
	for _, name := range []string{"prepend", "append"} {
		if s.n.Arg(name) != nil {
			size += s.shape(name)[dim]
		}
	}
	return one(with(shape, dim, max(size, 0)))
}

func indexSelectShape(s *shaper) [][]int {
	shape := s.first()
	return one(with(shape, s.dim("dim", 0, len(shape)), product(s.shape("index"))))
}

// indexShape infers shapes for index.Tensor if each index has whole numbers, not booleans.
func indexShape(s *shaper) [][]int {
	shape := s.first()
	items, _ := s.n.Arg("indices").([]any)
	var picked [][]int
	var rest []int
	first, apart, last := -1, false, -1
	for k, item := range items {
		if item == nil {
			rest = append(rest, shape[k])
			continue
		}
		if first < 0 {
			first = k
		} else if k != last+1 {
			apart = true
		}
		last = k
		picked = append(picked, s.shapeOf(item))
	}
	rest = append(rest, shape[len(items):]...)
	at := max(first, 0)
	if apart {
		at = 0
	}
	return one(slices.Insert(rest, at, s.broadcast(picked...)...))
}

// arangeShape counts the numbers from start to end. Whole numbers are counted if the result has whole numbers.
func arangeShape(s *shaper) [][]int {
	number := func(name string, missing float64) float64 {
		arg := s.n.Arg(name)
		if arg == nil {
			return missing
		}
		if s.n.Arg("dtype") == any(weights.Int64) {
			return math.Trunc(s.real(arg))
		}
		return s.real(arg)
	}
	from, to, step := number("start", 0), number("end", 0), number("step", 1)
	count := math.Ceil((to - from) / step)
	if !(count >= 0 && count <= mostValues) {
		s.fail("no range from %v to %v in steps of %v; the step must have the sign of the difference", from, to, step)
		return nil
	}
	return one([]int{int(count)})
}

func reducedShape(s *shaper) [][]int {
	shape := s.first()
	dims := s.ints("dim")
	keep := s.truth("keepdim")
	if len(dims) == 0 {
		if keep {
			return one(slices.Repeat([]int{1}, len(shape)))
		}
		return one([]int{})
	}
	gone := map[int]bool{}
	for _, d := range dims {
		at, ok := wrap(d, len(shape))
		if !ok {
			s.fail("the tensor has no dimension %d", d)
		}
		gone[at] = true
	}
	out := []int{}
	for k, size := range shape {
		switch {
		case !gone[k]:
			out = append(out, size)
		case keep:
			out = append(out, 1)
		}
	}
	return one(out)
}

// extremeShape infers shapes for max and min, which with a dimension also return indices.
func extremeShape(s *shaper) [][]int {
	if s.n.Arg("other") != nil {
		return broadcastShape(s)
	}
	return slices.Repeat(reducedShape(s), max(len(s.n.Results), 1))
}
