package trainer

import (
	"fmt"
	"math"
	"time"

	"graft/results"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/goodput"
)

// batching is the part of a checkpoint's position that holds gradient noise and the adaptive batch.
type batching struct {
	Batching batchState `json:"batching,omitzero"`
}

// batchState is the state of noise measurement and the adaptive batch. It is zero in a job that measures no noise.
type batchState struct {
	Size     int             `json:"size"`    // images per step; zero means the option's value
	Changes  int             `json:"changes"` // number of changes of the size
	Chosen   int             `json:"chosen"`  // epoch of the last choice
	Noise    goodput.Average `json:"noise"`
	Progress float64         `json:"progress"` // in steps of the smallest batch
	Since    float64         `json:"since"`    // progress at the last start of the learning rate schedule
	Busy     time.Duration   `json:"busy_ns"`  // time of the epoch's steps, on the clock
	Images   int             `json:"images"`   // images of these steps
	Times    []timed         `json:"times,omitempty"`
}

// enough is the minimum number of measurements before the batch is chosen. With fewer, the estimate of the squared
// gradient is unreliable, because it is small compared with its noise.
const enough = goodput.HalfLife / 2

// batch is the current number of images per step.
func (c *core) batch() int {
	if c.Batching.Size > 0 {
		return c.Batching.Size
	}
	return c.Batch
}

// scale is the batch divided by the smallest batch.
func (c *core) scale() float64 { return float64(c.batch()) / float64(c.Batch) }

// noise is the gradient noise measured so far, scaled to the smallest batch.
func (c *core) noise() goodput.Noise { return c.Batching.Noise.Noise(c.Batch) }

// gain is the progress of a step, in steps of the smallest batch.
func (c *core) gain() float64 { return c.noise().Gain(c.scale()) }

// rateFactor is the factor that scales the learning rate for the batch.
func (c *core) rateFactor() float64 {
	switch c.AdaptiveBatch.Scaling {
	case AdaScale:
		return c.gain()
	case SquareRoot:
		return math.Sqrt(c.scale())
	case LinearRate:
		return c.scale()
	}
	return 1
}

// moment is the place of a step in the schedule, given the progress before it. With AdaScale it counts steps and epochs
// of the smallest batch.
func (c *core) moment(step int64, progress float64) Moment {
	if c.AdaptiveBatch.Scaling != AdaScale {
		return Moment{Epochs: c.Rate, Steps: step}
	}
	epoch := math.Ceil(float64(c.Data.Train.Count) / float64(c.Batch))
	return Moment{Epochs: int((progress - c.Batching.Since) / epoch), Steps: int64(progress)}
}

// untilMeasured is the number of steps up to the next measured one. A call ends there, so the learning rates do not
// depend on how steps are grouped into calls.
func (c *core) untilMeasured() int {
	if !c.AdaptiveBatch.Measures() {
		return math.MaxInt
	}
	every := int64(c.AdaptiveBatch.Interval)
	return int(every - c.Steps%every)
}

// learnNoise adds a call's figures to the noise estimate, before its steps are counted.
func (j *Job) learnNoise(f torch.Figures, rows int, took time.Duration) {
	if !j.AdaptiveBatch.Measures() {
		return
	}
	b, gain := &j.Batching, j.gain()
	for range f.Losses { // one by one, independent of how steps are grouped into calls
		b.Progress += gain
	}
	b.Busy += took
	b.Images += rows
	if m, ok := goodput.Squares(f.Squares).Moments(); ok {
		b.Noise.Add(m)
	}
}

// devices is the number of devices that share a step: devices of the allocation on a virtual clock, processes
// otherwise.
func (c *core) devices() int {
	if virtual(c.Clock) {
		return max(1, c.Devices)
	}
	return c.Parallel.Wanted(c.Devices)
}

// chooseBatch changes the batch if another one has a goodput that is higher by more than Hysteresis.
func (j *Job) chooseBatch() error {
	if !j.AdaptiveBatch.On || j.Batching.Noise.Count < enough {
		return nil
	}
	j.Batching.Chosen = j.Epoch
	noise, throughput := j.noise(), j.throughputs()
	value := func(size int) float64 {
		return throughput(size) * noise.Efficiency(float64(size)/float64(j.Batch))
	}
	now := j.batch()
	was := value(now)
	best, highest := now, was*(1+j.AdaptiveBatch.Hysteresis)
	limits := j.limits()
	limits.Most = min(limits.Most, j.Data.Train.Count) // maximum of a step
	for _, size := range limits.Sizes(j.devices()) {
		if v := value(size); v > highest {
			best, highest = size, v
		}
	}
	if best == now || !(was > 0) {
		return nil
	}
	note := j.note(results.EventBatch)
	note.Batch, note.Why = best, fmt.Sprintf("%d images instead of %d, for %.2f times the goodput", best, now,
		highest/was)
	j.resize(best)
	return j.Book.Note(note)
}

// resize sets the batch.
func (j *Job) resize(size int) {
	before := j.Clock.Cost(j.work(1))
	j.Batching.Size = size
	j.Batching.Changes++
	j.Batching.Busy, j.Batching.Images = 0, 0 // rates of an epoch are measured with its last batch
	j.pace = pace{}
	j.distillation.stretch(before, j.Clock.Cost(j.work(1)))
}

// chooseIfDue chooses the batch after an epoch if Every epochs have passed since the last choice.
func (j *Job) chooseIfDue() error {
	if j.Epoch-j.Batching.Chosen < j.AdaptiveBatch.Every {
		return nil
	}
	return j.chooseBatch()
}

// throughputs returns a function from a batch to images per second; zero means unknown.
func (j *Job) throughputs() func(size int) float64 {
	if !virtual(j.Clock) {
		return j.fittedThroughput()
	}
	return func(size int) float64 {
		w := j.workOn(j.Network, size)
		if clock.Knows(j.Clock, w) != nil {
			return 0
		}
		return float64(size) / j.Clock.Cost(w).Seconds()
	}
}

// BatchRates holds a job's batch size with its throughput, efficiency and goodput.
type BatchRates struct {
	Batch      int     // images per step
	Throughput float64 // images per second of the epoch's training steps, on the clock; zero means unknown
	// statistical efficiency: progress per image relative to the smallest batch; zero means unknown
	Efficiency float64
	Goodput    float64 // throughput multiplied by efficiency; zero means unknown
	// moments of the gradients of single images, averaged over measurements; zero means unknown
	Gradient goodput.Moments
}

// batchRates returns the rates of the epoch so far.
func (c *core) batchRates() BatchRates {
	b := c.Batching
	r := BatchRates{Batch: c.batch(), Gradient: b.Noise.Moments()}
	if b.Busy > 0 {
		r.Throughput = float64(b.Images) / b.Busy.Seconds()
	}
	if b.Noise.Count > 0 {
		r.Efficiency = c.noise().Efficiency(c.scale())
	}
	r.Goodput = r.Throughput * r.Efficiency
	return r
}
