package graph

// Details holds sums and maxima over a graph's operations and transfers. On a tie, the first maximum is used.
type Details struct {
	Compute    float64 // sum of the operations' times in ms: the time of one step on one device
	Memory     float64 // sum of the operations' memory in bytes
	Transfer   float64 // sum of the transfers' sizes in bytes
	MaxCompute Peak
	MaxMemory  Peak
	// maximum, over the operations, of memory divided by compute time, in bytes per ms. The ratio of an operation that
	// takes no time counts as 0
	MaxRate  Peak
	MaxDepth Peak
	MaxDep   Peak
	// depth of each operation: number of operations on the shortest path from the first operation without inputs,
	// including both ends; 0 if there is no path
	Depth []int
}

// Peak is a maximum with its position.
type Peak struct {
	At    int // index of the maximum in Ops or in Deps
	Value float64
}

func (p *Peak) see(at int, value float64) {
	if value > p.Value {
		p.At, p.Value = at, value
	}
}

// Details returns the sums and maxima of the graph. It adds values in the order of the operations.
func (g *Graph) Details() Details {
	d := Details{Depth: g.depths()}
	for k := range g.Ops {
		op := &g.Ops[k]
		memory, rate := op.Memory, 0.0
		if op.Compute != 0 {
			rate = memory / op.Compute
		}
		d.Compute += op.Compute
		d.Memory += memory
		d.MaxCompute.see(k, op.Compute)
		d.MaxMemory.see(k, memory)
		d.MaxRate.see(k, rate)
		d.MaxDepth.see(k, float64(d.Depth[k]))
	}
	for k := range g.Deps {
		d.Transfer += g.Deps[k].Size
		d.MaxDep.see(k, g.Deps[k].Size)
	}
	return d
}

// depths counts operations on the shortest path from the first source, by breadth-first search.
func (g *Graph) depths() []int {
	depth := make([]int, len(g.Ops))
	for k := range g.Ops {
		if len(g.In[k]) > 0 {
			continue
		}
		depth[k] = 1
		queue := []int{k}
		for len(queue) > 0 {
			from := queue[0]
			queue = queue[1:]
			for _, dep := range g.Out[from] {
				if to := g.Deps[dep].To; depth[to] == 0 {
					depth[to] = depth[from] + 1
					queue = append(queue, to)
				}
			}
		}
		break
	}
	return depth
}
