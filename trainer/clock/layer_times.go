package clock

import (
	"fmt"

	"graft/model"
)

// LayerTime is the expected time of a layer, in seconds.
type LayerTime struct {
	Forward float64 // seconds in an evaluation batch
	// seconds in a training step: forward pass, backward pass and the layer's share of the optimizer update
	Step float64
}

// LayerTimes divides the time of a training step, and the time of an evaluation batch, among the layers of a network.
// It uses the measured operators or, without operators, the rates per unit of work, and lists the layers in execution
// order. The first entry holds the costs that belong to no layer. With operators, these are the batch, the loss, and
// the sums and concatenations of trees. With rates, these are the costs per call and per example, and the cost of
// reading the input. The entries add up to the time of the network, which is the measured time if the profile has one.
func (p *Profile) LayerTimes(n *model.Network, rows int) ([]LayerTime, error) {
	if !p.hasRates() && !p.HasOperators() {
		return nil, fmt.Errorf("profile %s has no cost rates and no measured operators, which divide times among "+
			"layers; measure more networks with 'graft profile', or use another profile", p.Name)
	}
	sheet, err := n.Sheet()
	if err != nil {
		return nil, fmt.Errorf("layer times of %s: %w", n.Name(), err)
	}
	var times []LayerTime
	if p.HasOperators() {
		times, err = p.timesByOperators(n, sheet, rows)
	} else {
		times = p.timesByRates(n, sheet, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("layer times of %s: %w", n.Name(), err)
	}
	return times, p.scaleTo(n, rows, times)
}

func (p *Profile) timesByRates(n *model.Network, sheet []model.Row, rows int) []LayerTime {
	call, none := Size{Bytes: inputBytes(n)}, Size{}
	batch, step := p.Costs.rates(Batches, n.Graph != nil), p.Costs.rates(Steps, n.Graph != nil)
	times := []LayerTime{{batch.seconds(call, rows), step.seconds(call, rows)}}
	for _, r := range sheet {
		size := sizeOfLayer(r).blocked(p.Costs.ChannelBlock)
		times = append(times, LayerTime{
			batch.seconds(size, rows) - batch.seconds(none, rows), // calls and examples count once
			step.seconds(size, rows) - step.seconds(none, rows),
		})
	}
	return times
}

// timesByOperators adds the predicted times of operators to the layers that call them. Layers that graft computes
// together with an earlier layer take no time of their own.
func (p *Profile) timesByOperators(n *model.Network, sheet []model.Row, rows int) ([]LayerTime, error) {
	parts, err := p.fitted().Parts(n, rows)
	if err != nil {
		return nil, err
	}
	times, open, of := make([]LayerTime, len(sheet)+1), map[string][]int{}, map[*model.Leaf]int{}
	for k := range sheet {
		r := &sheet[k]
		open[r.Path] = append(open[r.Path], k+1)
		if _, known := of[r.Leaf]; !known {
			of[r.Leaf] = k + 1
		}
	}
	owners := updated(n, of)
	for _, part := range parts {
		at := 0
		switch list := open[part.Place]; {
		case part.Around:
		case part.Update:
			at, owners = owners[0], owners[1:]
		case len(list) > 0:
			if at = list[0]; len(list) > 1 { // a layer that runs several times
				open[part.Place] = list[1:]
			}
		}
		times[at].Forward += part.Forward
		times[at].Step += part.Step
	}
	return times, nil
}

// updated returns the entry of the layer of each trained parameter, in the order of the network's leaves.
func updated(n *model.Network, of map[*model.Leaf]int) (owners []int) {
	for _, leaf := range n.Leaves() {
		for _, slot := range leaf.Layer.Slots() {
			if slot.Role.Trained() && slot.Tied == "" {
				owners = append(owners, of[leaf])
			}
		}
	}
	return owners
}

// scaleTo scales times to sum to the network's times.
func (p *Profile) scaleTo(n *model.Network, rows int, times []LayerTime) error {
	batch, err := p.seconds(Work{Kind: Batches, Rows: rows, Network: n})
	if err != nil {
		return err
	}
	step, err := p.seconds(Work{Kind: Steps, Rows: rows, Network: n})
	if err != nil {
		return err
	}
	var sum LayerTime
	for _, t := range times {
		sum.Forward += t.Forward
		sum.Step += t.Step
	}
	for k := range times {
		if sum.Forward > 0 {
			times[k].Forward *= batch / sum.Forward
		}
		if sum.Step > 0 {
			times[k].Step *= step / sum.Step
		}
	}
	return nil
}
