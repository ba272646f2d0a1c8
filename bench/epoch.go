package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"graft/model"
	"graft/torch"
)

// Images of an epoch and of its evaluation.
const (
	epochImages = 3200
	evalBatch   = 128
)

// epoch holds the work of a job in one epoch: ConvNet2 trains on images kept as bytes, in a new order, and is evaluated
// on others.
type epoch struct {
	images, labels *torch.Tensor
	program        *torch.Program
	optimizer      *torch.Optimizer
	random         *torch.Generator
	train, test    int
	device         torch.Device
}

func newEpoch(s *torch.Scope, o setup) (e *epoch, err error) {
	e = &epoch{random: s.NewGenerator(torch.CPU, 1)}
	if e.device, err = torch.ParseDevice(o.device); err != nil {
		return nil, err
	}
	e.train, e.test = o.rows()
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	if err != nil {
		return nil, err
	}
	if err := n.Materialize(s, model.Placement{Device: e.device, Random: e.random}); err != nil {
		return nil, err
	}
	rows := e.train + e.test
	pixels, labels, random := make([]uint8, rows*3*32*32), make([]int64, rows), rand.New(rand.NewPCG(1, 1))
	for k := range pixels {
		pixels[k] = uint8(random.Uint32())
	}
	for k := range labels {
		labels[k] = int64(k % 10)
	}
	e.images, e.labels = s.To(torch.From(s, pixels, rows, 3, 32, 32), torch.Uint8, e.device),
		s.To(torch.From(s, labels, rows), torch.Int64, e.device)
	half := s.Full(0.5, torch.Float32, e.device, 3, 1, 1)
	e.program, err = n.ProgramOn(s, torch.ProgramOptions{Fast: o.fast, Graphs: o.graphs},
		model.Pixels{Factor: 1.0 / 255, Mean: half, Deviation: half})
	if err != nil {
		return nil, err
	}
	e.optimizer = s.NewOptimizer(torch.Group{Params: n.Params(),
		OptimizerOptions: torch.OptimizerOptions{Rule: torch.Adam, LR: 1e-3, Fused: o.fast}})
	return e, s.Err()
}

func (e *epoch) run() error {
	return torch.With(func(s *torch.Scope) error {
		train := torch.Batches{Inputs: s.Narrow(e.images, 0, 0, e.train), Labels: s.Narrow(e.labels, 0, 0, e.train),
			Order: s.To(s.Permutation(e.train, e.random), torch.Int64, e.device), Size: batchSize}
		if _, err := torch.Train(e.program, e.optimizer, train); err != nil {
			return err
		}
		_, err := torch.Evaluate(e.program, torch.Batches{Inputs: s.Narrow(e.images, 0, e.train, e.test),
			Labels: s.Narrow(e.labels, 0, e.train, e.test), Size: evalBatch})
		return err
	})
}

// epochs times a number of epochs.
func (k *worker) epochs(count int) (answer, error) {
	if k.epoch == nil {
		var err error
		if k.epoch, err = newEpoch(k.scope, k.setup); err != nil {
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

// peak returns the peak resident memory of this process so far, in MB.
func peak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Maxrss) / 1024
}

// job compares epochs with data and evaluation on all available threads, up to two.
func (b *bench) job() error {
	threads := threadCounts()[len(threadCounts())-1]
	train, test := b.rows()
	fmt.Printf("\nan epoch of %d images and an evaluation of %d, ConvNet2, batch %d, %d thread(s), "+
		"the twin with its DataLoader\n", train, test, batchSize, threads)
	return b.compareEpochs(ours, b.twins()[:2], threads)
}

// resident compares epochs with the images on the device on both sides.
func (b *bench) resident() error {
	threads := threadCounts()[len(threadCounts())-1]
	train, test := b.rows()
	fmt.Printf("\nan epoch of %d images and an evaluation of %d, ConvNet2, batch %d, on %s, "+
		"images resident on the device on both sides\n", train, test, batchSize, b.device)
	twins := []variant{{name: "PyTorch"}, {name: "PyTorch, torch.compile", args: []string{"--compile"}, once: true}}
	mine := append(slices.Clone(ours), variant{name: "graft, fast path, recorded", args: []string{"-fast", "-graphs"}})
	if b.device != "cpu" {
		mine = mine[1:] // GPU time is expensive
		twins = append(twins, variant{name: "PyTorch, torch.compile, CUDA graphs",
			args: []string{"--compile", "--graphs"}, once: true})
	}
	on := *b
	on.epochs = b.device
	for k := range twins {
		twins[k].args = append(twins[k].args, "--resident", fmt.Sprint(train), "--device", b.device)
	}
	return on.compareEpochs(mine, twins, threads)
}

// compareEpochs compares epochs; it skips a twin that cannot run.
func (b *bench) compareEpochs(mine, twins []variant, threads int) error {
	fmt.Fprintln(b.table, "graft\ttwin\tratio\t\tgraft s\ttwin s\tgraft MB at most\ttwin MB at most")
	defer b.table.Flush()
	for _, v := range twins {
		if err := b.epochsBeside(mine, v, threads); err != nil {
			return err
		}
	}
	return nil
}

// epochsBeside compares epochs of each of mine with a twin's. A twin that takes long to start is started once, for all
// of them.
func (b *bench) epochsBeside(mine []variant, v variant, threads int) error {
	measure := b.repeated
	if v.once {
		twin, err := b.startTwin(v, threads)
		if err != nil {
			return err
		}
		defer twin.stop()
		measure = func(u, _ variant, threads int, body func(us, twin *side, rounds int) error) error {
			us, err := b.startOurs(u, threads)
			if err != nil {
				return err
			}
			defer us.stop()
			return body(us, twin, b.rounds)
		}
	}
	for _, u := range mine {
		var m measured
		err := measure(u, v, threads, func(us, twin *side, rounds int) error {
			return m.pairs(alike(us, twin, command{Cmd: "epoch", Iterations: 1}), rounds)
		})
		if err != nil {
			fmt.Fprintf(b.table, "%s\t%s\tskipped: %s\n", u.name, v.name, firstLine(err))
			continue
		}
		fmt.Fprintf(b.table, "%s\t%s\t%s\t%.3f\t%.3f\t%.0f\t%.0f\n", u.name, v.name, m.ratio(), median(m.ours),
			median(m.twin), m.peaks[0], m.peaks[1])
	}
	return nil
}
