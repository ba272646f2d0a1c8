package reader

import (
	"fmt"
	"math"
	"slices"

	"graft/model/graph"
	"graft/torch/weights"
)

// sizesDone gives the first output a list of sizes.
func (c *call) sizesDone(list []any, one bool) error {
	c.values[c.node.out[0]] = operand{sizes: list, one: one, given: true, name: c.node.out[0]}
	return nil
}

// computed reports whether an operand is a list of sizes that is computed, and no tensor.
func (o operand) computed() bool { return o.ref == nil && o.sizes != nil }

// known returns the numbers of an operand whose sizes are all known.
func (o operand) known() ([]int64, bool) {
	list := make([]int64, len(o.sizes))
	for k, v := range o.sizes {
		n, ok := v.(int64)
		if !ok {
			return nil, false
		}
		list[k] = n
	}
	return list, o.sizes != nil
}

// axes returns the axes, given as an input, or as an attribute in older operator sets.
func (c *call) axes(input int) ([]int64, bool) {
	if o := c.operand(input); o.given {
		return o.known()
	}
	list := c.list("axes")
	return list, list != nil
}

func concat(c *call) error {
	if slices.ContainsFunc(c.operands, func(o operand) bool { return o.computed() }) {
		var list []any
		for _, o := range c.operands {
			if o.sizes == nil {
				return fmt.Errorf("concatenating sizes and tensors is not supported")
			}
			list = append(list, o.sizes...)
		}
		return c.sizesDone(list, false)
	}
	parts, err := c.parts()
	if err != nil {
		return err
	}
	return c.done("cat.default", graph.Arg{Name: "tensors", Value: parts},
		graph.Arg{Name: "dim", Value: c.whole("axis", 0)})
}

// parts returns all inputs, which must be tensors.
func (c *call) parts() (list []any, err error) {
	for k := range c.operands {
		o, err := c.need(k)
		if err != nil {
			return nil, err
		}
		list = append(list, c.read(o))
	}
	return list, nil
}

func split(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	args := []graph.Arg{c.arg("self", x)}
	operator := "split_with_sizes.default"
	if o := c.operand(1); o.given {
		args = append(args, graph.Arg{Name: "split_sizes", Value: o.sizes})
	} else {
		operator = "chunk.default"
		args = append(args, graph.Arg{Name: "chunks", Value: int64(len(c.node.out))})
	}
	for k, v := range c.emitAll(operator, c.node.out,
		append(args, graph.Arg{Name: "dim", Value: c.whole("axis", 0)})...) {
		if name := c.node.out[k]; name != "" {
			c.set(name, v)
		}
	}
	return nil
}

// reshape copies a size if the shape has a zero there.
func reshape(c *call) error {
	x, to := c.operand(0), c.operand(1)
	if to.sizes == nil {
		return fmt.Errorf("the shape is not a list of sizes that graft can evaluate")
	}
	if x.computed() {
		return c.reshapeSizes(x, to)
	}
	list := slices.Clone(to.sizes)
	for k, v := range list {
		if v == int64(0) && c.whole("allowzero", 0) == 0 {
			list[k] = c.emit("sym_size.int", c.node.out[0]+"_size", c.arg("self", x),
				graph.Arg{Name: "dim", Value: int64(k)})
		}
	}
	return c.done("reshape.default", c.arg("self", x), graph.Arg{Name: "shape", Value: list})
}

// reshapeSizes makes a number, a list or a matrix of sizes.
func (c *call) reshapeSizes(x, to operand) error {
	shape, known := to.known()
	wide := 0
	if known && len(shape) == 2 {
		if wide = int(shape[1]); wide < 1 || len(x.sizes)%wide != 0 {
			return fmt.Errorf("cannot arrange %d sizes as a matrix of shape %v", len(x.sizes), shape)
		}
	}
	err := c.sizesDone(x.sizes, len(to.sizes) == 0)
	o := c.values[c.node.out[0]]
	o.wide = wide
	c.values[c.node.out[0]] = o
	return err
}

