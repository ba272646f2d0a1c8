package fabric

import (
	"fmt"
	"slices"

	"graft/cluster/fabric/graph"
)

// Strategy is a way to split a training step over servers. To add a strategy, add a line to the variable strategies.
type Strategy string

// Strategies of [Options].
const (
	// Data gives each part of an operation a share of the batch, and all parameters.
	Data Strategy = "data"
	// Tensor gives each part a share of the parameters, and the whole batch.
	Tensor Strategy = "tensor"
	// Pipeline gives each server consecutive operations, and feeds the batch to each operation in pieces, as GPipe does
	// (Huang et al., NeurIPS 2019).
	Pipeline Strategy = "pipeline"
)

// strategies make a parted step of a graph, from the parts of each forward operation or from the degree.
var strategies = map[Strategy]func(g *graph.Graph, split []int, degree int) *Parted{
	Data:     func(g *graph.Graph, split []int, _ int) *Parted { return parallel(g, split, Data) },
	Tensor:   func(g *graph.Graph, split []int, _ int) *Parted { return parallel(g, split, Tensor) },
	Pipeline: func(g *graph.Graph, _ []int, degree int) *Parted { return pipeline(g, degree) },
}

// Strategies lists the strategies.
func Strategies() []Strategy { return []Strategy{Data, Tensor, Pipeline} }

// part splits a graph by the strategy of the options, or like PAC-ML's simulator.
func part(g *graph.Graph, o *Options, network Network, degree int) *Parted {
	split := Splits(g, o.Quantum, degree)
	for k, n := range split {
		if o.Strategy == Data && !o.Quirks.Keeps(HeldSizes) {
			n = degree // each server computes its share of the batch, even a short one
		}
		for !o.Quirks.Keeps(LostParts) && n > 1 && !network.Fits(n) {
			n--
		}
		split[k] = n
	}
	if o.Quirks.Keeps(HeldSizes) {
		p := published(g, split).finish(split)
		p.groups = p.group()
		return p
	}
	return strategies[o.Strategy](g, split, degree)
}

func (o *Options) strategyFault() error {
	if slices.Contains(Strategies(), o.Strategy) {
		return nil
	}
	return fmt.Errorf("unknown strategy %q; expected %s, %s or %s", o.Strategy, Data, Tensor, Pipeline)
}

// parallel splits operations by the batch or by their parameters.
func parallel(g *graph.Graph, split []int, s Strategy) *Parted {
	parts := func(op *graph.Op) int { return split[min(op.Node, g.Twin(op.Node))-1] }
	b := builder{source: g, parted: &graph.Graph{Model: g.Model, Nodes: g.Nodes}, parts: parts}
	b.operations(func(op *graph.Op, n int) {
		if s == Data {
			op.Parameters *= float64(n)
			op.Memory = op.Activation + op.Parameters
		}
	})
	b.transfers(func(d *graph.Dep, i, n, j, m int) (share float64, ok bool) {
		if s == Tensor {
			return 1 / float64(n), true
		}
		low, high := max(i*m, j*n), min((i+1)*m, (j+1)*n) // part of the batch that both have, in units of 1/nm
		return float64(high-low) / float64(n*m), high > low
	})
	if s == Data {
		b.exchanges()
	}
	p := b.finish(split)
	if s == Tensor {
		p.groups = p.gathers()
	} else {
		p.groups = p.reductions()
	}
	return p
}

// pieces is the number of pieces of a batch per stage of a pipeline. GPipe's authors found the waiting time of stages
// negligible with four or more.
const pieces = 4

// pipeline cuts a graph into stages of about equal time, and the batch into pieces.
func pipeline(g *graph.Graph, degree int) *Parted {
	split := make([]int, g.Nodes)
	for k := range split {
		split[k] = 1
		if degree > 1 {
			split[k] = pieces * degree
		}
	}
	b := builder{source: g, parted: &graph.Graph{Model: g.Model, Nodes: g.Nodes},
		parts: func(*graph.Op) int { return split[0] }}
	b.operations(func(*graph.Op, int) {})
	b.transfers(func(_ *graph.Dep, i, n, j, _ int) (float64, bool) { return 1 / float64(n), i == j })
	p := b.finish(split)
	p.Degree = degree
	p.stage = stages(g, p.order, p.at, degree)
	p.groups = p.reductions()
	return p
}

// stages returns the stage of each operation, indexed by its forward number minus 1. Stages are consecutive operations
// with about equal shares of the time.
func stages(g *graph.Graph, order, at []int, count int) []int {
	total := 0.0
	for k := range g.Ops {
		total += g.Ops[k].Compute
	}
	stage, before := make([]int, g.Nodes), 0.0
	for _, node := range order {
		time := g.Ops[at[node-1]].Compute + g.Ops[g.Nodes+at[node-1]].Compute
		if total > 0 {
			stage[node-1] = min(int((before+time/2)/total*float64(count)), count-1)
		}
		before += time
	}
	return stage
}

// builder makes a parted graph. Parts of an operation are adjacent, in the order of the source.
type builder struct {
	source *graph.Graph
	parted *graph.Graph
	parts  func(*graph.Op) int
	first  []int // by operation of the source: its first part
}

func (b *builder) operations(adjust func(op *graph.Op, n int)) {
	for k := range b.source.Ops {
		op := b.source.Ops[k]
		n := b.parts(&op)
		b.first = append(b.first, len(b.parted.Ops))
		op.Compute /= float64(n)
		op.Activation /= float64(n)
		op.Parameters /= float64(n)
		op.Memory = op.Activation + op.Parameters
		adjust(&op, n)
		for i := range n {
			if op.Part = i; n == 1 {
				op.Part = -1
			}
			b.parted.Ops = append(b.parted.Ops, op)
		}
	}
}

// transfers links part i of n with part j of m by a share of a transfer, if the share exists.
func (b *builder) transfers(share func(d *graph.Dep, i, n, j, m int) (float64, bool)) {
	for k := range b.source.Ops {
		n := b.parts(&b.source.Ops[k])
		for i := range n {
			for _, dep := range b.source.Out[k] {
				d := &b.source.Deps[dep]
				m := b.parts(&b.source.Ops[d.To])
				for j := range m {
					if s, ok := share(d, i, n, j, m); ok {
						b.parted.Deps = append(b.parted.Deps,
							graph.Dep{From: b.first[k] + i, To: b.first[d.To] + j, Size: d.Size * s})
					}
				}
			}
		}
	}
}

// exchanges lets the parts of each backward operation reduce the gradients of its parameters: each part sends every
// other part its share of them, and the sums back.
func (b *builder) exchanges() {
	for k := range b.source.Ops {
		op := &b.source.Ops[k]
		n := b.parts(op)
		if !b.source.Backward(op) || n == 1 || op.Parameters == 0 {
			continue
		}
		for i := range n {
			for j := range n {
				if i != j {
					b.parted.Deps = append(b.parted.Deps, graph.Dep{From: b.first[k] + i, To: b.first[k] + j,
						Size: 2 * op.Parameters / float64(n), Sync: true})
				}
			}
		}
	}
	slices.SortStableFunc(b.parted.Deps, func(x, y graph.Dep) int { return x.From - y.From })
}

func (b *builder) finish(split []int) *Parted {
	b.parted.Index()
	first := make([]int, 2*b.source.Nodes+1)
	for k := range b.source.Ops {
		first[b.source.Ops[k].Node] = b.first[k]
	}
	return newParted(b.source, b.parted, first, split)
}
