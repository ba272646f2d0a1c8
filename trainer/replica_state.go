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
		for _, t := range []*torch.Tensor{r.optimizer.Slots[k].First, r.optimizer.Slots[k].Second} {
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

// Prefixes of an optimizer's moments in a checkpoint.
const (
	firstMoment  = "first/"
	secondMoment = "second/"
)

// resumeOptimizer makes an optimizer that has taken counts steps of each parameter. Moment returns a saved moment by
// name; nil means zero.
func (r *replica) resumeOptimizer(counts []int64, moment func(name string) *torch.Tensor) error {
	trained := r.Network.Trained()
	if len(counts) != len(trained) {
		return fmt.Errorf("got %d step counts for %d parameters; expected one for each parameter", len(counts),
			len(trained))
	}
	group := torch.Group{OptimizerOptions: r.optimizerOptions()}
	r.optimizer = &net2net.Optimizer{}
	for k, e := range trained {
		group.Params = append(group.Params, e.Tensor)
		group.State = append(group.State, torch.State{Steps: counts[k], First: moment(firstMoment + e.Name),
			Second: moment(secondMoment + e.Name)})
		r.optimizer.Names = append(r.optimizer.Names, e.Name)
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
	for k, slot := range r.optimizer.Slots {
		for prefix, t := range map[string]*torch.Tensor{firstMoment: slot.First, secondMoment: slot.Second} {
			if t == nil {
				continue
			}
			w, err := t.Weights(prefix + r.optimizer.Names[k])
			if err != nil {
				return nil, err
			}
			set.Tensors = append(set.Tensors, w)
		}
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
	if err := r.resumeOptimizer(c.Counts, func(string) *torch.Tensor { return nil }); err != nil {
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
