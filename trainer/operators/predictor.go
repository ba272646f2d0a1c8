package operators

import (
	"fmt"
	"sync"

	"graft/model"
)

// Predictor predicts the times of networks, and caches the predictions. It is safe for concurrent use.
type Predictor struct {
	lister *lister
	fit    interface{ predict([]Call) Prediction }
	mutex  sync.Mutex
	known  map[asked]Prediction
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
