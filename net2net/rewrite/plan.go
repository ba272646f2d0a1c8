package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
)

// Plan describes a change of a graph.
type Plan struct {
	Before *graph.Graph `json:"-"`
	Graph  *graph.Graph `json:"-"` // new graph
	Moves  []Move       `json:"moves"`
	// Was holds the old graph in serialized form. A saved plan needs the old graph to reverse the change.
	Was   map[string]any `json:"was,omitempty"`
	Seed  uint64         `json:"seed,omitempty"` // seed of random padding
	Notes []string       `json:"notes,omitempty"`
	Units []int          `json:"-"` // copied unit of each unit, or -1 for a new unit; nil if there are no new units
}

// Move describes how a tensor of the new graph is made. A plan has only one Move for tensors that are tied, with the
// name of the first tensor.
type Move struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"` // name of the old tensor; empty for a tensor without an origin
	// Dims holds the changes of dimensions, in the order in which they are applied. Nil keeps the tensor.
	Dims []Dim `json:"dims,omitempty"`
	// Values is "zeros" or "ones" to replace all values by zeros or ones, which also resets the optimizer state; empty
	// keeps the values.
	Values string `json:"values,omitempty"`
	// Fresh resets the optimizer state, except that the second moment starts at the mean second moment of From.
	Fresh bool `json:"fresh,omitempty"`
	// Fold multiplies the tensor by the values of another tensor, for surgery that moves an affine map into the next
	// layer.
	Fold *Fold `json:"fold,omitempty"`
	// Scale multiplies all values; zero means 1.
	Scale float64 `json:"scale,omitempty"`
	// Added holds values that are added after all other changes, such as the weights of new units.
	Added []Added `json:"added,omitempty"`
}

// Dim describes the change of a dimension.
type Dim struct {
	At   int   `json:"at"`
	From []int `json:"from"` // index of the old slice for each new slice; -1 means padding
	// Share holds one factor per entry of From, by which the values are multiplied. Nil means 1.
	Share []float64 `json:"share,omitempty"`
	// Split reports whether each original weight is divided among its copies, so that the sum over the dimension stays
	// unchanged.
	Split bool `json:"split,omitempty"`
	// Partition gives each original weight of a split dimension to one of its copies; see [Partition].
	Partition bool `json:"partition,omitempty"`
	// Moment holds one factor per entry of From, by which the optimizer's moment is multiplied: the fraction of the old
	// gradient that the new slice receives, or with Merge the weight of the slice in the gradient of the new slice. Nil
	// means 1.
	Moment []float64 `json:"moment,omitempty"`
	Pad    Pad       `json:"pad,omitempty"`
	// Merge reverses a change: slice i of the old tensor is multiplied by Share[i] and added to slice From[i] of the
	// new tensor. The dimension of the new tensor has Size slices.
	Merge bool `json:"merge,omitempty"`
	Size  int  `json:"size,omitempty"`
}

// Pad names the values of slices that are not copied from the old tensor.
type Pad string

// Values that fill slices without an origin. The zero Pad means zeros.
const (
	Zeros  Pad = ""
	Ones   Pad = "ones"
	Mean   Pad = "mean"   // mean over the dimension
	Random Pad = "random" // normal random numbers with the root mean square of the tensor
	Units  Pad = "units"  // zeros, to which Move.Added adds the values of new units
)

// Fold multiplies the columns of a weight by a vector, or adds the product of a matrix and a vector to a bias.
type Fold struct {
	Vector string `json:"vector"`
	Matrix string `json:"matrix,omitempty"` // old weight of the same layer, if the tensor is a bias
}

// clone copies a graph, so changes do not affect the original.
func clone(g *graph.Graph) *graph.Graph {
	out := *g
	out.Modules, out.Tensors, out.Nodes = slices.Clone(g.Modules), slices.Clone(g.Tensors), slices.Clone(g.Nodes)
	out.Input.Shape = slices.Clone(g.Input.Shape)
	out.MoreInputs, out.MoreOutputs = slices.Clone(g.MoreInputs), slices.Clone(g.MoreOutputs)
	for k := range out.Tensors {
		out.Tensors[k].Shape = slices.Clone(out.Tensors[k].Shape)
	}
	for k := range out.Nodes {
		out.Nodes[k].Args = slices.Clone(out.Nodes[k].Args)
		for j, a := range out.Nodes[k].Args {
			if list, ok := a.Value.([]any); ok {
				out.Nodes[k].Args[j].Value = slices.Clone(list)
			}
		}
	}
	return &out
}

