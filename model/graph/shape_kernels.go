package graph

import (
	"slices"
	"strings"
)

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

// channelAt returns the dimension of the channels of an input with or without a batch, for a number of places.
func (s *shaper) channelAt(in []int, places int) int {
	if len(in) != places+1 && len(in) != places+2 {
		s.fail("got an input of shape %v, expected %d or %d dimensions", in, places+1, places+2)
		return 0
	}
	return len(in) - places - 1
}

// checkList returns an error if a list of numbers for dimensions has the wrong length or a number below the minimum.
func (s *shaper) checkList(name string, list []int, dims, least int) {
	if len(list) > 1 && len(list) != dims {
		s.fail("%s is %v, expected one number or %d numbers", name, list, dims)
	}
	for _, v := range list {
		if v < least {
			s.fail("%s is %v, expected at least %d", name, list, least)
		}
	}
}

// window holds the lists of numbers of a convolution or a pool.
type window struct{ stride, padding, dilation []int }

func (s *shaper) window(dims int) window {
	w := window{s.ints("stride"), nil, s.ints("dilation")}
	if _, word := s.n.Arg("padding").(string); !word {
		w.padding = s.ints("padding")
	}
	s.checkList("stride", w.stride, dims, 1)
	s.checkList("padding", w.padding, dims, 0)
	s.checkList("dilation", w.dilation, dims, 1)
	return w
}

func convShape(s *shaper) [][]int {
	in, weight := s.first(), s.shape("weight")
	dims, groups := len(weight)-2, s.int("groups", 1)
	at, w := s.channelAt(in, dims), s.window(dims)
	if s.err != nil {
		return nil
	}
	if channels := weight[1] * groups; in[at] != channels {
		s.fail("got %d channels, expected %d", in[at], channels)
	}
	if weight[0]%groups != 0 {
		s.fail("the %d output channels cannot be divided into %d groups", weight[0], groups)
	}
	s.checkBias(weight[0])
	same := s.n.Arg("padding") == any("same")
	out := with(in, at, weight[0])
	for k := range dims {
		if same {
			if each(w.stride, k, 1) != 1 {
				s.fail("the padding \"same\" needs a stride of 1, got %v", w.stride)
			}
			continue
		}
		reach := each(w.dilation, k, 1)*(weight[2+k]-1) + 1
		out[at+1+k] = s.span(in[at+1+k], each(w.padding, k, 0), reach, 0)/each(w.stride, k, 1) + 1
	}
	return one(out)
}

// checkBias returns an error if there is a bias that does not have one value per channel.
func (s *shaper) checkBias(channels int) {
	if bias := s.shape("bias"); bias != nil && !slices.Equal(bias, []int{channels}) {
		s.fail("got a bias of shape %v, expected [%d]", bias, channels)
	}
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
	dims, groups := len(weight)-2, s.int("groups", 1)
	at, w, more := s.channelAt(in, dims), s.window(dims), s.ints("output_padding")
	s.checkList("output_padding", more, dims, 0)
	if s.err != nil {
		return nil
	}
	if in[at] != weight[0] || weight[0]%groups != 0 {
		s.fail("got %d channels in %d groups, expected %d", in[at], groups, weight[0])
	}
	s.checkBias(weight[1] * groups)
	out := with(in, at, weight[1]*groups)
	for k := range dims {
		stride, dilation, extra := each(w.stride, k, 1), each(w.dilation, k, 1), each(more, k, 0)
		if extra >= max(stride, dilation) {
			s.fail("output_padding is %d, expected less than the stride of %d or the dilation of %d", extra, stride,
				dilation)
		}
		size := (in[at+1+k]-1)*stride - 2*each(w.padding, k, 0) + dilation*(weight[2+k]-1) + extra + 1
		if size < 1 {
			s.fail("the padding of %v removes the whole result; use less padding or a larger input", w.padding)
		}
		out[at+1+k] = size
	}
	return one(out)
}

