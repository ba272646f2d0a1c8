package graph

import (
	"slices"
	"strings"
)

// shapeRules hold a rule for each operator, by its name without the overload.
var shapeRules = func() map[string]shapeRule {
	rules := map[string]shapeRule{
		"linear": linearShape, "matmul": matmulShape, "bmm": matmulShape, "mm": matmulShape,
		"embedding": embeddingShape,
		"addmm":     func(s *shaper) [][]int { return one(s.matmul(s.shape("mat1"), s.shape("mat2"))) },
		"baddbmm": func(s *shaper) [][]int {
			return one(s.matmul(s.shape("batch1"), s.shape("batch2")))
		},
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
		"pixel_shuffle": pixelShape, "pixel_unshuffle": pixelShape,
	}
	add := func(rule shapeRule, names string) {
		for name := range strings.FieldsSeq(names) {
			rules[name] = rule
		}
	}
	add(sameShape, `batch_norm layer_norm group_norm instance_norm rms_norm dropout feature_dropout relu relu6 hardtanh
		leaky_relu elu selu celu gelu silu mish hardswish hardsigmoid sigmoid tanh softplus log_sigmoid prelu
		hardshrink softshrink threshold softmax log_softmax neg abs exp log sqrt rsqrt reciprocal square sin cos tan
		atan sinh cosh erf log1p log2 expm1 exp2 ceil round trunc nan_to_num clamp clamp_min clamp_max floor sign
		detach bitwise_not logical_not isnan tril triu cumsum contiguous clone alias flip roll slice_scatter
		select_scatter index_put zeros_like ones_like full_like to _to_copy type_as channel_shuffle`)
	add(broadcastShape, `add sub mul div rsub pow maximum minimum remainder fmod addcmul addcdiv lerp eq ne lt le gt ge
		logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor where masked_fill`)
	add(reducedShape, `mean sum amax amin argmax argmin logsumexp var std prod all any linalg_vector_norm norm`)
	add(extremeShape, `max min`)
	add(otherShape, `expand_as view_as reshape_as`)
	add(sizedShape, `zeros ones full new_zeros new_ones new_full`)
	add(convShape, `conv1d conv2d conv3d`)
	add(transposedShape, `conv_transpose1d conv_transpose2d conv_transpose3d`)
	add(poolShape, `max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d`)
	add(adaptiveShape, `adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d`)
	add(upsampleShape, `upsample_nearest1d upsample_linear1d upsample_nearest2d upsample_bilinear2d `+
		`upsample_bicubic2d upsample_nearest3d upsample_trilinear3d`)
	add(func(s *shaper) [][]int {
		shape := s.first()
		dim := s.dim("dim", -1, len(shape))
		return one(with(shape, dim, shape[dim]/2))
	}, `glu`)
	return rules
}()

func one(shape []int) [][]int { return [][]int{shape} }

func sameShape(s *shaper) [][]int { return one(s.first()) }

func otherShape(s *shaper) [][]int { return one(s.shape("other")) }

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
	return one(with(in, len(in)-1, weight[0]))
}

func matmulShape(s *shaper) [][]int {
	other := s.shape("other")
	if other == nil {
		other = s.shape("mat2")
	}
	return one(s.matmul(s.first(), other))
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
	q, v := s.shape("query"), s.shape("value")
	return one(with(q, len(q)-1, v[len(v)-1]))
}

// recurrentShape infers shapes for LSTM, GRU and RNN: outputs and final states.
func recurrentShape(states int) shapeRule {
	return func(s *shaper) [][]int {
		in, params := s.first(), s.list("params")
		layers, ways := s.int("num_layers", 1), 1
		if s.truth("bidirectional") {
			ways = 2
		}
		hidden := params[1][1]
		batch := in[1]
		if s.truth("batch_first") {
			batch = in[0]
		}
		results := one(with(in, 2, hidden*ways))
		for range states {
			results = append(results, []int{layers * ways, batch, hidden})
		}
		return results
	}
}

func catShape(s *shaper) [][]int {
	parts := slices.DeleteFunc(s.list("tensors"), func(p []int) bool { return len(p) == 1 && p[0] == 0 })
	dim := s.dim("dim", 0, len(parts[0]))
	size := 0
	for _, p := range parts {
		size += p[dim]
	}
	return one(with(parts[0], dim, size))
}