func flatten(c *call) error {
	x, err := c.need(0)
	if err != nil || c.whole("axis", 1) != 1 {
		return orElse(err, "unsupported flattening at axis %d; graft supports axis 1", c.whole("axis", 1))
	}
	return c.done("flatten.using_ints", c.arg("self", x), graph.Arg{Name: "start_dim", Value: int64(1)})
}

// transpose exchanges dimensions, also of a matrix of sizes: exporters turn lists of pads so.
func transpose(c *call) error {
	if m := c.operand(0); m.computed() && m.wide > 0 {
		if perm := c.list("perm"); perm != nil && !slices.Equal(perm, []int64{1, 0}) {
			return fmt.Errorf("unsupported order %v of a matrix of sizes; expected [1 0]", perm)
		}
		var turned []any
		for column := range m.wide {
			for k := column; k < len(m.sizes); k += m.wide {
				turned = append(turned, m.sizes[k])
			}
		}
		c.values[c.node.out[0]] = operand{sizes: turned, wide: len(m.sizes) / m.wide, given: true, name: c.node.out[0]}
		return nil
	}
	x, err := c.need(0)
	order := c.list("perm")
	if err != nil || order == nil {
		return orElse(err, "the transposition has no order")
	}
	return c.done("permute.default", c.arg("self", x), graph.Arg{Name: "dims", Value: anys(order)})
}

func squeeze(c *call) error {
	x := c.operand(0)
	if x.computed() {
		return c.sizesDone(x.sizes, true)
	}
	axes, ok := c.axes(1)
	if !ok || x.ref == nil {
		return fmt.Errorf("the dimensions to remove must be constants")
	}
	axes = slices.Clone(axes)
	if len(axes) > 1 && slices.Min(axes) < 0 {
		rank, err := c.rank(x)
		if err != nil {
			return err
		}
		for k, axis := range axes {
			if axis < 0 {
				axes[k] += int64(rank)
			}
		}
	}
	slices.Sort(axes)
	slices.Reverse(axes) // from the back, so the others keep their indices
	return c.chain(x, "squeeze.dim", axes)
}

func unsqueeze(c *call) error {
	x := c.operand(0)
	if x.computed() {
		return c.sizesDone(x.sizes, false)
	}
	axes, ok := c.axes(1)
	if !ok || x.ref == nil || len(axes) > 1 && slices.Min(axes) < 0 {
		return fmt.Errorf("the positions of inserted dimensions must be constants; if there are several, none " +
			"may be negative")
	}
	slices.Sort(axes)
	return c.chain(x, "unsqueeze.default", axes)
}

// chain applies an operator for each dimension.
func (c *call) chain(x operand, operator string, dims []int64) error {
	value := c.read(x)
	for _, d := range dims {
		value = c.emit(operator, c.node.out[0], graph.Arg{Name: "self", Value: value}, graph.Arg{Name: "dim", Value: d})
	}
	c.values[c.node.out[0]] = operand{ref: value, given: true, name: c.node.out[0]}
	return nil
}

// slice takes ranges of dimensions, or of a list of sizes.
func slice(c *call) error {
	x, starts, ends := c.operand(0), c.operand(1), c.operand(2)
	if x.computed() {
		return sliceSizes(c, x, starts, ends)
	}
	axes, ok := c.operand(3).known()
	if !c.operand(3).given {
		for k := range starts.sizes {
			axes, ok = append(axes, int64(k)), true
		}
	}
	steps, stepped := c.operand(4).known()
	if !ok || x.ref == nil || len(starts.sizes) != len(axes) || len(ends.sizes) != len(axes) ||
		c.operand(4).given && (!stepped || len(steps) != len(axes)) {
		return fmt.Errorf("the axes and steps of a slice must be constants, with one start and one end for each axis")
	}
	value := c.read(x)
	for k, axis := range axes {
		if stepped && steps[k] < 0 {
			var err error
			if value, err = c.backwards(value, starts.sizes[k], ends.sizes[k], axis, steps[k]); err != nil {
				return err
			}
			continue
		}
		args := []graph.Arg{{Name: "self", Value: value}, {Name: "dim", Value: axis},
			{Name: "start", Value: starts.sizes[k]}, {Name: "end", Value: ends.sizes[k]}}
		if stepped && steps[k] != 1 {
			args = append(args, graph.Arg{Name: "step", Value: steps[k]})
		}
		value = c.emit("slice.Tensor", c.node.out[0], args...)
	}
	c.values[c.node.out[0]] = operand{ref: value, given: true, name: c.node.out[0]}
	return nil
}