func poolShape(s *shaper) [][]int {
	in := s.first()
	dims, kernel := s.places(), s.ints("kernel_size")
	s.checkList("kernel_size", kernel, dims, 1)
	w := s.window(dims)
	at := s.channelAt(in, dims)
	if s.err != nil {
		return nil
	}
	if len(w.stride) == 0 {
		w.stride = kernel
	}
	out := slices.Clone(in)
	for k := range dims {
		size, pad, step := in[at+1+k], each(w.padding, k, 0), each(w.stride, k, 1)
		reach, beyond := each(w.dilation, k, 1)*(each(kernel, k, 1)-1)+1, 0
		if pad > reach/2 {
			s.fail("the padding is %d, expected at most half of the %d values that the kernel covers", pad, reach)
		}
		if s.truth("ceil_mode") {
			beyond = step - 1
		}
		out[at+1+k] = s.span(size, pad, reach, beyond)/step + 1
		if beyond > 0 && (out[at+1+k]-1)*step >= size+pad { // the last window must begin inside
			out[at+1+k]--
		}
	}
	return one(out)
}

// places returns the number of dimensions in the name of an operator, such as 2 for max_pool2d.
func (s *shaper) places() int {
	op := s.n.Name()
	return int(op[len(op)-2] - '0')
}

// adaptiveShape infers shapes for adaptive pools. A maximum also returns its indices.
func adaptiveShape(s *shaper) [][]int {
	in, sizes := s.first(), s.ints("output_size")
	dims := s.places()
	s.checkList("output_size", sizes, dims, 0)
	at := s.channelAt(in, dims)
	if s.err != nil {
		return nil
	}
	out := slices.Clone(in[:at+1])
	for k := range dims {
		out = append(out, each(sizes, k, 1))
	}
	return slices.Repeat(one(out), max(len(s.n.Results), 1))
}

func upsampleShape(s *shaper) [][]int {
	in := s.first()
	dims := s.places()
	if len(in) != dims+2 {
		s.fail("got an input of shape %v, expected %d dimensions", in, dims+2)
		return nil
	}
	if sizes := s.ints("output_size"); sizes != nil {
		if s.checkList("output_size", sizes, dims, 1); len(sizes) != dims {
			s.fail("output_size is %v, expected %d numbers", sizes, dims)
		}
		return one(slices.Concat(in[:2], sizes))
	}
	out := slices.Clone(in)
	factors, _ := s.n.Arg("scale_factors").([]any)
	if len(factors) != dims {
		s.fail("scale_factors are %v, expected %d numbers", factors, dims)
		return nil
	}
	for k, f := range factors {
		if out[2+k] = int(float64(in[2+k]) * s.real(f)); out[2+k] < 1 {
			s.fail("the result of shape %v is empty; use larger scale_factors", out)
		}
	}
	return one(out)
}

func pixelShape(s *shaper) [][]int {
	out := slices.Clone(s.first())
	if len(out) < 3 {
		s.fail("got an input of shape %v, expected at least 3 dimensions", out)
		return nil
	}
	c, h, w := len(out)-3, len(out)-2, len(out)-1
	if r := s.int("upscale_factor", 0); r > 0 {
		if out[c]%(r*r) != 0 {
			s.fail("the %d channels are not divisible by the square of the factor %d", out[c], r)
		}
		out[c], out[h], out[w] = out[c]/(r*r), out[h]*r, out[w]*r
	} else {
		r := s.int("downscale_factor", 1)
		if out[h]%r != 0 || out[w]%r != 0 {
			s.fail("the height %d and the width %d are not divisible by the factor %d", out[h], out[w], r)
		}
		out[c], out[h], out[w] = out[c]*r*r, out[h]/r, out[w]/r
	}
	return one(out)
}

// padShape infers shapes for paddings from the last dimension on. Reflected values are inside of the input.
func padShape(s *shaper) [][]int {
	in := s.first()
	out, pad := slices.Clone(in), s.ints("pad")
	if pad == nil {
		pad = s.ints("padding")
	}
	if len(pad)%2 != 0 || len(pad) > 2*len(in) {
		s.fail("the padding is %v, expected two numbers for each of at most %d dimensions", pad, len(in))
		return nil
	}
	op := s.n.Name()
	mode, _ := s.n.Arg("mode").(string)
	reflects := strings.HasPrefix(op, "reflection") || mode == "reflect"
	for k := 0; k+1 < len(pad); k += 2 {
		at, most := len(in)-1-k/2, max(pad[k], pad[k+1])
		switch {
		case reflects && most >= in[at]:
			s.fail("a reflected padding of %d needs a larger input than %d", most, in[at])
		case mode == "circular" && most > in[at]:
			s.fail("a circular padding of %d needs an input of at least that size, got %d", most, in[at])
		}
		out[at] += pad[k] + pad[k+1]
		if out[at] < 0 {
			s.fail("the padding %v removes more values than the input of shape %v has", pad, in)
		}
	}
	return one(out)
}
