package rewrite

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/model/graph"
	"graft/tracing/axes"
)

// Branches selects how the branches of a new block are initialised, which determines the block's initial output.
type Branches string

// Kinds of branches. Branches of the zero kind output zero, since their last layers are zero.
const (
	ZeroBranches Branches = ""
	// branches that output zero because units and heads come in pairs that cancel; all layers learn at once
	OppositeBranches Branches = "opposite"
	StackedBranches  Branches = "stacked" // copies of the donor's branches (stacking), which change the function
)

// Deepen returns a plan that inserts a copy of a block after the block. Unless how is StackedBranches, the copy
// initially returns its input unchanged. If the path names a list, Deepen copies all blocks of the list and adds the
// copies after the last block. In a network with norms after the residual sums, the new norms follow the last norm of
// the block. Deepen then changes the epsilons of the last norm and of the new norms, so that all of these norms
// together give the same result as the last norm alone did before surgery.
func Deepen(a *axes.Axes, path string, how Branches) (*Plan, error) {
	b, err := FindBlock(a, path)
	if err != nil {
		return nil, fmt.Errorf("deepen: %w", err)
	}
	d := &deepening{Axes: a, b: b, how: how, plan: keep(a.Graph), values: map[graph.Value]graph.Value{},
		ends: map[string]Move{}}
	if err := d.write(); err != nil {
		return nil, fmt.Errorf("deepen %s: %w", path, err)
	}
	return d.plan.finish()
}

type deepening struct {
	*axes.Axes
	b      *Block
	how    Branches
	plan   *Plan
	copied string          // path of the copy
	blocks int             // blocks of a list
	ends   map[string]Move // moves of the tensors that make branches output zero
	values map[graph.Value]graph.Value
}

func (d *deepening) write() error {
	if err := d.copyable(); err != nil {
		return err
	}
	if err := d.silence(); err != nil {
		return err
	}
	d.rename()
	d.modules()
	d.tensors()
	d.nodes()
	if d.how == StackedBranches {
		d.plan.Notes = append(d.plan.Notes,
			"the new blocks compute the same as the blocks they copy, so the network's function changes")
		return nil
	}
	if len(d.b.Norms) > 0 {
		return d.chain()
	}
	return nil
}

// copyable checks that the tensors that write the branches belong only to the block.
func (d *deepening) copyable() error {
	for _, branch := range d.b.Branches {
		for _, name := range branch.Writers {
			t := d.Graph.Tensor(name)
			if t == nil || !strings.HasPrefix(name, d.b.Path+".") || t.Tied != "" || d.isTied(name) {
				return fmt.Errorf("a branch ends in the tensor %s, which is shared with other parts of the network",
					name)
			}
		}
	}
	return nil
}

func (d *deepening) isTied(name string) bool {
	return slices.ContainsFunc(d.Graph.Tensors, func(t graph.Tensor) bool { return t.Tied == name })
}

