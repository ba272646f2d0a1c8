package costs

import (
	"errors"
	"fmt"

	"graft/internal/validate"
)

// Plan describes how the training of a model is divided among devices. Devices are numbered first within a
// tensor-parallel group, then over the replicas, then over the stages of the pipeline. The zero Plan is invalid.
type Plan struct {
	Tensor       int  // devices that share each layer
	Data         int  // replicas of the model
	Pipeline     int  // stages of the pipeline
	MicroBatch   int  // sequences of a micro batch
	MicroBatches int  // micro batches of a replica per iteration
	Recompute    bool // runs the forward pass of each layer again before its backward pass; false keeps activations
}

// Devices returns the number of devices of a plan.
func (p *Plan) Devices() int { return p.Tensor * p.Data * p.Pipeline }

// Iteration is the predicted time of a training iteration, and its parts.
type Iteration struct {
	Seconds   float64 // time of the iteration: the sum of Passes, Gradients and Optimizer
	Passes    float64 // time of all forward and backward passes, including the waits of the pipeline
	Gradients float64 // time to sum the gradients over the replicas
	Optimizer float64 // time of the optimizer step
	Layer     float64 // time of a layer for one micro batch, forward and backward
	Head      float64 // time of the output layer and the loss for one micro batch, forward and backward
	Embedding float64 // time of the input layer for one micro batch, forward and backward
	Message   float64 // time of a message between stages; zero without a pipeline
	// floating-point operations of all devices, not counting the recomputation of activations
	Operations float64
	Parameters float64 // number of parameters of the model, without biases and norms
}

// Iteration predicts the time of a training iteration.
func (h *Hardware) Iteration(t Transformer, p Plan) (Iteration, error) {
	if err := p.check(&t); err != nil {
		return Iteration{}, fmt.Errorf("predict an iteration: %w", err)
	}
	w := part{&t, p.MicroBatch, p.Tensor}
	passes := w.passes()
	loads := h.loads(&passes)
	layer := h.stage(loads[layerForward], loads[layerBackward])
	if p.Recompute { // the forward pass that runs again belongs to the backward pass
		layer = h.stage(loads[layerForward], loads[layerForward].plus(loads[layerBackward]))
	}
	head := h.stage(loads[headForward], loads[headBackward])
	embedding := h.stage(loads[embeddingForward], loads[embeddingBackward])
	it := Iteration{Layer: layer.total(), Head: head.total(), Embedding: embedding.total(), Parameters: w.parameters(),
		Operations: w.operations(&passes) * float64(p.Data) * float64(p.MicroBatches)}
	if p.Pipeline > 1 {
		it.Message = w.activation() / h.Network.Message
	}
	stages := make([]stage, p.Pipeline)
	for k := range stages {
		stages[k] = layer.times(t.Layers / p.Pipeline)
	}
	stages[0] = stages[0].plus(embedding)
	stages[len(stages)-1] = stages[len(stages)-1].plus(head)
	it.Passes = oneForwardOneBackward(stages, p.MicroBatches, it.Message)
	parameters := w.layerParameters()*float64(t.Layers/p.Pipeline) + w.embeddingParameters()
	it.Gradients = h.AllReduceSeconds(parameters*Half.Width(), Group{Ranks: p.Data, Stride: p.Tensor})
	it.Optimizer = h.Seconds([]Operator{traffic("Adam", adamBytes*parameters)})
	it.Seconds = it.Passes + it.Gradients + it.Optimizer
	return it, nil
}

// adamBytes is the traffic of Adam with mixed precision per parameter: it reads and writes the parameter and two
// moments in single precision, reads the gradient and writes the parameter in half precision.
const adamBytes = 3*(4+4) + 2 + 2

// loads returns the work of each pass.
func (h *Hardware) loads(all *passes) (l [passCount]load) {
	for k := range all {
		l[k] = h.load(all[k].Operators)
	}
	return l
}

// stage returns the times of a forward and a backward pass. The host launches both without a pause, so device and host
// are compared over both; the time is divided in proportion to the device's time.
func (h *Hardware) stage(forward, back load) stage {
	both := forward.plus(back)
	total, share := h.blend(both), 0.5
	if both.device > 0 {
		share = forward.device / both.device
	}
	return stage{total * share, total * (1 - share)}
}

// mostSize is the maximum of each size of models and plans; products of four sizes fit into a float64 exactly enough.
const mostSize = 1 << 24

func (p *Plan) check(t *Transformer) error {
	var f validate.Faults
	for _, size := range []struct {
		name  string
		value int
	}{{"hidden size", t.Hidden}, {"heads", t.Heads}, {"layers", t.Layers}, {"sequence length", t.Sequence},
		{"vocabulary", t.Vocabulary}, {"tensor parallelism", p.Tensor}, {"data parallelism", p.Data},
		{"pipeline parallelism", p.Pipeline}, {"micro batch", p.MicroBatch}, {"micro batches", p.MicroBatches}} {
		f.Unless(size.value >= 1 && size.value <= mostSize, "%s: got %d; expected 1 to %d", size.name, size.value,
			mostSize)
	}
	f.Unless(t.Padding >= 0 && t.Padding <= mostSize, "vocabulary padding: got %d; expected 0 to %d", t.Padding,
		mostSize)
	if len(f) > 0 {
		return errors.Join(f...)
	}
	f.Unless(t.Hidden%t.Heads == 0, "the hidden size (%d) is not a multiple of the number of heads (%d)", t.Hidden,
		t.Heads)
	f.Unless(t.Heads%p.Tensor == 0, "the number of heads (%d) is not a multiple of the tensor parallelism (%d)",
		t.Heads, p.Tensor)
	f.Unless(t.Layers%p.Pipeline == 0, "the number of layers (%d) is not a multiple of the number of pipeline stages "+
		"(%d)", t.Layers, p.Pipeline)
	f.Unless(p.Tensor*p.Pipeline <= mostDevices/p.Data, "the plan has %d x %d x %d devices; expected at most %d",
		p.Tensor, p.Data, p.Pipeline, mostDevices)
	f.Unless(p.Pipeline*p.MicroBatches <= mostPasses, "%d micro batches in %d stages take more than %d passes; "+
		"use fewer or larger micro batches", p.MicroBatches, p.Pipeline, mostPasses)
	return errors.Join(f...)
}
