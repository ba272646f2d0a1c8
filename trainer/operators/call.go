package operators

import (
	"slices"
	"strconv"
	"strings"

	"graft/model"
)

// Call is a call of an operator in a training step.
type Call struct {
	Name   string // name in PyTorch without prefix, such as conv2d
	Shapes string // shapes of the tensors that it reads, sorted, such as "16x3x32x32 24 24x3x3x3"
	Place  string // path of the module that calls the operator; empty means the network itself
	// floating-point operations of the forward pass; a multiply-add counts as two
	Operations float64
	Bytes      float64 // bytes of the tensors that the forward pass reads and returns
	// whether programs may omit the operator, because it only returns a view of a tensor
	Optional bool

	leads  bool    // whether the operator has weights, and needs no gradient of what it reads
	still  bool    // whether nothing that the operator reads needs a gradient, so it has no backward pass
	sizes  sizes   // sizes that determine the time, for interpolation
	from   int     // index of the first of graft's instructions that compute the call
	length int     // number of these instructions
	scores float64 // bytes of the scores of unfused attention, which are part of Bytes
}

// Updating is the name of the call in which the optimizer updates a parameter.
const Updating = "optimizer"

// width is the bytes of a value in float32.
const width = 4

// Calls lists the operators of a training step on a batch: the forward pass in the order of execution, then the
// optimizer's update of each parameter. The backward pass is not listed, since it has the same operators as the forward
// pass.
func Calls(n *model.Network, rows int) ([]Call, error) { return Program.calls(n, rows) }

// Path is the way in which measured steps ran. The zero Path is a program of PyTorch.
type Path string

// The known paths.
const (
	Program Path = ""      // a program of PyTorch
	Exact   Path = "exact" // graft, with PyTorch's order of operations
	Fast    Path = "fast"  // graft, with fused kernels
)

// calls lists the operators of a training step, as Calls does. If graft runs the step, the calls around the network's
// operators come first, and layers that graft computes together are one call.
func (p Path) calls(n *model.Network, rows int) ([]Call, error) { return newLister(p).list(n, rows) }

// updateOf returns the optimizer's work on a parameter.
func (p Path) updateOf(size int) Call {
	c := Call{Name: Updating, Bytes: width * float64(size), sizes: sizes{size}}
	if p == Program {
		c.Shapes = strconv.Itoa(size)
	}
	return c
}

// shapesText formats shapes. Only traces need the text.
func (p Path) shapesText(shapes [][]int) string {
	if p != Program {
		return ""
	}
	return shapesText(shapes)
}

// shapesText formats shapes. The order does not matter, so arguments may be passed by name. Tensors without dimensions
// are omitted.
func shapesText(shapes [][]int) string {
	words := make([]string, 0, len(shapes))
	for _, s := range shapes {
		if len(s) > 0 {
			words = append(words, model.Shape(s).String())
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func values(shapes [][]int) (sum float64) {
	for _, s := range shapes {
		count := 1.0
		for _, n := range s {
			count *= float64(n)
		}
		sum += count
	}
	return sum
}

// grouped is the name of convolutions whose channels are divided into groups, which run at other rates.
const grouped = " in groups"

// ofInput is the ending of operators with weights that need no gradient of what they read.
const ofInput = " of the input"

// withoutGradient is the ending of operators without a backward pass, because they only read values before the first
// weights.
const withoutGradient = " without a gradient"

// variants are the endings of names for ways to run an operator that the trace does not name.
var variants = []string{withoutGradient, ofInput, beforeFork, beforePool, beforeFlatten, channelsLast, ofPermuted,
	unfused, grouped}

// base returns the name of an operator in the trace.
func base(name string) string {
	for _, ending := range variants {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
