package surgerytest

import (
	"math"
	"slices"

	"graft/net2net"
	"graft/torch"
)

// age is the step before which the surgery of a case adds elements.
const age = 7

// twins returns optimizers over the same parameters with copies of an optimizer's state.
func (c *Case) twins(o *net2net.Optimizer, count int) []*net2net.Optimizer {
	steps, err := torch.Values[int64](o.Steps)
	must(c.t, err)
	twins := make([]*net2net.Optimizer, count)
	for at := range twins {
		group := torch.Group{OptimizerOptions: o.Options(0)}
		for k, slot := range o.Slots {
			group.Params = append(group.Params, slot.Param)
			group.State = append(group.State, torch.State{First: c.s.Clone(slot.First), Second: c.s.Clone(slot.Second),
				Steps: steps[k]})
		}
		twins[at] = &net2net.Optimizer{Optimizer: c.s.NewOptimizer(group), Names: o.Names}
	}
	return twins
}

// states checks the state of optimizers that follow a change with each value of Moments, given optimizers with the same
// state before the change.
func (c *Case) states(twins []*net2net.Optimizer, change *net2net.Change) {
	var followed []*net2net.Optimizer
	for k, m := range []net2net.Moments{net2net.Carry, net2net.ResetNew, net2net.Reset} {
		o, err := twins[k].Follow(c.s, c.net, change, net2net.Following{Moments: m, Births: true, Step: age})
		must(c.t, err)
		followed = append(followed, o)
	}
	moves := map[string]net2net.Move{}
	for _, m := range change.Moves {
		moves[m.Name] = m
	}
	for k, name := range followed[0].Names {
		c.stateOf(k, moves[name], followed)
	}
}

// stateOf checks a parameter's state after Carry, ResetNew and Reset.
func (c *Case) stateOf(k int, m net2net.Move, followed []*net2net.Optimizer) {
	fresh := addedBy(m, followed[0].Slots[k].Param.Shape())
	isWhole := m.Fate == net2net.New
	var first, second, born [3][]float64
	var steps [3]int64
	for at, o := range followed {
		first[at], second[at] = c.values(c.s, o.Slots[k].First), c.values(c.s, o.Slots[k].Second)
		counts, err := torch.Values[int64](o.Steps)
		must(c.t, err)
		steps[at] = counts[k]
		born[at] = slices.Repeat([]float64{math.Inf(-1)}, len(fresh))
		if o.Born != nil && o.Born[k] != nil {
			born[at] = c.values(c.s, o.Born[k])
		}
	}
	mean, old := 0.0, 0
	for at, v := range second[0] {
		if !fresh[at] {
			mean, old = mean+v, old+1
		}
	}
	mean /= max(1, float64(old))
	for at, added := range fresh {
		want, wantSecond := first[0][at], second[0][at]
		if added {
			want, wantSecond = 0, mean
		}
		if isWhole {
			wantSecond = 0
		}
		if first[1][at] != want || math.Abs(second[1][at]-wantSecond) > 1e-5*math.Abs(wantSecond) ||
			!added && second[1][at] != wantSecond {
			c.t.Fatalf("%s (%s) has moments %v and %v at %d after reset-new; expected %v and %v", m.Name, m.Fate,
				first[1][at], second[1][at], at, want, wantSecond)
		}
		if first[2][at] != 0 || second[2][at] != 0 {
			c.t.Fatalf("%s has moments %v and %v after reset", m.Name, first[2][at], second[2][at])
		}
		for _, b := range born {
			if added != (b[at] == age) || !added && b[at] > -1e9 {
				c.t.Fatalf("%s (%s) has an element born in step %v at %d; it is new: %v", m.Name, m.Fate, b[at], at,
					added)
			}
		}
	}
	if isWhole && steps[1] != 0 || !isWhole && steps[1] != steps[0] || steps[2] != 0 {
		c.t.Fatalf("%s (%s) has step counts %v after carry, reset-new and reset", m.Name, m.Fate, steps)
	}
}

// addedBy returns which elements of a tensor a move has added. An element is old if it is the first one that comes from
// its place in the old tensor.
func addedBy(m net2net.Move, shape []int) []bool {
	fresh, seen := make([]bool, count(shape)), map[[4]int]bool{}
	for at := range fresh {
		place, rest := [4]int{}, at
		for d := len(shape) - 1; d >= 0; d-- {
			place[d], rest = rest%shape[d], rest/shape[d]
		}
		inside := true
		switch m.Fate {
		case net2net.New:
			inside = false
		case net2net.Padded:
			for d := range 2 {
				place[2+d] -= m.Pad[d]
				inside = inside && place[2+d] >= 0 && place[2+d] < shape[2+d]-2*m.Pad[d]
			}
		case net2net.Copied, net2net.Split:
			if m.Rows != nil {
				place[0] = m.Rows[place[0]]
			}
			if m.Columns != nil {
				place[1] = m.Columns[place[1]]
			}
		}
		fresh[at] = !inside || seen[place]
		seen[place] = true
	}
	return fresh
}

// count returns the number of elements of a shape.
func count(shape []int) int {
	all := 1
	for _, size := range shape {
		all *= size
	}
	return all
}
