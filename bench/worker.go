package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"syscall"
	"time"

	"graft/dataset"
	"graft/torch"
	"graft/torch/sample"
)

// setup holds the start options of a worker.
type setup struct {
	threads int
	fast    bool
	graphs  bool // CUDA graphs
	seed    int64
	batches int
	device  string // device of epochs and of a GPT
	images  int    // images of an epoch; zero means 3,200, and a fifth of that for its evaluation
}

// rows returns the numbers of images of an epoch and of its evaluation.
func (o *setup) rows() (train, test int) {
	train = cmp.Or(o.images, epochImages)
	return train, train / 5
}

// batchSize is the number of images per step, on both sides.
const batchSize = 64

// worker answers commands from r on w until it is told to quit. It is graft's counterpart of PyTorch's twin.py.
type worker struct {
	scope     *torch.Scope
	program   *torch.Program
	optimizer *torch.Optimizer
	images    *torch.Tensor
	labels    *torch.Tensor
	batches   int
	next      int // index of the first batch
	chain     chain
	fast      bool
	seed      int64
	epoch     *epoch // nil until needed
	setup     setup

	photographs *dataset.Set // nil until needed
}

// chain holds the operands of the tiny-tensor benchmark.
type chain struct{ x, w1, b1, w2 *torch.Tensor }

// problem makes the initial state of both sides: the same weights, the same images.
func problem(s *torch.Scope, o setup) (*sample.Classifier, *torch.Tensor, *torch.Tensor, error) {
	random := s.NewGenerator(torch.CPU, o.seed)
	network := sample.New(s, torch.CPU, random)
	images, labels, err := sample.Stripes(s, torch.CPU, random, o.batches*batchSize)
	return network, images, labels, err
}

func serve(o setup, r io.Reader, w io.Writer) error {
	return torch.With(func(s *torch.Scope) error {
		if err := torch.SetThreads(o.threads); err != nil {
			return err
		}
		network, images, labels, err := problem(s, o)
		if err != nil {
			return err
		}
		k := &worker{scope: s, setup: o, fast: o.fast, seed: o.seed, images: images, labels: labels, batches: o.batches,
			chain: newChain(s)}
		k.program = network.Program(torch.ProgramOptions{Fast: o.fast})
		k.optimizer = network.Adam(1e-3, o.fast)
		if err := s.Err(); err != nil {
			return err
		}
		return k.loop(bufio.NewScanner(r), json.NewEncoder(w))
	})
}

func (k *worker) loop(commands *bufio.Scanner, out *json.Encoder) error {
	for commands.Scan() {
		var c command
		if err := json.Unmarshal(commands.Bytes(), &c); err != nil {
			return err
		}
		if c.Cmd == "quit" {
			return nil
		}
		a, err := k.answer(c)
		if err != nil {
			return err
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return commands.Err()
}

func (k *worker) answer(c command) (answer, error) {
	switch c.Cmd {
	case "info":
		r, err := torch.Describe()
		return answer{Torch: r.Version, Threads: r.Threads}, err
	case "train":
		return timed(func() ([]float64, error) { return k.train(c.Steps) })
	case "step":
		return k.step(c.Network, c.Batch)
	case "ops":
		return timed(func() ([]float64, error) { return k.operators(c.Iterations) })
	case "epoch":
		return k.epochs(c.Iterations)
	case "stream":
		return k.stream(c.Network, c.How)
	case "learn":
		return k.learn(c)
	case "surgery":
		return operate(c)
	}
	return answer{}, fmt.Errorf("unknown command %q", c.Cmd)
}

// timed measures wall and processor time of one burst.
func timed(body func() ([]float64, error)) (answer, error) {
	cpu, began := processorTime(), time.Now()
	values, err := body()
	return answer{Seconds: time.Since(began).Seconds(), CPUSeconds: processorTime() - cpu, Losses: values}, err
}

func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// train takes the batches in turn, continuing after the last burst.
func (k *worker) train(steps int) ([]float64, error) {
	var losses []float64
	for steps > 0 {
		now := min(steps, k.batches-k.next)
		err := torch.With(func(s *torch.Scope) error {
			from, rows := k.next*batchSize, now*batchSize
			f, err := torch.Train(k.program, k.optimizer, torch.Batches{
				Inputs: s.Narrow(k.images, 0, from, rows), Labels: s.Narrow(k.labels, 0, from, rows), Size: batchSize})
			losses = append(losses, f.Losses...)
			return err
		})
		if err != nil {
			return nil, err
		}
		k.next = (k.next + now) % k.batches
		steps -= now
	}
	return losses, nil
}

// newChain makes the same operands as the twin: small multiples of a power of two, exact in float32 on either side.
func newChain(s *torch.Scope) chain {
	grid := func(period int, scale float32, shape ...int) *torch.Tensor {
		values := make([]float32, torch.Info{Shape: shape}.Count())
		for k := range values {
			values[k] = float32(k%period-period/2) * scale
		}
		return torch.From(s, values, shape...)
	}
	return chain{x: grid(5, 1./8, 1, 16), w1: grid(17, 1./64, 16, 16), b1: grid(7, 1./32, 16),
		w2: grid(13, 1./64, 16, 16)}
}

// operators runs nine operators on tensors so small that the overhead of a call is visible.
func (k *worker) operators(iterations int) ([]float64, error) {
	var last float64
	for n := range iterations {
		err := torch.With(func(s *torch.Scope) error {
			h := s.Tanh(s.Add(s.MM(k.chain.x, k.chain.w1), k.chain.b1))
			h = s.ReLU(s.Add(s.Sigmoid(s.MM(h, k.chain.w2)), k.chain.x))
			sum := s.Sum(s.LogSoftmax(h, 1))
			if n < iterations-1 {
				return nil
			}
			var err error
			last, err = sum.Item()
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return []float64{last}, nil
}