func sliceSizes(c *call, x, starts, ends operand) error {
	if x.wide > 0 {
		return reverseRows(c, x, starts, ends)
	}
	from, ok := starts.known()
	to, also := ends.known()
	if !ok || !also || len(from) != 1 || len(to) != 1 || c.operand(4).given {
		return fmt.Errorf("a slice of a list of sizes must have a constant start, a constant end and no steps")
	}
	n := int64(len(x.sizes))
	place := func(at int64) int64 {
		if at < 0 {
			at = max(at, -n) + n
		}
		return min(at, n)
	}
	start, end := place(from[0]), place(to[0])
	return c.sizesDone(x.sizes[start:max(start, end)], false)
}

// reverseRows reverses the rows of a matrix of sizes.
func reverseRows(c *call, x, starts, ends operand) error {
	from, ok := starts.known()
	to, also := ends.known()
	axes, known := c.operand(3).known()
	steps, stepped := c.operand(4).known()
	whole := ok && also && slices.Equal(from, []int64{-1}) && len(to) == 1 && to[0] <= math.MinInt32
	if !whole || !known || !stepped || !slices.Equal(axes, []int64{0}) || !slices.Equal(steps, []int64{-1}) {
		return fmt.Errorf("unsupported slice of a matrix of sizes; expected all rows in reverse")
	}
	var turned []any
	for k := len(x.sizes) - x.wide; k >= 0; k -= x.wide {
		turned = append(turned, x.sizes[k:k+x.wide]...)
	}
	c.values[c.node.out[0]] = operand{sizes: turned, wide: x.wide, given: true, name: c.node.out[0]}
	return nil
}

// gather looks up rows, or takes one place of a dimension.
func gather(c *call) error {
	x, index := c.operand(0), c.operand(1)
	axis := c.whole("axis", 0)
	at, constant := index.known()
	if x.computed() {
		if !constant || len(at) != 1 || at[0] >= int64(len(x.sizes)) || at[0] < -int64(len(x.sizes)) {
			return fmt.Errorf("the index into a list of sizes must be a single constant within the list")
		}
		return c.sizesDone([]any{x.sizes[(at[0]+int64(len(x.sizes)))%int64(len(x.sizes))]}, index.one)
	}
	if x.ref == nil || index.ref == nil && !constant {
		return fmt.Errorf("an operand is missing")
	}
	if constant && index.one {
		return c.done("select.int", c.arg("self", x), graph.Arg{Name: "dim", Value: axis},
			graph.Arg{Name: "index", Value: at[0]})
	}
	if constant && len(at) > 0 && slices.Min(at) < 0 {
		return c.gatherBackwards(x, index, axis)
	}
	if rank, err := c.rank(x); err == nil && rank == 2 && axis == 0 {
		return c.done("embedding.default", c.arg("weight", x), c.arg("indices", index))
	}
	if rank, err := c.rank(index); err != nil || rank != 1 {
		return fmt.Errorf("multi-dimensional indices are supported only for rows of a matrix")
	}
	return c.done("index_select.default", c.arg("self", x), graph.Arg{Name: "dim", Value: axis}, c.arg("index", index))
}

// mostDims is the largest number of dimensions in LibTorch.
const mostDims = 64

// gatherBackwards looks up constant indices. Negative ones count from the end, which index_select and embedding refuse.
func (c *call) gatherBackwards(x, index operand, axis int64) error {
	if axis < 0 {
		rank, err := c.rank(x)
		if err != nil {
			return err
		}
		axis += int64(rank)
	}
	if axis < 0 || axis >= mostDims {
		return fmt.Errorf("the axis %d is not a dimension of the input; export the model again", axis)
	}
	return c.done("index.Tensor", c.arg("self", x),
		graph.Arg{Name: "indices", Value: append(make([]any, axis), c.read(index))})
}

