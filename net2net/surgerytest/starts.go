package surgerytest

import (
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// CheckStart draws a network, widens it with a start of new units, and checks the guarantees of the start: the
// function, exact reversal, replay of a saved record, and moments. The parameter preserves states whether the start
// keeps the function. CheckStart returns false if no layer can be widened, or if the start refuses the layers; a
// refusal must name the remedy.
func CheckStart(t *rapid.T, start net2net.Start, preserves bool) bool {
	n := Network(t)
	action, ok := Any("widen")(t, n)
	if !ok {
		return false
	}
	fits := false
	for _, dtype := range []torch.DType{torch.Float32, torch.Float64} {
		err := torch.With(func(s *torch.Scope) error {
			c := prepare(t, s, n, dtype, fewest)
			fits = c.start(action, start, preserves)
			return s.Err()
		})
		if err != nil {
			t.Fatalf("%s with start %s in %v: %v\n%s", action, start, dtype, err, n)
		}
	}
	return fits
}

// loss returns the loss on the batch.
func (c *Case) loss() func(*torch.Scope, *torch.Tensor) *torch.Tensor {
	labels := make([]int64, c.batch.Shape()[0])
	for k := range labels {
		labels[k] = int64(k % Classes)
	}
	return net2net.CrossEntropy(torch.From(c.s, labels, len(labels)))
}

func (c *Case) start(action net2net.Action, start net2net.Start, preserves bool) bool {
	optimizer, err := net2net.NewOptimizer(c.s, c.net, torch.OptimizerOptions{Rule: torch.Adam, LR: 1e-3})
	must(c.t, err)
	c.step(c.net, optimizer) // creates moments to follow
	first, err := c.net.Clone(c.s)
	must(c.t, err)
	before, moments := c.look(c.net), c.moments(optimizer)
	o := net2net.Options{Batch: c.batch, Seed: 3, Start: start, Loss: c.loss()}
	change, err := net2net.Apply(c.net, action, o)
	if err != nil {
		if !strings.Contains(err.Error(), `use new_units = "copies"`) {
			c.t.Fatalf("%s with start %s: %v\n%s", action, start, err, c.net)
		}
		c.same("the refusal of "+action.String(), first, c.net)
		return false
	}
	if preserves {
		c.compare(action.String(), before, c.look(c.net), change)
	} else if was, now := c.lossOf(first), c.lossOf(c.net); now > was+1e-5*(1+math.Abs(was)) {
		c.t.Fatalf("%s with start %s: the loss rises from %v to %v\n%s", action, start, was, now, c.net)
	}
	c.whole(change, first)
	c.replay(change, first)

	optimizer, err = optimizer.Follow(c.s, c.net, change, net2net.Following{})
	must(c.t, err)
	c.followed(optimizer)
	c.extended(change, moments, c.moments(optimizer))
	grown, err := c.net.Clone(c.s)
	must(c.t, err)
	back, err := net2net.Revert(c.net, change)
	if err != nil {
		c.t.Fatalf("reverting %s: %v\n%s", action, err, c.net)
	}
	c.same("reverting "+action.String(), first, c.net)
	optimizer, err = optimizer.Follow(c.s, c.net, back, net2net.Following{})
	must(c.t, err)
	for name, was := range moments {
		c.alike("the reverted moments of "+name, was, c.moments(optimizer)[name])
	}
	c.step(c.net, optimizer)
	c.keepsLearned(grown, change)
	return true
}

// keepsLearned trains the grown network and reverts it: the remaining values are the trained values of the old units.
func (c *Case) keepsLearned(grown *model.Network, change *net2net.Change) {
	optimizer, err := net2net.NewOptimizer(c.s, grown, torch.OptimizerOptions{Rule: torch.SGD, LR: 0.01})
	must(c.t, err)
	c.step(grown, optimizer)
	trained := map[string][]float64{}
	for _, e := range grown.Trained() {
		trained[e.Name] = c.values(c.s, e.Tensor)
	}
	_, err = net2net.Revert(grown, change)
	must(c.t, err)
	for _, e := range grown.Trained() {
		at := slices.IndexFunc(change.Moves, func(m net2net.Move) bool { return m.From == e.Name })
		m := change.Moves[at]
		c.alike("the learned values of "+e.Name, c.values(c.s, e.Tensor), oldPart(trained[m.Name], e.Slot.Shape, m))
	}
}

// alike compares values to the bit.
func (c *Case) alike(what string, a, b []float64) {
	if !slices.Equal(a, b) {
		c.t.Fatalf("%s differ: %v and %v\n%s", what, a, b, c.net)
	}
}

// moments returns both moments of each parameter, by name and order.
func (c *Case) moments(o *net2net.Optimizer) map[string][]float64 {
	all := map[string][]float64{}
	for k, slot := range o.Slots {
		all[o.Names[k]+" first"], all[o.Names[k]+" second"] = c.values(c.s, slot.First), c.values(c.s, slot.Second)
	}
	return all
}

// extended checks moments after a change that splits no units: moments of old units are equal to the bit. First moments
// of new units are zero, and second moments are the mean.
func (c *Case) extended(change *net2net.Change, before, after map[string][]float64) {
	for _, e := range c.net.Trained() {
		at := slices.IndexFunc(change.Moves, func(m net2net.Move) bool { return m.Name == e.Name })
		m := change.Moves[at]
		if m.Fate == net2net.Kept {
			continue
		}
		for _, order := range []string{" first", " second"} {
			was, now := before[m.From+order], after[m.Name+order]
			want := 0.0
			if order == " second" {
				for _, v := range was {
					want += v / float64(len(was))
				}
			}
			old := 0
			each(e.Slot.Shape, m, func(k int, fresh bool) {
				switch {
				case fresh && math.Abs(now[k]-want) > 1e-5*want:
					c.t.Fatalf("%s%s of a new unit is %v, expected %v", m.Name, order, now[k], want)
				case !fresh && now[k] != was[old]:
					c.t.Fatalf("%s%s of an old unit changes from %v to %v", m.Name, order, was[old], now[k])
				case !fresh:
					old++
				}
			})
		}
	}
}

// each visits the values of a tensor, and states whether each belongs to a new unit.
func each(shape []int, m net2net.Move, visit func(k int, fresh bool)) {
	count, inner := model.Shape(shape).Count(), 1
	for _, size := range shape[min(2, len(shape)):] {
		inner *= size
	}
	columns := 1
	if len(shape) > 1 {
		columns = shape[1]
	}
	for k := range count {
		row, column := k/inner/columns, k/inner%columns
		visit(k, m.Rows != nil && m.Rows[row] < 0 || m.Columns != nil && m.Columns[column] < 0)
	}
}

// oldPart returns the values of the old units of a wider tensor, whose narrow shape is given.
func oldPart(values []float64, narrow []int, m net2net.Move) (old []float64) {
	shape := slices.Clone(narrow)
	if m.Rows != nil {
		shape[0] = len(m.Rows)
	}
	if m.Columns != nil {
		shape[1] = len(m.Columns)
	}
	each(shape, m, func(k int, fresh bool) {
		if !fresh {
			old = append(old, values[k])
		}
	})
	return old
}

// lossOf returns the loss of a network on the batch in train mode.
func (c *Case) lossOf(n *model.Network) float64 {
	p, err := n.Still(c.s)
	must(c.t, err)
	defer p.Close()
	loss := 0.0
	c.s.NoGrad(func() {
		loss, err = c.loss()(c.s, p.Forward(c.s, c.batch, true, nil)).Item()
	})
	must(c.t, err)
	return loss
}
