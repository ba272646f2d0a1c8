package trainer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/torch/weights"
)

func (r *replica) optimizerOptions() torch.OptimizerOptions {
	o := r.Optimizer
	o.Fused = !r.Exact
	return o
}

// snapshot returns the leader's state outside tensors, and the shapes of its tensors.
func (r *replica) snapshot() (*snapshot, error) {
	c := &snapshot{Options: r.Options, DType: r.Network.Placement().DType, Network: r.Network.Form().Plain()}
	c.Options.Adapt, c.Options.Timeline = Adapt{}, Timeline{} // only the leader uses them
	if r.logits != nil {
		c.Logits = r.logits.Shape()
	}
	var err error
	if c.Generator, err = r.random.State(); err != nil {
		return nil, err
	}
	counts, err := torch.Values[int64](r.optimizer.Steps)
	if err != nil {
		return nil, err
	}
	for _, k := range r.slots() {
		c.Counts = append(c.Counts, counts[k])
		if r.optimizer.Born != nil && r.optimizer.Born[k] != nil {
			c.Born = append(c.Born, r.optimizer.Names[k])
		}
	}
	return c, nil
}

// slots returns the indices of the trained tensors in the optimizer.
func (r *replica) slots() []int {
	places := map[string]int{}
	for k, name := range r.optimizer.Names {
		places[name] = k
	}
	var slots []int
	for _, e := range r.Network.Trained() {
		slots = append(slots, places[e.Name])
	}
	return slots
}

// tensors returns the tensors that training changes or reads, in an order that depends only on the network's form and
// the options.
func (r *replica) tensors() []*torch.Tensor {
	var all []*torch.Tensor
	for _, e := range r.Network.State() {
		all = append(all, e.Tensor)
	}
	if r.average != nil {
		all = append(all, tensorsOf(r.average)...)
	}
	for _, k := range r.slots() {
		for _, t := range r.slotTensors(k) {
			if t != nil {
				all = append(all, t)
			}
		}
	}
	if r.logits != nil {
		all = append(all, r.logits)
	}
	return all
}

// Prefixes of the tensors of an optimizer's slots in a checkpoint.
const (
	firstMoment  = "first/"
	secondMoment = "second/"
	births       = "born/" // steps in which elements were added, during a warm-up of new parameters
)

// slotTensors returns the tensors of a slot of the optimizer, which are its moments and births; nil for a missing one.
func (r *replica) slotTensors(k int) [3]*torch.Tensor {
	slot := [3]*torch.Tensor{r.optimizer.Slots[k].First, r.optimizer.Slots[k].Second}
	if r.optimizer.Born != nil {
		slot[2] = r.optimizer.Born[k]
	}
	return slot
}

// optimizerTensors returns the tensors of the optimizer under their names in a checkpoint.
func (r *replica) optimizerTensors() map[string]*torch.Tensor {
	all := map[string]*torch.Tensor{}
	for k, name := range r.optimizer.Names {
		for at, t := range r.slotTensors(k) {
			if t != nil {
				all[[]string{firstMoment, secondMoment, births}[at]+name] = t
			}
		}
	}
	return all
}

// resumeOptimizer makes an optimizer that has taken counts steps of each parameter. Saved returns a saved tensor by
// name; nil means zero for a moment, and no births.
func (r *replica) resumeOptimizer(counts []int64, saved func(name string) *torch.Tensor) error {
	trained := r.Network.Trained()
	if len(counts) != len(trained) {
		return fmt.Errorf("got %d step counts for %d parameters; expected one for each parameter", len(counts),
			len(trained))
	}
	group := torch.Group{OptimizerOptions: r.optimizerOptions()}
	r.optimizer = &net2net.Optimizer{}
	warm, born := false, make([]*torch.Tensor, len(trained))
	for k, e := range trained {
		group.Params = append(group.Params, e.Tensor)
		group.State = append(group.State, torch.State{Steps: counts[k], First: saved(firstMoment + e.Name),
			Second: saved(secondMoment + e.Name)})
		r.optimizer.Names = append(r.optimizer.Names, e.Name)
		born[k] = saved(births + e.Name)
		warm = warm || born[k] != nil
	}
	if warm {
		r.optimizer.Born = born
	}
	r.optimizer.Optimizer = r.scope.NewOptimizer(group)
	return r.scope.Err()
}

// moments returns the optimizer's tensors as safetensors.
func (r *replica) moments() ([]byte, error) {
	set, err := r.momentSet()
	if err != nil {
		return nil, err
	}
	return safetensors(set)
}

// momentSet returns the optimizer's tensors under the names of its parameters.
func (r *replica) momentSet() (*weights.Set, error) {
	set := &weights.Set{}
	for name, t := range r.optimizerTensors() {
		w, err := t.Weights(name)
		if err != nil {
			return nil, err
		}
		set.Tensors = append(set.Tensors, w)
	}
	slices.SortFunc(set.Tensors, func(a, b weights.Tensor) int { return strings.Compare(a.Name, b.Name) })
	return set, nil
}

func safetensors(set *weights.Set) ([]byte, error) {
	var b bytes.Buffer
	err := weights.WriteSafetensors(&b, set)
	return b.Bytes(), err
}

// adopt makes the replica a copy of the leader's, whose tensors are broadcast.
func (r *replica) adopt(c snapshot, device torch.Device) error {
	n, err := model.FromForm(c.Network)
	if err != nil {
		return err
	}
	r.Network = n
	if err := n.Materialize(r.scope, model.Placement{Device: device, DType: c.DType,
		Random: r.scope.NewGenerator(torch.CPU, 0)}); err != nil {
		return err
	}
	if err := r.setUp(); err != nil {
		return err
	}
	if err := r.random.Restore(c.Generator); err != nil {
		return err
	}
	if err := r.resumeOptimizer(c.Counts, c.births(r)); err != nil {
		return err
	}
	if err := r.beginAverage(); err != nil {
		return err
	}
	if c.Logits != nil {
		r.logits = r.scope.Zeros(torch.Float32, device, c.Logits...)
	}
	return nil
}

// births returns a function that makes places for the births of the leader's parameters, by name.
func (c *snapshot) births(r *replica) func(name string) *torch.Tensor {
	places := map[string]*torch.Tensor{}
	for _, e := range r.Network.Trained() {
		if slices.Contains(c.Born, e.Name) {
			places[births+e.Name] = r.scope.Zeros(torch.Float64, r.Network.Placement().Device, e.Tensor.Shape()...)
		}
	}
	return func(name string) *torch.Tensor { return places[name] }
}

// dropBirths ends the warm-up of new parameters.
func (r *replica) dropBirths() {
	for _, t := range r.optimizer.Born {
		if t != nil {
			r.scope.Free(t)
		}
	}
	r.optimizer.Born = nil
}