// expand keeps the tensor's size if the shape has a one, as in ONNX.
func expand(c *call) error {
	x, err := c.need(0)
	to := c.operand(1)
	if err != nil || to.sizes == nil {
		return orElse(err, "the shape is not a list of sizes that graft can evaluate")
	}
	rank, err := c.rank(x)
	if err != nil || rank > len(to.sizes) {
		return orElse(err, "expanding a tensor from %d to %d dimensions is not supported", rank, len(to.sizes))
	}
	list := slices.Clone(to.sizes)
	for k, v := range list {
		if v == int64(1) && k >= len(list)-rank {
			list[k] = int64(-1)
		}
	}
	return c.done("expand.default", c.arg("self", x), graph.Arg{Name: "size", Value: list})
}

func tile(c *call) error {
	x, err := c.need(0)
	times := c.operand(1)
	if err != nil || times.sizes == nil {
		return orElse(err, "the repeats are not a list of numbers that graft can evaluate")
	}
	return c.done("repeat.default", c.arg("self", x), graph.Arg{Name: "repeats", Value: times.sizes})
}

// shape makes a list of sizes.
func shape(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	rank, err := c.rank(x)
	if err != nil {
		return err
	}
	n := int64(rank)
	place := func(at int64) int64 {
		if at < 0 {
			at += n
		}
		return min(max(at, 0), n)
	}
	var list []any
	for k := place(c.whole("start", 0)); k < place(c.whole("end", math.MaxInt64)); k++ {
		list = append(list, c.emit("sym_size.int", c.node.out[0], c.arg("self", x), graph.Arg{Name: "dim", Value: k}))
	}
	return c.sizesDone(append([]any{}, list...), false)
}

func identity(c *call) error {
	o := c.operand(0)
	if !o.given {
		return fmt.Errorf("the input is missing")
	}
	c.values[c.node.out[0]] = o
	return nil
}

func cast(c *call) error {
	x := c.operand(0)
	if x.computed() {
		return identity(c)
	}
	dtype := kinds[c.whole("to", 0)]
	if dtype == weights.Invalid || x.ref == nil {
		return fmt.Errorf("graft does not support ONNX type %d", c.whole("to", 0))
	}
	return c.done("to.dtype", c.arg("self", x), graph.Arg{Name: "dtype", Value: dtype})
}

func constant(c *call) error {
	a := c.attributes["value"]
	if a == nil || a.tensor == nil {
		return fmt.Errorf("the constant is not a tensor")
	}
	t := *a.tensor
	t.name = c.node.out[0]
	c.addInitializer(&t)
	return nil
}

func where(c *call) error {
	condition, err := c.need(0)
	if err != nil {
		return err
	}
	x, err := c.need(1)
	if err != nil {
		return err
	}
	y, err := c.need(2)
	if err != nil {
		return err
	}
	return c.done("where.self", c.arg("condition", condition), c.arg("self", x), c.arg("other", y))
}

func trilu(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	operator := "tril.default"
	if c.whole("upper", 1) != 0 {
		operator = "triu.default"
	}
	diagonal := int64(0)
	if o := c.operand(1); o.given {
		at, ok := o.known()
		if !ok || len(at) != 1 {
			return fmt.Errorf("the diagonal must be a single constant")
		}
		diagonal = at[0]
	}
	return c.done(operator, c.arg("self", x), graph.Arg{Name: "diagonal", Value: diagonal})
}

func arange(c *call) error {
	var args []graph.Arg
	for k, name := range []string{"start", "end", "step"} {
		o := c.operand(k)
		if len(o.sizes) != 1 {
			return fmt.Errorf("the start, end and step of a range must be integers")
		}
		args = append(args, graph.Arg{Name: name, Value: o.sizes[0]})
	}
	return c.done("arange.start_step", append(args, graph.Arg{Name: "dtype", Value: weights.Int64})...)
}
