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
// It uses the profile's rates per unit of work, and lists the layers in execution order. The first entry holds the
// costs that belong to no layer: the costs per call and per example, and the cost of reading the input. The entries add
// up to the time of the network, which is the measured time if the profile has one.
func (p *Profile) LayerTimes(n *model.Network, rows int) ([]LayerTime, error) {
	if !p.hasRates() {
		return nil, fmt.Errorf("profile %s has no cost rates, which divide times among layers; "+
			"measure more networks with 'graft profile', or use another profile", p.Name)
	}
	sheet, err := n.Sheet()
	if err != nil {
		return nil, fmt.Errorf("layer times of %s: %w", n.Name(), err)
	}
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
	return times, p.scaleTo(n, rows, times)
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
