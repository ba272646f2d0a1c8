package graph

import "slices"

func diagonalShape(s *shaper) [][]int {
	shape := s.first()
	a, b := s.dim("dim1", 0, len(shape)), s.dim("dim2", 1, len(shape))
	if a == b {
		s.fail("dim1 and dim2 are both %d, expected two dimensions", a)
	}
	if s.err != nil {
		return nil
	}
	offset := s.int("offset", 0)
	size := max(0, min(shape[a]+min(offset, 0), shape[b]-max(offset, 0)))
	out := slices.Delete(slices.Clone(shape), max(a, b), max(a, b)+1)
	return one(append(slices.Delete(out, min(a, b), min(a, b)+1), size))
}

// unfoldShape infers shapes for windows of one dimension, which become the last dimension.
func unfoldShape(s *shaper) [][]int {
	shape := s.first()
	dim, size, step := s.dim("dimension", 0, len(shape)), s.int("size", 1), s.int("step", 1)
	if s.err == nil && (size < 0 || size > shape[dim] || step < 1) {
		s.fail("windows of %d values in steps of %d do not fit dimension %d of size %d", size, step, dim, shape[dim])
	}
	if s.err != nil {
		return nil
	}
	return one(append(with(shape, dim, (shape[dim]-size)/step+1), size))
}

func topkShape(s *shaper) [][]int {
	shape := s.first()
	dim, k := s.dim("dim", -1, len(shape)), s.int("k", 1)
	if s.err == nil && (k < 0 || k > shape[dim]) {
		s.fail("k is %d, but dimension %d has %d values", k, dim, shape[dim])
	}
	if s.err != nil {
		return nil
	}
	return slices.Repeat(one(with(shape, dim, k)), 2)
}

func linspaceShape(s *shaper) [][]int { return one([]int{s.int("steps", 0)}) }

// meshgridShape infers shapes for grids of vectors. The indexing "xy" exchanges the first two dimensions.
func meshgridShape(s *shaper) [][]int {
	vectors := s.list("tensors")
	var out []int
	for _, v := range vectors {
		if len(v) > 1 {
			s.fail("got a tensor of shape %v, expected vectors", v)
		}
		out = append(out, product(v))
	}
	if s.n.Arg("indexing") == any("xy") && len(out) > 1 {
		out[0], out[1] = out[1], out[0]
	}
	return slices.Repeat(one(out), len(vectors))
}

// weightNormShape infers shapes for weights whose rows have given norms.
func weightNormShape(s *shaper) [][]int {
	shape := s.shape("v")
	s.checkExpands("the norms g", s.shape("g"), shape)
	return one(shape)
}

// gridShape infers shapes for samples at the places of a grid.
func gridShape(s *shaper) [][]int {
	in, grid := s.first(), s.shape("grid")
	dims := len(in) - 2
	if dims != 2 && dims != 3 || len(grid) != len(in) || grid[0] != in[0] || grid[dims+1] != dims {
		s.fail("the grid of shape %v does not fit the input of shape %v", grid, in)
		return nil
	}
	return one(append(slices.Clone(in[:2]), grid[1:dims+1]...))
}

// slides returns the number of positions of a window on an image.
func (s *shaper) slides(image []int) int {
	kernel, w := s.ints("kernel_size"), s.window(2)
	s.checkList("kernel_size", kernel, 2, 1)
	if s.err != nil {
		return 0
	}
	count := 1
	for k, size := range image {
		reach := each(w.dilation, k, 1)*(each(kernel, k, 1)-1) + 1
		count *= s.span(size, each(w.padding, k, 0), reach, 0)/each(w.stride, k, 1) + 1
	}
	return count
}

// im2colShape infers shapes for the windows of images as columns.
func im2colShape(s *shaper) [][]int {
	in := s.first()
	at, kernel := s.channelAt(in, 2), s.ints("kernel_size")
	if s.err != nil {
		return nil
	}
	count := s.slides(in[at+1:])
	if s.err != nil {
		return nil
	}
	return one(append(slices.Clone(in[:at]), in[at]*each(kernel, 0, 1)*each(kernel, 1, 1), count))
}

// col2imShape infers shapes for images that are sums of columns.
func col2imShape(s *shaper) [][]int {
	in, size, kernel := s.first(), s.ints("output_size"), s.ints("kernel_size")
	at := s.channelAt(in, 1)
	s.checkList("output_size", size, 2, 1)
	if s.err != nil {
		return nil
	}
	size = []int{each(size, 0, 1), each(size, 1, 1)}
	count, values := s.slides(size), each(kernel, 0, 1)*each(kernel, 1, 1)
	if s.err == nil && (in[at]%values != 0 || in[at+1] != count) {
		s.fail("got columns of shape %v, expected a multiple of %d values and %d columns", in, values, count)
	}
	if s.err != nil {
		return nil
	}
	return one(append(append(slices.Clone(in[:at]), in[at]/values), size...))
}
