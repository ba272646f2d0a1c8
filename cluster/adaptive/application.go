package adaptive

import (
	"fmt"
	"math"

	"graft/trainer/goodput"
)

// Application holds the measurements of a training task: its step times for each placement and batch size, and its
// training progress at each epoch. Progress is counted in steps at the smallest batch size.
type Application struct {
	Name   string
	Limits goodput.Limits
	Epochs int
	Alone  int // batch that jobs always compute on one device, in examples; zero means none

	size   int       // size class of its jobs; a negative value derives it from the time on one device
	runs   []trained // by batch
	epochs []float64 // progress at which each epoch begins; the last entry is the end
	times  *Times
}

// trained is a recorded run of an application with one batch.
type trained struct {
	batch               int
	progress, iteration []float64 // at the end of each epoch
	square, variance    []float64 // statistics of gradients in each epoch
}

// complete computes the values derived from the recorded runs.
func (a *Application) complete() error {
	a.epochs = make([]float64, a.Epochs+1)
	for e := range a.Epochs {
		least := math.Inf(1)
		for _, r := range a.runs {
			if len(r.progress) <= e {
				return fmt.Errorf("application %s: the run with batch size %d has %d epochs; expected at least %d",
					a.Name, r.batch, len(r.progress), a.Epochs)
			}
			least = min(least, r.progress[e])
		}
		a.epochs[e+1] = least
		if !(least >= a.epochs[e]) {
			return fmt.Errorf("application %s: the training progress decreases in epoch %d; expected progress that "+
				"never decreases", a.Name, e)
		}
	}
	return nil
}

// Times returns the step times.
func (a *Application) Times() *Times { return a.times }

// Progress returns the progress at the start of an epoch, in steps at the smallest batch size.
func (a *Application) Progress(epoch int) float64 { return a.epochs[epoch] }

// Noise returns the gradient statistics of an epoch for a batch size.
func (a *Application) Noise(batch, epoch int) (goodput.Noise, error) {
	low, high, err := a.around(batch)
	if err != nil {
		return goodput.Noise{}, err
	}
	return goodput.Noise{
		Square:   between(low, high, batch, low.square[epoch], high.square[epoch]),
		Variance: between(low, high, batch, low.variance[epoch], high.variance[epoch]),
	}, nil
}

// Iterations returns the number of steps from the start to the end of an epoch, at a constant batch size.
func (a *Application) Iterations(batch, epoch int) (float64, error) {
	low, high, err := a.around(batch)
	if err != nil {
		return 0, err
	}
	return between(low, high, batch, low.iteration[epoch], high.iteration[epoch]), nil
}

// around returns the runs with the nearest smaller and larger batches.
func (a *Application) around(batch int) (low, high *trained, err error) {
	for k := range a.runs {
		r := &a.runs[k]
		if r.batch <= batch {
			low = r
		}
		if r.batch >= batch {
			high = r
			break
		}
	}
	if low == nil || high == nil {
		return nil, nil, fmt.Errorf("application %s: batch size %d is outside the measured range, %d to %d", a.Name,
			batch, a.runs[0].batch, a.runs[len(a.runs)-1].batch)
	}
	return low, high, nil
}

// between interpolates linearly.
func between(low, high *trained, batch int, atLow, atHigh float64) float64 {
	if low == high {
		return atLow
	}
	a, b := float64(float64(batch-low.batch)*atHigh), float64(float64(high.batch-batch)*atLow)
	return (a + b) / float64(high.batch-low.batch)
}
