package reader

import (
	"fmt"
	"math"
	"slices"

	"graft/model/graph"
)

// pool reads the input and the kernel of a pool over one to three dimensions.
func (c *call) pool() (x operand, kernel []int64, err error) {
	x, err = c.need(0)
	kernel = c.list("kernel_shape")
	if err != nil || len(kernel) < 1 || len(kernel) > 3 {
		return x, nil, orElse(err, "unsupported pool with kernel %v", kernel)
	}
	return x, kernel, nil
}

func maxPool(c *call) error {
	x, kernel, err := c.pool()
	if err != nil || len(c.node.out) > 1 {
		return orElse(err, "a pool with %d outputs is not supported", len(c.node.out))
	}
	from, err := c.padded(x, len(kernel))
	if err != nil {
		return err
	}
	w, err := c.window(len(kernel))
	if err != nil {
		return err
	}
	return c.done(fmt.Sprintf("max_pool%dd.default", len(kernel)), graph.Arg{Name: "self", Value: from},
		graph.Arg{Name: "kernel_size", Value: anys(kernel)}, graph.Arg{Name: "stride", Value: w.stride},
		graph.Arg{Name: "padding", Value: w.padding}, graph.Arg{Name: "dilation", Value: w.dilation},
		graph.Arg{Name: "ceil_mode", Value: c.whole("ceil_mode", 0) != 0})
}

// padded returns the input of a pool. If the pads at both ends differ, it pads the input with the smallest number and
// removes the pads of the pool.
func (c *call) padded(x operand, dims int) (any, error) {
	pads := c.list("pads")
	if len(pads) != 2*dims || slices.Equal(pads[:dims], pads[dims:]) {
		return c.read(x), nil
	}
	if slices.Min(pads) < 0 || c.integral(x.name) {
		return nil, fmt.Errorf("got pads %v; expected positive pads of floating-point images", pads)
	}
	return c.padPlaces(x, pads, graph.Arg{Name: "value", Value: math.Inf(-1)}), nil
}

func averagePool(c *call) error {
	x, kernel, err := c.pool()
	if err != nil {
		return err
	}
	w, err := c.window(len(kernel))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(w.dilation, func(d any) bool { return d != int64(1) }) {
		return fmt.Errorf("unsupported average pool with dilations %v; export the network as a .pt2 archive",
			w.dilation)
	}
	return c.done(fmt.Sprintf("avg_pool%dd.default", len(kernel)), c.arg("self", x),
		graph.Arg{Name: "kernel_size", Value: anys(kernel)}, graph.Arg{Name: "stride", Value: w.stride},
		graph.Arg{Name: "padding", Value: w.padding},
		graph.Arg{Name: "ceil_mode", Value: c.whole("ceil_mode", 0) != 0},
		graph.Arg{Name: "count_include_pad", Value: c.whole("count_include_pad", 0) != 0})
}

// globalPool reduces all dimensions after the channels. An average over images is a layer that policies know.
func globalPool(reduction string) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		rank, err := c.rank(x)
		if err != nil || rank < 3 {
			return orElse(err, "the input has %d dimensions; expected at least 3", rank)
		}
		if rank == 4 && reduction == "mean.dim" {
			return c.done("adaptive_avg_pool2d.default", c.arg("self", x),
				graph.Arg{Name: "output_size", Value: anys([]int64{1, 1})})
		}
		var dims []int64
		for d := 2; d < rank; d++ {
			dims = append(dims, int64(d))
		}
		return c.done(reduction, c.arg("self", x), graph.Arg{Name: "dim", Value: anys(dims)},
			graph.Arg{Name: "keepdim", Value: true})
	}
}
