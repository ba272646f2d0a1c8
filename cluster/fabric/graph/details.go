package graph

// Details are sums and maxima of a graph. On a tie the first maximum counts.
type Details struct {
	Compute    float64 // sum of the operations' times: one step on one device, ms
	Memory     float64 // sum of the operations' memory, bytes
	Transfer   float64 // sum of the transfers' sizes, bytes
	MaxCompute Peak
	MaxMemory  Peak
	MaxRate    Peak // bytes of memory per ms of compute; 0 for an operation that takes no time
	MaxDepth   Peak
	MaxDep     Peak
	// by operation: number of operations on the shortest path from the first source, including itself; 0 if there is no
	// path
	Depth []int
}

// Peak is a maximum and its position.
type Peak struct {
	At    int // index in Ops or in Deps
	Value float64
}

func (p *Peak) see(at int, value float64) {
	if value > p.Value {
		p.At, p.Value = at, value
	}
}

// Details computes sums and maxima, in the order of the operations.
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