// silence makes the branches of the copy output zero.
func (d *deepening) silence() error {
	for _, branch := range d.b.Branches {
		for _, name := range branch.Writers {
			switch d.how {
			case ZeroBranches:
				d.ends[name] = Move{Values: "zeros"}
			case OppositeBranches:
				if err := d.opposite(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rename makes room: the modules after a numbered block get the next numbers, as in a list of PyTorch. Copies of a
// list's blocks are numbered after its last block.
func (d *deepening) rename() {
	d.blocks = children(d.Graph, d.b.Path)
	if d.blocks > 0 {
		return
	}
	parent, name := lastName(d.b.Path)
	number, err := strconv.Atoi(name)
	if err != nil {
		for k := 2; ; k++ {
			d.copied = d.b.Path + strconv.Itoa(k)
			if !slices.ContainsFunc(d.Graph.Modules, func(m graph.Module) bool { return m.Path == d.copied }) {
				return
			}
		}
	}
	d.copied = joined(parent, strconv.Itoa(number+1))
	to := func(path string) string {
		rest, below := strings.CutPrefix(path, parent+".")
		if parent == "" {
			rest, below = path, true
		}
		head, tail, deeper := strings.Cut(rest, ".")
		k, err := strconv.Atoi(head)
		if !below || err != nil || k <= number {
			return path
		}
		path = joined(parent, strconv.Itoa(k+1))
		if deeper {
			path += "." + tail
		}
		return path
	}
	g := d.plan.Graph
	for k := range g.Modules {
		g.Modules[k].Path = to(g.Modules[k].Path)
	}
	for k := range g.Tensors {
		g.Tensors[k].Name, g.Tensors[k].Tied = to(g.Tensors[k].Name), to(g.Tensors[k].Tied)
	}
	for k := range d.plan.Moves {
		d.plan.Moves[k].Name = to(d.plan.Moves[k].Name)
	}
	for k := range g.Nodes {
		g.Nodes[k].Module = to(g.Nodes[k].Module)
		renameWeights(&g.Nodes[k], to)
	}
}

func joined(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// renameWeights replaces the names of tensors that a node reads.
func renameWeights(n *graph.Node, to func(string) string) {
	swap := func(v any) any {
		if w, ok := v.(graph.Weight); ok {
			return graph.Weight(to(string(w)))
		}
		return v
	}
	for k, a := range n.Args {
		if list, ok := a.Value.([]any); ok {
			list = slices.Clone(list)
			for j := range list {
				list[j] = swap(list[j])
			}
			n.Args[k].Value = list
			continue
		}
		n.Args[k].Value = swap(a.Value)
	}
}

// moved returns the path in the copy for a path in the block.
func (d *deepening) moved(path string) string {
	switch {
	case !inside(path, d.b.Path) || path == d.b.Path && d.blocks > 0:
		return path
	case d.blocks == 0:
		return d.copied + path[len(d.b.Path):]
	}
	number, rest, deeper := strings.Cut(path[len(d.b.Path)+1:], ".")
	k, err := strconv.Atoi(number)
	if err != nil {
		return path
	}
	path = joined(d.b.Path, strconv.Itoa(k+d.blocks))
	if deeper {
		path += "." + rest
	}
	return path
}

// children counts the modules of a list; zero means that the module is not a list.
func children(g *graph.Graph, path string) int {
	count := 0
	for _, m := range g.Modules {
		switch parent, _ := lastName(m.Path); {
		case m.Path == path && m.Class != "ModuleList":
			return 0
		case parent == path && m.Path != "":
			count++
		}
	}
	return count
}

func (d *deepening) modules() {
	g := d.plan.Graph
	at := 0
	var copies []graph.Module
	for k, m := range g.Modules {
		if !inside(m.Path, d.b.Path) {
			continue
		}
		at = k + 1
		if path := d.moved(m.Path); path != m.Path {
			m.Path = path
			copies = append(copies, m)
		}
	}
	g.Modules = slices.Insert(g.Modules, at, copies...)
}

// tensors copies parameters and buffers; constants, such as masks and tables, are shared.
func (d *deepening) tensors() {
	g := d.plan.Graph
	at, moveAt := 0, 0
	var copies []graph.Tensor
	var moves []Move
	for k, t := range g.Tensors {
		if !strings.HasPrefix(t.Name, d.b.Path+".") || t.Role == graph.Constant {
			continue
		}
		at = k + 1
		m := d.ends[t.Name]
		m.Name, m.From, m.Fresh = d.moved(t.Name), t.Name, d.how != StackedBranches
		moveAt = 1 + slices.IndexFunc(d.plan.Moves, func(m Move) bool { return m.Name == t.Name })
		t.Name, t.Tied, t.Shape = m.Name, d.moved(t.Tied), slices.Clone(t.Shape)
		copies = append(copies, t)
		if t.Tied == "" {
			moves = append(moves, m)
		}
	}
	g.Tensors = slices.Insert(g.Tensors, at, copies...)
	d.plan.Moves = slices.Insert(d.plan.Moves, moveAt, moves...)
}

// nodes copies the operators after the block; readers of the block's output then read the copy's output.
func (d *deepening) nodes() {
	g := d.plan.Graph
	taken := valuesOf(g)
	d.values[d.b.In] = d.b.Out
	var copies []graph.Node
	for _, k := range d.b.Nodes {
		n := g.Nodes[k]
		n.Args = slices.Clone(n.Args)
		n.Module = d.moved(n.Module)
		n.Rename(d.values)
		renameWeights(&n, func(name string) string {
			if t := g.Tensor(name); t.Role == graph.Constant {
				return name
			}
			return d.moved(name)
		})
		var results []graph.Value
		for _, v := range n.Results {
			fresh := unused(v, taken)
			taken[fresh], d.values[v] = true, fresh
			results = append(results, fresh)
		}
		n.Results = results
		copies = append(copies, n)
	}
	last := d.b.Nodes[len(d.b.Nodes)-1]
	out := map[graph.Value]graph.Value{d.b.Out: d.values[d.b.Out]}
	own := map[int]bool{}
	for _, k := range d.b.Nodes {
		own[k] = true
	}
	for k := range g.Nodes {
		if !own[k] {
			g.Nodes[k].Rename(out)
		}
	}
	if g.Output == d.b.Out {
		g.Output = out[d.b.Out]
	}
	for k, v := range g.MoreOutputs {
		if v == d.b.Out {
			g.MoreOutputs[k] = out[v]
		}
	}
	g.Nodes = slices.Insert(g.Nodes, last+1, copies...)
}

// valuesOf returns the names of the values in use.
func valuesOf(g *graph.Graph) map[graph.Value]bool {
	taken := map[graph.Value]bool{}
	for _, in := range g.Inputs() {
		taken[in.Value] = true
	}
	for _, n := range g.Nodes {
		for _, v := range n.Results {
			taken[v] = true
		}
	}
	return taken
}

// unused makes an unused name from a value's: the stem and the next free number.
func unused(v graph.Value, taken map[graph.Value]bool) graph.Value {
	stem := strings.TrimRight(string(v), "0123456789")
	stem = strings.TrimSuffix(stem, "_")
	for k := 1; ; k++ {
		if name := graph.Value(fmt.Sprintf("%s_%d", stem, k)); !taken[name] {
			return name
		}
	}
}

// chain sets the epsilons of the block's last norm and the norms of the copy, which follow each other, so that together
// they act as the one did. Without affine parts, norms with epsilon e map a deviation x of variance v to x/√(av + b);
// (a, b) starts at (1, e), and each further norm maps it to (1 + ea, eb). The affine part moves to the last norm.
func (d *deepening) chain() error {
	last := d.Norms[d.b.Norms[len(d.b.Norms)-1]]
	if last.Weight == "" {
		return fmt.Errorf("the block's last normalisation has no weight; the new block requires one")
	}
	if last.Output != d.b.Out {
		return fmt.Errorf("the block does not end with a normalisation")
	}
	for _, at := range d.b.Norms {
		if err := d.ownNorm(d.Norms[at], at == d.b.Norms[len(d.b.Norms)-1]); err != nil {
			return err
		}
	}
	e, root := chained(last.Epsilon, len(d.b.Norms)+1)
	d.epsilon(d.Graph.Nodes[last.Node].Results[0], last.Eps, e)
	for k, at := range d.b.Norms {
		norm := d.Norms[at]
		d.epsilon(d.values[d.Graph.Nodes[norm.Node].Results[0]], norm.Eps, e)
		for name, from := range map[string]string{norm.Weight: last.Weight, norm.Bias: last.Bias} {
			if name != "" {
				d.affine(name, from, k == len(d.b.Norms)-1, root)
			}
		}
	}
	d.own(last)
	d.readers(last)
	d.plan.Notes = append(d.plan.Notes, "moved the affine part of the norm before the new block to after the block")
	return nil
}

// ownNorm checks that the affine part of a norm of the block can change alone: the copy's becomes the identity, and so
// does the block's last one. Other operators may read the tensors of the block's other norms outside of the block.
func (d *deepening) ownNorm(norm axes.Norm, last bool) error {
	node := d.Graph.Nodes[norm.Node]
	if isComputed(node.Arg("weight")) || isComputed(node.Arg("bias")) {
		return fmt.Errorf("the weight or bias of the normalisation in %q is computed; expected tensors", node.Module)
	}
	var outputs []graph.Value // of norms that may share the tensors
	for _, at := range d.b.Norms {
		if other := d.Norms[at]; other.Output == norm.Output || !last {
			outputs = append(outputs, other.Output)
		}
	}
	for _, name := range []string{norm.Weight, norm.Bias} {
		if name == "" {
			continue
		}
		if !inside(name, d.b.Path) || d.Graph.Tensor(name).Tied != "" || d.isTied(name) ||
			d.readElsewhere(name, outputs, last) {
			return fmt.Errorf("a normalisation of the block shares the tensor %s with other operators, but the new "+
				"block changes it for this normalisation alone; choose another block", name)
		}
	}
	return nil
}

// readElsewhere reports whether an operator reads a tensor and has none of the outputs. Operators outside of the block
// count only if everywhere is set.
func (d *deepening) readElsewhere(name string, outputs []graph.Value, everywhere bool) bool {
	for k := range d.Graph.Nodes {
		n := &d.Graph.Nodes[k]
		reads := false
		n.Reads(func(v any) { reads = reads || v == any(graph.Weight(name)) })
		if reads && (everywhere || slices.Contains(d.b.Nodes, k)) && !slices.Contains(outputs, n.Results[0]) {
			return true
		}
	}
	return false
}

// chained finds the epsilon of norms norms in a row that act like one norm with eps, and the factor of the last weight.
func chained(eps float64, norms int) (e, root float64) {
	build := func(e float64) (a, b float64) {
		a, b = 1, e
		for range norms - 1 {
			a, b = 1+e*a, e*b
		}
		return a, b
	}
	low, high := 0.0, 1.0
	for a, b := build(high); b/a < eps; a, b = build(high) {
		high *= 2
	}
	for range 200 { // each iteration halves the interval; float64 has 53 bits
		e = (low + high) / 2
		if a, b := build(e); b/a < eps {
			low = e
		} else {
			high = e
		}
	}
	a, _ := build(high)
	return high, math.Sqrt(a)
}

// epsilon sets the epsilon of the norm that produces a value.
func (d *deepening) epsilon(output graph.Value, name string, e float64) {
	for k := range d.plan.Graph.Nodes {
		n := &d.plan.Graph.Nodes[k]
		if slices.Contains(n.Results, output) {
			n.Set(name, e)
		}
	}
}

// affine sets a weight or bias of a norm of the copy: the identity, or at the end of the chain the last norm's values.
func (d *deepening) affine(name, from string, end bool, root float64) {
	m := d.plan.move(d.moved(name))
	isWeight := d.isWeight(name)
	*m = Move{Name: m.Name, From: from, Fresh: !end}
	switch {
	case !end && isWeight:
		m.Values = "ones"
	case !end:
		m.Values = "zeros"
	case isWeight:
		m.Scale = root
	}
}

func (d *deepening) isWeight(name string) bool {
	return slices.ContainsFunc(d.Norms, func(n axes.Norm) bool { return n.Weight == name })
}

// own makes the affine part of the norm before the copy the identity.
func (d *deepening) own(last axes.Norm) {
	for name, values := range map[string]string{last.Weight: "ones", last.Bias: "zeros"} {
		if m := d.plan.move(name); m != nil {
			m.Values, m.Fresh = values, true
		}
	}
}

// readers folds the affine part into the layers of the copy that read the stream, because they now read it before that
// part.
func (d *deepening) readers(last axes.Norm) {
	stream := map[graph.Value]bool{d.b.In: true}
	for _, at := range d.b.Norms[:len(d.b.Norms)-1] {
		stream[d.Norms[at].Output] = true
	}
	for _, k := range d.b.Nodes {
		n := &d.Graph.Nodes[k]
		x, _ := n.Arg("input").(graph.Value)
		weight, ok := n.Arg("weight").(graph.Weight)
		if op(n) != "linear" || !stream[x] || !ok {
			continue
		}
		if m := d.copyOf(string(weight)); m != nil && m.Values == "" && m.Fold == nil {
			m.Fold = &Fold{Vector: last.Weight}
		}
		bias, _ := n.Arg("bias").(graph.Weight)
		if m := d.copyOf(string(bias)); m != nil && last.Bias != "" && m.Values == "" && m.Fold == nil {
			m.Fold = &Fold{Vector: last.Bias, Matrix: string(weight)}
		}
	}
}

// copyOf returns the move of a tensor's copy; nil if the copy of the block reads the tensor itself.
func (d *deepening) copyOf(name string) *Move {
	if d.moved(name) == name {
		return nil
	}
	return d.plan.move(d.moved(name))
}
