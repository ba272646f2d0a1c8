package clock

import (
	"errors"
	"fmt"
	"slices"

	"graft/internal/validate"
	"graft/model"
)

// Costs holds the times of decisions and surgery, and the rates per unit of work that predict the times of networks
// that were not measured.
type Costs struct {
	Step  Rates // rates of a training step
	Batch Rates // rates of an evaluation batch
	// GraphStep and GraphBatch are the rates of networks that run a graph of operators, such as imported networks. If
	// they are zero, Step and Batch apply.
	GraphStep, GraphBatch Rates
	// ChannelBlock is 8 or 16: libraries round the channels of convolutions up to a multiple of this number, and the
	// rates charge the operations for the rounded number. Zero means no rounding.
	ChannelBlock    int
	DecisionSeconds float64 // time of a decision in seconds
	DecisionSpread  float64 // half the interquartile range of the time of a decision, in seconds
	// time of a surgery operation in seconds, including calibration and the change of the optimizer
	SurgerySeconds float64
	SurgerySpread  float64 // half the interquartile range of the time of surgery, in seconds
	// fraction of a step's time that additional devices do not shorten; zero means none
	CommunicationShare float64
	// ExchangeSeconds is the time that several devices take to exchange the gradients of a step. If it is set, the
	// time of a step follows from each device's share of the images. If it is zero, the time of a step, except the
	// fraction CommunicationShare, is divided by the number of devices.
	ExchangeSeconds float64 `json:",omitempty"`
}

// Rates is a linear model of the time of a step or a batch: the sum of rates multiplied by amounts. A rate of zero
// costs nothing. No rate is negative, so a larger amount never takes less time.
type Rates struct {
	CallSeconds    float64 // seconds per call
	ExampleSeconds float64 // seconds per example
	LayerSeconds   float64 // seconds per layer with weights
	// seconds per floating-point operation of a forward pass, without grouped convolutions
	OperationSeconds float64
	GroupedSeconds   float64 // seconds per floating-point operation of grouped convolutions in a forward pass
	ByteSeconds      float64 // seconds per byte of the input and of the activations
	ParameterSeconds float64 // seconds per parameter
}

// rateCount is the number of rates.
const rateCount = 7

// List returns the rates in the order of RateNames.
func (r Rates) List() [rateCount]float64 {
	return [rateCount]float64{r.CallSeconds, r.ExampleSeconds, r.LayerSeconds, r.OperationSeconds, r.GroupedSeconds,
		r.ByteSeconds, r.ParameterSeconds}
}

func (s Size) counts(rows int) [rateCount]float64 {
	n := float64(rows)
	return [rateCount]float64{1, n, float64(s.Layers), n * float64(s.Operations), n * float64(s.Grouped),
		n * float64(s.Bytes), float64(s.Parameters)}
}

func (r Rates) seconds(of Size, rows int) float64 {
	rates, counts := r.List(), of.counts(rows)
	return dot(rates[:], counts[:])
}

// Validate returns an error that lists every invalid value.
func (c Costs) Validate() error {
	faults := append(c.Step.faults("step"), c.Batch.faults("batch")...)
	faults = append(append(faults, c.GraphStep.faults("graph_step")...), c.GraphBatch.faults("graph_batch")...)
	faults = append(faults, positive("decision_seconds", c.DecisionSeconds),
		positive("decision_spread", c.DecisionSpread), positive("surgery_seconds", c.SurgerySeconds),
		positive("surgery_spread", c.SurgerySpread), positive("exchange_seconds", c.ExchangeSeconds))
	if !(c.CommunicationShare >= 0 && c.CommunicationShare <= 1) {
		faults = append(faults, fmt.Errorf("communication_share is %v; must be between 0 and 1", c.CommunicationShare))
	}
	if c.ChannelBlock != 0 && !slices.Contains(model.Blocks[:], c.ChannelBlock) {
		faults = append(faults, fmt.Errorf("channel_block is %d; must be 0 or one of %v", c.ChannelBlock, model.Blocks))
	}
	if c.CommunicationShare > 0 && c.ExchangeSeconds > 0 {
		faults = append(faults, errors.New("communication_share and exchange_seconds are both set; remove one of them"))
	}
	if (c.Step == Rates{}) != (c.Batch == Rates{}) {
		faults = append(faults, errors.New("step: only one of step and batch has cost rates; "+
			"set cost rates for both, or for neither"))
	}
	if (c.GraphStep == Rates{}) != (c.GraphBatch == Rates{}) || c.GraphStep != (Rates{}) && c.Step == (Rates{}) {
		faults = append(faults, errors.New("cost rates of graph_step and graph_batch require "+
			"each other and the rates of step and batch; set all four, or remove graph_step and graph_batch"))
	}
	return errors.Join(faults...)
}

