package trainer

import (
	"graft/model"
	"graft/torch"
)

// likeness is what a follower needs to make room for the leader's tensors, and all
// of the leader's state that is in no tensor.
func (j *Job) likeness() (*likeness, error) {
	l := &likeness{Options: j.Options, DType: j.Network.Placement().DType, Network: j.Network.Form().Plain()}
	l.Options.Adapt, l.Options.Timeline = Adapt{}, Timeline{} // the leader's alone
	if j.lessons != nil {
		l.Lessons = j.lessons.Shape()
	}
	var err error
	if l.Generator, err = j.random.State(); err != nil {
		return nil, err
	}
	counts, err := torch.Values[int64](j.optimizer.Steps)
	if err != nil {
		return nil, err
	}
	for _, k := range j.slots() {
		l.Counts = append(l.Counts, counts[k])
	}
	return l, nil
}

// slots is the places of the trained tensors in the optimizer.
func (j *Job) slots() []int {
	places := map[string]int{}
	for k, name := range j.optimizer.Names {
		places[name] = k
	}
	var slots []int
	for _, e := range j.Network.Trained() {
		slots = append(slots, places[e.Name])
	}
	return slots
}

// tensors is all that training changes or reads, in an order that depends on the
// networks' forms and the options alone.
func (j *Job) tensors() []*torch.Tensor {
	all := held(j.Network)
	for _, k := range j.slots() {
		for _, t := range []*torch.Tensor{j.optimizer.Slots[k].First, j.optimizer.Slots[k].Second} {
			if t != nil {
				all = append(all, t)
			}
		}
	}
	if j.lessons != nil {
		all = append(all, j.lessons)
	}
	return all
}

func held(n *model.Network) []*torch.Tensor {
	var all []*torch.Tensor
	for _, e := range n.State() {
		all = append(all, e.Tensor)
	}
	return all
}
