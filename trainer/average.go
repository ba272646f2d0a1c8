package trainer

import (
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// beginAverage makes the average of a new network's weights, with Options.EMA.
func (r *replica) beginAverage() (err error) {
	if r.EMA > 0 {
		r.average, err = r.Network.Clone(r.scope)
	}
	return err
}

// trained is the network that is evaluated and exported: the average with Options.EMA, else the network itself.
func (r *replica) trained() *model.Network {
	if r.average != nil {
		return r.average
	}
	return r.Network
}

// averaging returns how a step updates the average. The first step copies the weights.
func (r *replica) averaging(first bool) torch.Average {
	a := torch.Average{Decay: r.EMA, First: first}
	if r.average == nil {
		return a
	}
	a.Of, a.To = tensorsOf(r.Network), tensorsOf(r.average)
	return a
}

// tensorsOf lists the tensors of a network. Tied tensors occur once.
func tensorsOf(n *model.Network) (all []*torch.Tensor) {
	for _, e := range n.State() {
		if e.Slot.Tied == "" {
			all = append(all, e.Tensor)
		}
	}
	return all
}

// changeAverage repeats a change of the network on the average, which keeps its own function:
// new normalizations are calibrated on its own activations.
func (r *replica) changeAverage(c *net2net.Change, o net2net.Options) error {
	if r.average == nil {
		return nil
	}
	_, err := net2net.Replay(r.average, c, o)
	return err
}

// revertAverage reverts a change of the average.
func (r *replica) revertAverage(c *net2net.Change) error {
	if r.average == nil {
		return nil
	}
	_, err := net2net.Revert(r.average, c)
	return err
}