// rates returns the rates for a kind of work and of network.
func (c Costs) rates(k Kind, graph bool) Rates {
	if k == Batches {
		return ratesOf(kinds[Rates]{c.Batch, c.GraphBatch}, graph)
	}
	return ratesOf(kinds[Rates]{c.Step, c.GraphStep}, graph)
}

// RateNames returns the keys of the rates in a profile file, in order.
func RateNames() []string {
	return []string{"call_seconds", "example_seconds", "layer_seconds", "operation_seconds", "grouped_seconds",
		"byte_seconds", "parameter_seconds"}
}

func (r Rates) faults(table string) (found validate.Faults) {
	for k, name := range RateNames() {
		found = append(found, positive(table+"."+name, r.List()[k]))
	}
	return found
}

// mostSeconds limits the costs of a profile, so that sums of them fit into a time.Duration.
const mostSeconds = 1e7

// positive returns an error for a negative or too large cost.
func positive(name string, seconds float64) error {
	if seconds >= 0 && seconds <= mostSeconds {
		return nil
	}
	return fmt.Errorf("%s is %v; must be from 0 to %.0e", name, seconds, mostSeconds)
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

func scale(v []float64, by float64) {
	for k := range v {
		v[k] *= by
	}
}

// Size holds the amounts of work per example that determine the costs of a network.
type Size struct {
	Layers int // number of layers with weights, counted each time they run
	// floating-point operations of a forward pass in linear layers and in convolutions without groups; a multiply-add
	// counts as two
	Operations int64
	// floating-point operations of a forward pass in grouped convolutions, such as depthwise convolutions, which take
	// far more time per operation than other convolutions
	Grouped    int64
	Bytes      int64 // bytes of the input and the activations in float32, without flattened copies
	Parameters int64 // number of parameters that an optimizer trains
	// Padding8 and Padding16 are the numbers of additional operations of convolutions if their channels are rounded up
	// to a multiple of 8 (Padding8) or 16 (Padding16).
	Padding8, Padding16 int64
}

// blocked returns the size with operations counted on rounded channels.
func (s Size) blocked(block int) Size {
	switch block {
	case 8:
		s.Operations += s.Padding8
	case 16:
		s.Operations += s.Padding16
	}
	s.Padding8, s.Padding16 = 0, 0
	return s
}

// SizeOf returns the amounts of work per example, summed over the layers of a network.
func SizeOf(n *model.Network) (Size, error) {
	rows, err := n.Sheet()
	if err != nil {
		return Size{}, err
	}
	size := Size{Bytes: inputBytes(n)}
	for _, r := range rows {
		of := sizeOfLayer(r)
		size.Layers += of.Layers
		size.Operations += of.Operations
		size.Grouped += of.Grouped
		size.Bytes += of.Bytes
		size.Parameters += of.Parameters
		size.Padding8 += of.Padding8
		size.Padding16 += of.Padding16
	}
	return size, nil
}

func inputBytes(n *model.Network) int64 { return 4 * int64(n.Input.Count()) }

// sizeOfLayer holds the quantities of one layer, for one example.
func sizeOfLayer(r model.Row) Size {
	size := Size{Parameters: int64(r.Parameters), Padding8: r.Padding[0], Padding16: r.Padding[1]}
	if len(r.Leaf.Layer.Slots()) > 0 {
		size.Layers = 1
	}
	switch layer := r.Leaf.Layer.(type) {
	case model.Flatten:
		return size
	case model.Conv2d:
		if layer.Groups > 1 {
			size.Grouped = r.Operations
		} else {
			size.Operations = r.Operations
		}
	case model.Linear, model.Held:
		size.Operations = r.Operations
	}
	size.Bytes = r.ActivationBytes
	return size
}
