package graph

import (
	"fmt"
	"math"
	"strings"
)

// wordSet returns the set of the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// Groups of operators by their use of a parameter.
var (
	viewing = wordSet("view reshape unsqueeze squeeze expand expand_as transpose t numpy_T permute movedim swapaxes " +
		"to type_as contiguous clone alias detach slice select narrow unflatten flatten repeat")
	scaling  = wordSet("mul div")
	adding   = wordSet("add sub rsub")
	products = wordSet("matmul mm bmm linear addmm baddbmm mv")
	joining  = wordSet("cat stack scaled_dot_product_attention")
	picking  = wordSet("index index_select gather embedding")
	alone    = wordSet("sigmoid tanh exp softplus softmax log_softmax relu silu gelu square pow neg abs clamp sqrt " +
		"rsqrt sin cos")
)

// smallDeviation is the standard deviation of tables that are added to activations, and of additional tokens, as in
// GPT-2 and ViT.
const smallDeviation = "normal 0.02"

// byUse sets the initialisation of parameters that no layer of PyTorch draws, by the first operator that uses their
// values, directly or through a view. A parameter without such a use gets none.
func (g *Graph) byUse(set func(name, init string)) {
	shapes, err := g.Shapes()
	if err != nil {
		return // a faulty graph draws nothing
	}
	from := map[Value]string{} // parameter whose values a value holds
	for k := range g.Nodes {
		n := &g.Nodes[k]
		op := n.Name()
		for at, name := range g.parametersOf(n, from) {
			if name == "" {
				continue
			}
			if viewing[op] && at == 0 && len(n.Results) == 1 {
				from[n.Results[0]] = name
			} else if init := g.initFor(op, n, at, g.shapeOf(n, at, shapes)); init != "" {
				set(name, init)
			}
		}
	}
}

// parametersOf returns the parameters that a node reads, by the index of the argument; parameters in a list have the
// list's index.
func (g *Graph) parametersOf(n *Node, from map[Value]string) map[int]string {
	found := map[int]string{}
	for k, a := range n.Args {
		items, ok := a.Value.([]any)
		if !ok {
			items = []any{a.Value}
		}
		for _, item := range items {
			switch v := item.(type) {
			case Weight:
				if t := g.Tensor(string(v)); t != nil && t.Role == Parameter {
					found[k] = t.Name
				}
			case Value:
				if name := from[v]; name != "" {
					found[k] = name
				}
			}
		}
	}
	return found
}

// shapeOf returns the shape of an argument; nil for a list.
func (g *Graph) shapeOf(n *Node, at int, shapes map[Value][]int) []int {
	switch v := n.Args[at].Value.(type) {
	case Weight:
		return g.Tensor(string(v)).Shape
	case Value:
		return shapes[v]
	}
	return nil
}

// initFor returns the initialisation of a parameter that an operator uses as an argument of a shape; empty if there is
// no rule.
func (g *Graph) initFor(op string, n *Node, at int, shape []int) string {
	switch {
	case scaling[op]:
		return "ones"
	case adding[op], op == "addmm" && at == 0, op == "baddbmm" && at == 0:
		if wide(shape) > 1 {
			return smallDeviation
		}
		return "zeros"
	case products[op] && len(shape) > 0:
		return fmt.Sprintf("uniform %v", 1/math.Sqrt(float64(max(contracted(op, n, at, shape), 1))))
	case strings.HasPrefix(op, "conv") && len(shape) > 1:
		return fmt.Sprintf("uniform %v", 1/math.Sqrt(float64(max(product(shape[1:]), 1))))
	case op == "prelu" || op == "_prelu_kernel":
		return "full 0.25"
	case joining[op]:
		return smallDeviation
	case picking[op]:
		return "normal 1"
	case alone[op]:
		return "zeros"
	}
	return ""
}

// wide counts the dimensions with more than one value.
func wide(shape []int) (count int) {
	for _, n := range shape {
		if n > 1 {
			count++
		}
	}
	return count
}

// contracted is the size of the sum in a product with a parameter.
func contracted(op string, n *Node, at int, shape []int) int {
	last := shape[len(shape)-1]
	first := at == 0 || (op == "addmm" || op == "baddbmm") && at == 1
	if first || op == "linear" || op == "mv" || len(shape) < 2 {
		return last
	}
	return shape[len(shape)-2]
}