func stackShape(s *shaper) [][]int {
	parts := s.list("tensors")
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
			for _, size := range v {
				parts = append(parts, with(shape, dim, s.whole(size)))
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
	shape := s.first()
	var out []int
	for _, d := range s.ints("dims") {
		at, ok := wrap(d, len(shape))
		if !ok {
			s.fail("the tensor has no dimension %d", d)
			return nil
		}
		out = append(out, shape[at])
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
	return one(sizes)
}

func repeatShape(s *shaper) [][]int {
	shape, times := s.first(), s.ints("repeats")
	if times == nil {
		times = s.ints("dims")
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
	return one(with(shape, s.dim("dim", 0, len(shape)), s.int("length", 0)))
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

func padShape(s *shaper) [][]int {
	shape := slices.Clone(s.first())
	pad := s.ints("pad")
	if pad == nil {
		pad = s.ints("padding")
	}
	for k := 0; k+1 < len(pad); k += 2 {
		shape[len(shape)-1-k/2] += pad[k] + pad[k+1]
	}
	return one(shape)
}

func arangeShape(s *shaper) [][]int {
	from, step := 0, max(s.int("step", 1), 1)
	if s.n.Arg("start") != nil {
		from = s.int("start", 0)
	}
	return one([]int{max(0, (s.int("end", 0)-from+step-1)/step)})
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

// each returns the number at an index of a list that may have one number for all dimensions.
func each(list []int, k, missing int) int {
	switch {
	case len(list) == 0:
		return missing
	case len(list) == 1:
		return list[0]
	}
	return list[k]
}

func convShape(s *shaper) [][]int {
	in, weight := s.first(), s.shape("weight")
	stride, dilation := s.ints("stride"), s.ints("dilation")
	var padding []int
	word, worded := s.n.Arg("padding").(string)
	if !worded {
		padding = s.ints("padding")
	}
	if channels := weight[1] * s.int("groups", 1); in[1] != channels {
		s.fail("got %d channels, expected %d", in[1], channels)
	}
	out := with(in, 1, weight[0])
	for k := range len(in) - 2 {
		if worded && word == "same" {
			continue
		}
		reach := each(dilation, k, 1)*(weight[2+k]-1) + 1
		out[2+k] = s.span(in[2+k], each(padding, k, 0), reach, 0)/each(stride, k, 1) + 1
	}
	return one(out)
}

// span returns the distance between the first and the last position of a kernel in a padded dimension. The last
// position may end beyond the padding by a number of values.
func (s *shaper) span(size, padding, reach, beyond int) int {
	if size+2*padding+beyond < reach {
		s.fail("the kernel covers %d values, more than the input of %d with a padding of %d; use a larger input", reach,
			size, padding)
		return 0
	}
	return size + 2*padding + beyond - reach
}

func transposedShape(s *shaper) [][]int {
	in, weight := s.first(), s.shape("weight")
	out := with(in, 1, weight[1]*s.int("groups", 1))
	for k := range len(in) - 2 {
		out[2+k] = (in[2+k]-1)*each(s.ints("stride"), k, 1) - 2*each(s.ints("padding"), k, 0) +
			each(s.ints("dilation"), k, 1)*(weight[2+k]-1) + each(s.ints("output_padding"), k, 0) + 1
	}
	return one(out)
}

func poolShape(s *shaper) [][]int {
	in := s.first()
	kernel, stride, padding := s.ints("kernel_size"), s.ints("stride"), s.ints("padding")
	if len(stride) == 0 {
		stride = kernel
	}
	op, _, _ := strings.Cut(s.n.Operator, ".")
	dims := int(op[len(op)-2] - '0')
	out := slices.Clone(in)
	for k := range dims {
		at := len(in) - dims + k
		size, pad, step := in[at], each(padding, k, 0), each(stride, k, 1)
		reach := each(s.ints("dilation"), k, 1)*(each(kernel, k, 1)-1) + 1
		beyond := 0
		if s.truth("ceil_mode") {
			beyond = step - 1
		}
		out[at] = s.span(size, pad, reach, beyond)/step + 1
		if beyond > 0 && (out[at]-1)*step >= size+pad { // the last window must begin inside
			out[at]--
		}
	}
	return one(out)
}

func adaptiveShape(s *shaper) [][]int {
	in, sizes := s.first(), s.ints("output_size")
	return one(slices.Concat(in[:len(in)-len(sizes)], sizes))
}

func upsampleShape(s *shaper) [][]int {
	in := s.first()
	if sizes := s.ints("output_size"); sizes != nil {
		return one(slices.Concat(in[:2], sizes))
	}
	out := slices.Clone(in)
	factors, _ := s.n.Arg("scale_factors").([]any)
	for k, f := range factors {
		factor, _ := f.(float64)
		out[2+k] = int(float64(in[2+k]) * factor)
	}
	return one(out)
}

func pixelShape(s *shaper) [][]int {
	out := slices.Clone(s.first())
	c, h, w := len(out)-3, len(out)-2, len(out)-1
	if r := s.int("upscale_factor", 0); r > 0 {
		out[c], out[h], out[w] = out[c]/(r*r), out[h]*r, out[w]*r
	} else {
		r := s.int("downscale_factor", 1)
		out[c], out[h], out[w] = out[c]*r*r, out[h]/r, out[w]/r
	}
	return one(out)
}
