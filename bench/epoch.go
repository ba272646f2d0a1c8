package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"graft/model"
	"graft/torch"
)

// Images of an epoch and of its evaluation.
const (
	epochImages = 3200
	evalImages  = 640
	evalBatch   = 128
)

// epoch holds the work of a job in one epoch: ConvNet2 trains on images kept as bytes,
// in a new order, and is evaluated on others.
type epoch struct {
	images, labels *torch.Tensor
	program        *torch.Program
	optimizer      *torch.Optimizer
	random         *torch.Generator
}

func newEpoch(s *torch.Scope, fast bool) (*epoch, error) {
	e := &epoch{random: s.NewGenerator(torch.CPU, 1)}
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	if err != nil {
		return nil, err
	}
	if err := n.Materialize(s, model.Placement{Random: e.random}); err != nil {
		return nil, err
	}
	rows := epochImages + evalImages
	pixels, labels, random := make([]uint8, rows*3*32*32), make([]int64, rows), rand.New(rand.NewPCG(1, 1))
	for k := range pixels {
		pixels[k] = uint8(random.Uint32())
	}
	for k := range labels {
		labels[k] = int64(k % 10)
	}
	e.images, e.labels = torch.From(s, pixels, rows, 3, 32, 32), torch.From(s, labels, rows)
	half := s.Full(0.5, torch.Float32, torch.CPU, 3, 1, 1)
	e.program, err = n.ProgramOn(s, torch.ProgramOptions{Fast: fast}, func(b *torch.Builder, x torch.Value) torch.Value {
		return b.Normalize(x, 1.0/255, half, half)
	})
	if err != nil {
		return nil, err
	}
	e.optimizer = s.NewOptimizer(torch.Group{Params: n.Params(), OptimizerOptions: torch.OptimizerOptions{Rule: torch.Adam, LR: 1e-3, Fused: fast}})
	return e, s.Err()
}

func (e *epoch) run() error {
	return torch.With(func(s *torch.Scope) error {
		train := torch.Batches{Inputs: s.Narrow(e.images, 0, 0, epochImages), Labels: s.Narrow(e.labels, 0, 0, epochImages),
			Order: s.Permutation(epochImages, e.random), Size: batchSize}
		if _, err := torch.Train(e.program, e.optimizer, train); err != nil {
			return err
		}
		_, err := torch.Evaluate(e.program, torch.Batches{Inputs: s.Narrow(e.images, 0, epochImages, evalImages),
			Labels: s.Narrow(e.labels, 0, epochImages, evalImages), Size: evalBatch})
		return err
	})
}

// epochs times so many.
func (k *worker) epochs(count int) (answer, error) {
	if k.epoch == nil {
		var err error
		if k.epoch, err = newEpoch(k.scope, k.fast); err != nil {
			return answer{}, err
		}
	}
	began := time.Now()
	for range count {
		if err := k.epoch.run(); err != nil {
			return answer{}, err
		}
	}
	return answer{Seconds: time.Since(began).Seconds(), PeakMB: peak()}, nil
}

// peak is the highest resident memory of this process so far, in MB.
func peak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Maxrss) / 1024
}

// job compares epochs with data and evaluation on as many threads as there are, up to two.
func (b *bench) job() error {
	threads := threadCounts()[len(threadCounts())-1]
	fmt.Printf("\nan epoch of %d images and an evaluation of %d, ConvNet2, batch %d, %d thread(s), the twin with its DataLoader\n", epochImages, evalImages, batchSize, threads)
	fmt.Fprintln(b.table, "graft\ttwin\tratio\t\tgraft s\ttwin s\tgraft MB at most\ttwin MB at most")
	defer b.table.Flush()
	for _, v := range b.twins()[:2] {
		for _, u := range ours {
			var m measured
			err := b.repeated(u, v, threads, func(us, twin *side, rounds int) error {
				return m.pairs(alike(us, twin, command{Cmd: "epoch", Iterations: 1}), rounds)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(b.table, "%s\t%s\t%s\t%.2f\t%.2f\t%.0f\t%.0f\n", u.name, v.name, m.ratio(), median(m.ours), median(m.twin), m.peaks[0], m.peaks[1])
		}
	}
	return nil
}