// keep makes a plan that changes nothing.
func keep(g *graph.Graph) *Plan {
	p := &Plan{Before: g, Graph: clone(g)}
	for _, t := range g.Tensors {
		if t.Tied == "" {
			p.Moves = append(p.Moves, Move{Name: t.Name, From: t.Name})
		}
	}
	return p
}

// move returns the move of a tensor of the new graph.
func (p *Plan) move(name string) *Move {
	for k := range p.Moves {
		if p.Moves[k].Name == name {
			return &p.Moves[k]
		}
	}
	return nil
}

// add appends a change of a dimension to a tensor's move.
func (p *Plan) add(name string, d Dim) {
	m := p.move(name)
	m.Dims = append(m.Dims, d)
}

// finish sets the shapes of tensors and checks the graph.
func (p *Plan) finish() (*Plan, error) {
	shapes := map[string][]int{}
	for _, m := range p.Moves {
		t := p.Graph.Tensor(m.Name)
		for _, d := range m.Dims {
			if d.Merge {
				t.Shape[d.At] = d.Size
			} else {
				t.Shape[d.At] = len(d.From)
			}
		}
		shapes[m.Name] = t.Shape
	}
	for k, t := range p.Graph.Tensors {
		if t.Tied != "" {
			p.Graph.Tensors[k].Shape = slices.Clone(shapes[t.Tied])
		}
	}
	if err := p.Graph.Check(); err != nil {
		return nil, fmt.Errorf("the graph is invalid after surgery: %w", err)
	}
	if _, err := p.Graph.Shapes(); err != nil {
		return nil, fmt.Errorf("the graph is invalid after surgery: %w", err)
	}
	p.Graph.Reprint(p.Before, p.before)
	return p, nil
}

// before is the old path of a module, or the path of the module that it copies.
func (p *Plan) before(path string) string {
	for _, m := range p.Moves {
		if rest, ok := strings.CutPrefix(m.Name, path+"."); ok && strings.HasSuffix(m.From, "."+rest) {
			return strings.TrimSuffix(m.From, "."+rest)
		}
	}
	return path
}

// Reverse returns a plan that reverts p. The returned plan averages copies, adds up shares, and drops padding and new
// tensors.
func (p *Plan) Reverse() (*Plan, error) {
	back := &Plan{Before: p.Graph, Graph: clone(p.Before)}
	taken := map[string]bool{}
	for _, m := range p.Moves {
		if m.From == "" || m.Values != "" || m.Fresh || taken[m.From] {
			continue
		}
		taken[m.From] = true
		r := Move{Name: m.From, From: m.Name}
		if m.Scale != 0 {
			r.Scale = 1 / m.Scale
		}
		shape := slices.Clone(p.Before.Tensor(m.From).Shape)
		for k := len(m.Dims) - 1; k >= 0; k-- {
			r.Dims = append(r.Dims, m.Dims[k].reverse(shape[m.Dims[k].At]))
		}
		back.Moves = append(back.Moves, r)
	}
	for _, t := range p.Before.Tensors {
		if t.Tied == "" && !taken[t.Name] {
			return nil, fmt.Errorf("reverse surgery: the plan does not keep the values of tensor %s", t.Name)
		}
	}
	return back.finish()
}

// reverse returns the change that reverts d. The gradient of a merged slice is the sum of the gradients of its copies,
// each times its share; divided weights have equal gradients, so their mean is the same.
func (d Dim) reverse(size int) Dim {
	count := make([]float64, size)
	for _, from := range d.From {
		if from >= 0 {
			count[from]++
		}
	}
	back := Dim{At: d.At, From: d.From, Merge: true, Size: size, Split: d.Split, Share: make([]float64, len(d.From)),
		Moment: make([]float64, len(d.From))}
	for k, from := range d.From {
		if from < 0 {
			continue
		}
		if d.Split {
			back.Share[k], back.Moment[k] = 1, 1/count[from]
			continue
		}
		back.Share[k], back.Moment[k] = 1/count[from], 1
		if d.Share != nil && d.Share[k] != 0 {
			back.Share[k], back.Moment[k] = back.Share[k]/d.Share[k], d.Share[k]
		}
	}
	return back
}
