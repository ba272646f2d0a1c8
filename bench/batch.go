package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/model"
	"graft/torch"
	"graft/torch/sample"
	"graft/trainer"
	"graft/trainer/clock"
)

// Study of adaptive batches: a job on 1, 2 and 4 devices of a virtual clock, until it reaches an accuracy on the
// validation images.
const (
	leastBatch, mostBatch = 32, 512
	leastRate             = 0.05 // learning rate of the smallest batch
	targetAccuracy        = 0.55
	batchBudget           = 60 * time.Second
)

// batchProfile returns a GPU in round numbers whose gradient exchange takes as long as the start of a step.
func batchProfile() *clock.Profile {
	return &clock.Profile{Costs: clock.Costs{Step: clock.Rates{CallSeconds: 4e-3, ExampleSeconds: 60e-6},
		Batch: clock.Rates{CallSeconds: 2e-3, ExampleSeconds: 20e-6}, DecisionSeconds: 5e-3,
		SurgerySeconds: 1e-2, ExchangeSeconds: 4e-3}}
}

// batchRival is a method to choose the batch and the learning rate.
type batchRival struct {
	name   string
	batch  int
	growth func(scale float64) float64 // learning rate factor for a batch relative to the smallest; nil keeps the rate
	adapts trainer.AdaptiveBatch
}

// batchRivals returns the methods, the baseline first.
func batchRivals() []batchRival {
	on := func(scaling trainer.Scaling) trainer.AdaptiveBatch {
		return trainer.AdaptiveBatch{On: true, Most: mostBatch, Scaling: scaling}
	}
	return []batchRival{
		{name: "fixed least", batch: leastBatch},
		{name: "fixed middle, square-root", batch: 128, growth: math.Sqrt},
		{name: "fixed most, same rate", batch: mostBatch},
		{name: "fixed most, square-root", batch: mostBatch, growth: math.Sqrt},
		{name: "adaptive, adascale", batch: leastBatch, adapts: on(trainer.AdaScale)},
		{name: "adaptive, square-root", batch: leastBatch, adapts: on(trainer.SquareRoot)},
	}
}

func (r batchRival) options(seed int64) trainer.Options {
	rate := leastRate
	if r.growth != nil {
		rate *= r.growth(float64(r.batch) / leastBatch)
	}
	up := func(at time.Duration, devices int) trainer.Event {
		return trainer.Event{At: at, Change: trainer.Up, Devices: devices}
	}
	return trainer.Options{Seed: seed, Steady: true, Batch: r.batch, AdaptiveBatch: r.adapts,
		Schedule: trainer.Schedule{Rule: trainer.Constant}, Optimizer: torch.OptimizerOptions{Rule: torch.SGD, LR: rate,
			Momentum: 0.9}, Checkpoint: trainer.Checkpoint{Off: true}, Timeline: trainer.Timeline{Budget: batchBudget,
			Events: []trainer.Event{up(2*time.Second, 2), up(4*time.Second, 4)}}}
}

// errReached ends a job whose accuracy is high enough.
var errReached = errors.New("the job reached the target accuracy")

// finishLine is a recorder that stops a job at an accuracy.
type finishLine struct {
	last    trainer.Row
	changes int
}

func (f *finishLine) Epoch(r trainer.Row) error {
	if f.last = r; r.Validation.Accuracy >= targetAccuracy {
		return errReached
	}
	return nil
}

func (f *finishLine) Note(n trainer.Note) error {
	if n.Batch > 0 {
		f.changes++
	}
	return nil
}

func (*finishLine) Save([]trainer.Section) error                { return nil }
func (*finishLine) Keep(time.Duration, []trainer.Section) error { return nil }

// reach trains until the accuracy is reached, or the budget ends.
func (r batchRival) reach(data *dataset.Set, seed int64) (f finishLine, reached bool, err error) {
	err = torch.With(func(s *torch.Scope) error {
		n, err := model.Zoo("ConvSmall", model.ZooOptions{Input: data.Shape, Classes: len(data.Classes)})
		if err != nil {
			return err
		}
		if err := n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, seed)}); err != nil {
			return err
		}
		j, err := trainer.New(s, trainer.Parts{Network: n, Data: data, Clock: &clock.Virtual{Profile: batchProfile()},
			Decider: decider.Script{}, Recorder: &f, Now: time.Now}, r.options(seed))
		if err == nil {
			_, err = j.Run(context.Background())
		}
		return err
	})
	if errors.Is(err, errReached) {
		return f, true, nil
	}
	return f, false, err
}

