package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"graft/internal/files"
	"graft/model/graph"
	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
)

// gptConfig is the network of -gpt: 812,544 parameters.
var gptConfig = transformer.Config{Vocabulary: 86, Context: 64, Width: 128, Heads: 4, Depth: 4, Stacked: true}

const (
	gptBatch   = 32
	gptBatches = 8 // different ones
	gptFile    = "gpt.pth"
)

// gpts compares steps of a GPT with PyTorch's, eager and compiled.
func (b *bench) gpts() error {
	if err := writeGPT(b.folder); err != nil {
		return err
	}
	fmt.Printf("\nsteps of a GPT of 812,544 parameters, batch %d of %d tokens, AdamW; "+
		"memory is the most that a process took\n", gptBatch, gptConfig.Context)
	fmt.Fprintln(b.table, "threads\ttwin\tratio\t\tgraft ms\ttwin ms\tgraft MB\ttwin MB\tfirst losses")
	defer b.table.Flush()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var faults []error
	for _, threads := range threadCounts() {
		for _, twin := range []variant{{name: "eager"}, {name: "torch.compile", args: []string{"--compile"}}} {
			faults = append(faults, b.gpt(program, threads, twin))
		}
	}
	return errors.Join(faults...)
}

func (b *bench) gpt(program string, threads int, twin variant) error {
	us, err := start("graft", nil, program, "gpt-worker", "-folder="+b.folder, fmt.Sprintf("-threads=%d", threads))
	if err != nil {
		return err
	}
	defer us.stop()
	them, err := start(twin.name, nil, b.python, append([]string{filepath.Join(filepath.Dir(b.twin), "twin_gpt.py"),
		filepath.Join(b.folder, gptFile), fmt.Sprint(threads)}, twin.args...)...)
	if err != nil {
		return err
	}
	defer them.stop()
	var m measured
	if err := m.pairs(alike(us, them, command{Cmd: "train", Steps: b.steps}), b.rounds); err != nil {
		fmt.Fprintf(b.table, "%d\t%s\tleft out: %s\n", threads, twin.name, firstLine(err))
		return nil
	}
	fmt.Fprintf(b.table, "%d\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%s\n", threads, twin.name, m.ratio(),
		1000*median(m.ours)/float64(b.steps), 1000*median(m.twin)/float64(b.steps), m.peaks[0], m.peaks[1],
		m.agreement())
	return nil
}

// writeGPT stores the weights and the batches that both sides begin with.
func writeGPT(folder string) error {
	g, err := transformer.New(gptConfig)
	if err != nil {
		return err
	}
	set, err := g.Draw(1)
	if err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		random := s.NewGenerator(torch.CPU, 2)
		for _, name := range []string{"x", "y"} {
			x := s.Zeros(torch.Float32, torch.CPU, gptBatches*gptBatch, gptConfig.Context)
			s.Uniform(x, 0, float64(gptConfig.Vocabulary)-0.01, random)
			w, err := s.To(x, torch.Int64, torch.CPU).Weights(name)
			if err != nil {
				return err
			}
			set.Tensors = append(set.Tensors, w)
		}
		return weights.Write(files.OS{}, filepath.Join(folder, gptFile), set)
	})
}

// gptWorker is graft's side of a comparison.
type gptWorker struct {
	program   *torch.Program
	optimizer *torch.Optimizer
	x, y      *torch.Tensor
	next      int
}

func serveGPT(folder string, threads int, r io.Reader, w io.Writer) error {
	return torch.With(func(s *torch.Scope) error {
		k, err := newGPTWorker(s, folder, threads)
		if err != nil {
			return err
		}
		out := json.NewEncoder(w)
		for commands := bufio.NewScanner(r); commands.Scan(); {
			var c command
			if err := json.Unmarshal(commands.Bytes(), &c); err != nil {
				return err
			}
			a, err := timed(func() ([]float64, error) { return k.train(c.Steps) })
			if err != nil {
				return err
			}
			a.PeakMB = peak()
			if err := out.Encode(a); err != nil {
				return err
			}
		}
		return nil
	})
}

func newGPTWorker(s *torch.Scope, folder string, threads int) (*gptWorker, error) {
	if err := torch.SetThreads(threads); err != nil {
		return nil, err
	}
	g, err := transformer.New(gptConfig)
	if err != nil {
		return nil, err
	}
	set, err := weights.Read(files.OS{}, filepath.Join(folder, gptFile), weights.Options{})
	if err != nil {
		return nil, err
	}
	k := &gptWorker{}
	tensors := map[string]*torch.Tensor{}
	for _, w := range set.Tensors {
		tensors[w.Name] = torch.FromWeights(s, torch.CPU, w)
	}
	k.x, k.y = tensors["x"], tensors["y"]
	n, err := g.BindTensors(s, tensors)
	if err != nil {
		return nil, err
	}
	if k.program, err = n.Program(s, torch.ProgramOptions{Fast: true}); err != nil {
		return nil, err
	}
	k.optimizer = s.NewOptimizer(torch.Group{Params: paramsOf(n),
		OptimizerOptions: torch.OptimizerOptions{Rule: torch.AdamW, LR: 1e-3, WeightDecay: 0.01, Fused: true}})
	return k, s.Err()
}

func paramsOf(n *graph.Network) (params []*torch.Tensor) {
	for _, name := range n.Trained() {
		params = append(params, n.Tensor(name))
	}
	return params
}

func (k *gptWorker) train(steps int) (losses []float64, err error) {
	for range steps {
		err := torch.With(func(s *torch.Scope) error {
			from := k.next * gptBatch
			f, err := torch.Train(k.program, k.optimizer, torch.Batches{Inputs: s.Narrow(k.x, 0, from, gptBatch),
				Labels: s.Narrow(k.y, 0, from, gptBatch), Size: gptBatch})
			losses = append(losses, f.Losses...)
			return err
		})
		if err != nil {
			return nil, err
		}
		k.next = (k.next + 1) % gptBatches
	}
	return losses, nil
}
