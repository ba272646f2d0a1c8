package operators

import (
	"fmt"
	"sync"

	"graft/model"
)

// Predictor predicts the times of networks, and caches the predictions. It is safe for concurrent use.
type Predictor struct {
	lister *lister
	fit    fitted
	mutex  sync.Mutex
	known  map[asked]Prediction
}

// fitted predicts times from measured operators.
type fitted interface {
	predict([]Call) Prediction
	// part returns the seconds of a call in an evaluation and in a step.
	part(*Call) (forward, step float64)
}

// Part is the predicted time of an operator in a step.
type Part struct {
	Place   string  // path of the module that calls the operator
	Update  bool    // whether the optimizer updates a parameter; updates are in the order of the network's leaves
	Around  bool    // whether it is outside of the network, such as the loss
	Forward float64 // seconds in an evaluation
	Step    float64 // seconds in a training step
}

// Parts returns the times of the operators of a network's training step. Layers that graft computes together are one
// operator, whose place is the first layer. The last part is the rest of the step. The times of operators from a trace
// on a device that works beside the host are the larger ones of the host and of the device, so they may sum to more
// than the step.
func (p *Predictor) Parts(n *model.Network, rows int) ([]Part, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	calls, err := p.lister.list(n, rows)
	if err != nil {
		return nil, fmt.Errorf("predict the operators of a step: %w", err)
	}
	parts, made := make([]Part, len(calls), len(calls)+1), p.fit.predict(calls)
	rest := Part{Around: true, Forward: made.Forward, Step: made.Step}
	for k := range calls {
		c, to := &calls[k], &parts[k]
		*to = Part{Place: c.Place, Update: c.Name == Updating,
			Around: around(base(c.Name))}
		if to.Forward, to.Step = p.fit.part(c); to.Update {
			to.Forward = 0
		}
		rest.Forward, rest.Step = rest.Forward-to.Forward, rest.Step-to.Step
	}
	rest.Forward, rest.Step = max(0, rest.Forward), max(0, rest.Step)
	return append(parts, rest), nil
}

// asked identifies a prediction.
type asked struct {
	fingerprint string
	rows        int
}

// mostKnown limits the remembered predictions.
const mostKnown = 1 << 12

// NewPredictor creates a predictor, and fits rates per unit of work to the measured times in a table.
func NewPredictor(t *Table) *Predictor {
	return &Predictor{lister: newLister(Program), fit: t.fit(), known: map[asked]Prediction{}}
}

// NewDevicePredictor creates a predictor from the measured times of a device's operators.
func NewDevicePredictor(d *Device) *Predictor {
	return &Predictor{lister: newLister(d.Path), fit: d.fit(), known: map[asked]Prediction{}}
}

// Predict returns the time of a training step of a network on a batch. The fingerprint identifies the network's
// architecture; with an empty fingerprint, the prediction is not cached.
func (p *Predictor) Predict(n *model.Network, fingerprint string, rows int) (Prediction, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	at := asked{fingerprint, rows}
	if known, ok := p.known[at]; ok {
		return known, nil
	}
	calls, err := p.lister.list(n, rows)
	if err != nil {
		return Prediction{}, fmt.Errorf("predict a step: %w", err)
	}
	made := p.fit.predict(calls)
	if len(p.known) == mostKnown {
		clear(p.known)
	}
	if fingerprint != "" {
		p.known[at] = made
	}
	return made, nil
}
