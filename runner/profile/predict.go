package profile

import (
	"fmt"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/runs"
	"graft/runner/app"
	"graft/trainer/costs"
)

// PredictOptions configures [Predict].
type PredictOptions struct {
	Model costs.Transformer // model to train
	Plan  costs.Plan        // division among devices; MicroBatches is computed from Batch
	Batch int               // sequences per iteration of all replicas
}

// Prediction holds the predicted time of a training iteration of a language model, and its parts. Times are in seconds.
type Prediction struct {
	Hardware   string  `json:"hardware"`             // name of the hardware
	About      string  `json:"about"`                // description of the hardware
	Devices    int     `json:"devices"`              // number of devices
	Batches    int     `json:"micro_batches"`        // micro batches of a replica per iteration
	Parameters float64 `json:"parameters"`           // parameters of the model, without biases and norms
	Seconds    float64 `json:"seconds"`              // time of an iteration
	Passes     float64 `json:"passes_seconds"`       // time of all forward and backward passes, with waits
	Gradients  float64 `json:"gradients_seconds"`    // time to sum the gradients over the replicas
	Optimizer  float64 `json:"optimizer_seconds"`    // time of the optimizer step
	Rate       float64 `json:"sequences_per_second"` // throughput in sequences
	Operations float64 `json:"operations"`           // floating-point operations, without recomputed ones
	Work       []Work  `json:"operators"`            // operators of a micro batch, in the order of execution
	Error      *Error  `json:"error"`                // error of predictions; null outside of the checked range
}

// Work is an operator of a micro batch, with its time on the device. The time excludes the launch of the operator by
// the host.
type Work struct {
	Pass       string  `json:"pass"`       // pass that runs the operator; each layer runs the passes of a layer
	Name       string  `json:"name"`       // name of the operator
	Kind       string  `json:"kind"`       // traffic, product or all-reduce
	Operations float64 `json:"operations"` // floating-point operations
	Bytes      float64 `json:"bytes"`      // bytes moved through memory, or the message of an all-reduce
	Seconds    float64 `json:"seconds"`    // time on the device
}

// Error holds the prediction errors for measured iterations of similar models on similar numbers of devices. Errors are
// fractions of the measured time.
type Error struct {
	On     string  `json:"on"`           // description of the measured iterations
	Rows   int     `json:"rows"`         // number of measured iterations
	Mean   float64 `json:"mean"`         // mean error
	Median float64 `json:"median"`       // median error
	Ninth  float64 `json:"ninth_decile"` // 90th percentile of the errors
}

// Predict predicts the time of a training iteration. The argument hardware is the name of built-in hardware or the path
// of a file.
func Predict(env *app.Env, hardware string, o PredictOptions) (*Prediction, error) {
	h, err := costs.Find(env.Files, hardware)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if o.Plan.MicroBatches, err = o.microBatches(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	it, err := h.Iteration(o.Model, o.Plan)
	if err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	passes, err := costs.Passes(o.Model, o.Plan)
	if err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	p := &Prediction{Hardware: h.Name, About: h.About, Devices: o.Plan.Devices(), Batches: o.Plan.MicroBatches,
		Parameters: it.Parameters, Seconds: it.Seconds, Passes: it.Passes, Gradients: it.Gradients,
		Optimizer: it.Optimizer, Rate: float64(o.Batch) / it.Seconds, Operations: it.Operations,
		Work: workOf(h, passes)}
	if c, checked := h.CheckOf(o.Model, o.Plan); checked {
		p.Error = &Error{On: c.On, Rows: c.Rows, Mean: c.Mean, Median: c.Median, Ninth: c.Ninth}
	}
	return p, nil
}

// microBatches returns the number of micro batches of a replica.
func (o *PredictOptions) microBatches() (int, error) {
	for _, size := range []struct {
		option string
		value  int
	}{{"batch", o.Batch}, {"micro-batch", o.Plan.MicroBatch}, {"data", o.Plan.Data}} {
		if size.value < 1 || size.value > mostSequences {
			return 0, fmt.Errorf("option %q: got %d; expected 1 to %d", size.option, size.value, mostSequences)
		}
	}
	if each := o.Plan.MicroBatch * o.Plan.Data; o.Batch%each != 0 {
		return 0, fmt.Errorf("option %q: a batch of %d sequences cannot be divided among %s in micro "+
			"batches of %d", "batch", o.Batch, words.Plural(o.Plan.Data, "replica"), o.Plan.MicroBatch)
	}
	return o.Batch / (o.Plan.MicroBatch * o.Plan.Data), nil
}

// mostSequences is the maximum number of sequences of an iteration.
const mostSequences = 1 << 24

func workOf(h *costs.Hardware, passes []costs.Pass) (work []Work) {
	for _, pass := range passes {
		for k := range pass.Operators {
			o := &pass.Operators[k]
			work = append(work, Work{Pass: pass.Name, Name: o.Name, Kind: o.Kind.String(), Operations: o.Operations(),
				Bytes: o.Moved(), Seconds: h.DeviceSeconds(o)})
		}
	}
	return work
}