// studyBatches prints the cost of each rival until the accuracy, over seeds, and the cost of measuring noise.
func studyBatches(out io.Writer, seeds, rounds int) error {
	if err := torch.SetThreads(1); err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		if err := squaresCost(out, s, rounds); err != nil {
			return err
		}
		data, err := dataset.Load(s, torch.CPU, files.OS{}, dataset.Options{Synthetic: dataset.SyntheticOptions{
			Size: 16, Channels: 1, Noise: 20, Textures: true, Train: 7000, Test: 500,
		}})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nadaptive batches: ConvSmall on %d images, 1 device, 2 from 2 s, 4 from 4 s, "+
			"until %.0f%% of the validation images\n", data.Train.Count, 100*targetAccuracy)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "baseline\treached\tdevice-seconds\tover fixed least\tseconds\tover fixed least\timages\t"+
			"final batch\tchanges")
		var base [2][]float64
		for _, r := range batchRivals() {
			if err := r.row(w, data, seeds, &base); err != nil {
				return err
			}
			if err := w.Flush(); err != nil { // the next row takes minutes
				return err
			}
		}
		return nil
	})
}

// row prints a rival's line. The first rival's costs become the base of ratios, which are paired by seed. Jobs that did
// not reach the accuracy count with the cost of the whole budget, which is too low.
func (r batchRival) row(w io.Writer, data *dataset.Set, seeds int, base *[2][]float64) error {
	var costs, ratios [2][]float64
	var images, batches []float64
	reached, changes := 0, 0
	for k := range seeds {
		f, is, err := r.reach(data, int64(k+1))
		if err != nil {
			return err
		}
		if is {
			reached++
		}
		changes += f.changes
		images, batches = append(images, float64(f.last.Images)), append(batches, float64(f.last.Batch))
		for c, cost := range []float64{f.last.DeviceTime.Seconds(), f.last.Time.Seconds()} {
			costs[c] = append(costs[c], cost)
			if len(base[c]) < seeds {
				base[c] = append(base[c], cost)
			}
			ratios[c] = append(ratios[c], math.Log(cost/base[c][k]))
		}
	}
	fmt.Fprintf(w, "%s\t%d of %d", r.name, reached, seeds)
	for c := range costs {
		ratio := stat.TInterval(ratios[c])
		fmt.Fprintf(w, "\t%s\t%.2f [%.2f, %.2f]", spread(costs[c]), math.Exp(stat.Mean(ratios[c])), math.Exp(ratio.Low),
			math.Exp(ratio.High))
	}
	_, err := fmt.Fprintf(w, "\t%.0f\t%.0f\t%.1f\n", stat.Mean(images), stat.Mean(batches),
		float64(changes)/float64(seeds))
	return err
}

// spread formats a mean with its 95% interval.
func spread(values []float64) string {
	i := stat.TInterval(values)
	return fmt.Sprintf("%.2f [%.2f, %.2f]", stat.Mean(values), i.Low, i.High)
}

// measuredEvery is the default interval of measurements, in steps.
const measuredEvery = 16

// squaresCost compares calls whose last step measures squared gradients with calls that measure nothing, in turns.
func squaresCost(out io.Writer, s *torch.Scope, rounds int) error {
	fmt.Fprintf(out, "\ncost of measuring noise in one of %d steps, batch of %d, processor time of one thread\n",
		measuredEvery, batchSize)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "parts of a batch\ttime over time without\tquartiles")
	for _, part := range []int{0, 16} {
		m := measured{}
		var bursts [2]func() (float64, error)
		for k := range bursts {
			var err error
			if bursts[k], err = squaresBurst(s, part, k == 1); err != nil {
				return err
			}
		}
		for round := -2; round < 4*rounds; round++ {
			var times [2]float64
			for j := range 2 {
				k := (round + j) & 1 // alternate the first side
				var err error
				if times[k], err = bursts[k](); err != nil {
					return err
				}
			}
			if round >= 0 {
				m.ours, m.twin = append(m.ours, times[0]), append(m.twin, times[1])
			}
		}
		name := "two halves in measured steps"
		if part > 0 {
			name = fmt.Sprintf("of %d images", part)
		}
		ratios := make([]float64, len(m.ours))
		for k := range ratios {
			ratios[k] = m.twin[k] / m.ours[k]
		}
		fmt.Fprintf(w, "%s\t%.3f\t%s\n", name, median(ratios), quartiles(ratios, "%.3f"))
	}
	return w.Flush()
}

// squaresBurst returns a function that trains for a call's steps and returns the processor seconds, which other
// processes affect less.
func squaresBurst(s *torch.Scope, part int, squares bool) (func() (float64, error), error) {
	random := s.NewGenerator(torch.CPU, 1)
	network := sample.New(s, torch.CPU, random)
	images, labels, err := sample.Stripes(s, torch.CPU, random, measuredEvery*batchSize)
	program, optimizer := network.Program(torch.ProgramOptions{Fast: true}), network.Adam(1e-3, true)
	return func() (float64, error) {
		began := processorTime()
		_, err := torch.Train(program, optimizer, torch.Batches{Inputs: images, Labels: labels, Size: batchSize,
			Part: part, Squares: squares})
		return processorTime() - began, err
	}, errors.Join(err, s.Err())
}
