package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
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

const (
	gptVocabulary = 86
	gptBatch      = 32
	gptBatches    = 8 // number of different batches
	gptFile       = "gpt.pth"
)

// gptOptions configure the network of gpt, its device and its precision.
type gptOptions struct {
	// width is the length of a token's vector; heads, depth and context are the numbers of attention heads, of blocks
	// and of tokens in a text. All are at least 1.
	width, heads, depth, context int
	precision                    torch.Precision // of both sides: float32 or tf32
	graphs                       bool            // records graft's steps as CUDA graphs
}

// register adds the flags, each after prefix.
func (o *gptOptions) register(fs *flag.FlagSet, prefix string) {
	fs.IntVar(&o.width, prefix+"width", 128,
		"embedding width; with the other defaults the network has 812,544 parameters")
	fs.IntVar(&o.heads, prefix+"heads", 4, "attention heads")
	fs.IntVar(&o.depth, prefix+"depth", 4, "blocks")
	fs.IntVar(&o.context, prefix+"context", 64, "tokens of a text")
	fs.TextVar(&o.precision, prefix+"precision", torch.Single, "precision of both sides: float32 or tf32")
	fs.BoolVar(&o.graphs, prefix+"graphs", false, "record graft's steps, and compare with CUDA graphs of torch.compile")
}

// args returns the options for a worker.
func (o *gptOptions) args() []string {
	return []string{fmt.Sprintf("-width=%d", o.width), fmt.Sprintf("-heads=%d", o.heads),
		fmt.Sprintf("-depth=%d", o.depth), fmt.Sprintf("-context=%d", o.context),
		fmt.Sprintf("-precision=%s", o.precision)}
}

// twins returns the ways in which PyTorch runs the network.
func (o *gptOptions) twins() []variant {
	list := []variant{{name: "eager"}, {name: "torch.compile", args: []string{"--compile"}}}
	if o.graphs {
		list = append(list, variant{name: "torch.compile, CUDA graphs", args: []string{"--compile", "--graphs"}})
	}
	return list
}

func (o *gptOptions) graph() (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: gptVocabulary, Context: o.context, Width: o.width,
		Heads: o.heads, Depth: o.depth, Stacked: true})
}

// gpts compares steps of a GPT with PyTorch's, eager and compiled.
func (b *bench) gpts() error {
	g, err := b.network.graph()
	if err != nil {
		return err
	}
	if err := writeGPT(b.folder, g, b.network.context); err != nil {
		return err
	}
	fmt.Printf("\nsteps of a GPT of %d parameters, batch %d of %d tokens, AdamW, %s on %s; "+
		"memory is the peak of a process\n", g.Parameters(), gptBatch, b.network.context, b.network.precision,
		b.device)
	fmt.Fprintln(b.table, "threads\ttwin\tratio\t\tgraft ms\ttwin ms\tgraft MB\ttwin MB\tfirst losses")
	defer b.table.Flush()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	counts := threadCounts()
	if b.device != "cpu" {
		counts = counts[len(counts)-1:]
	}
	var faults []error
	for _, threads := range counts {
		for _, twin := range b.network.twins() {
			faults = append(faults, b.gpt(program, threads, twin))
		}
	}
	return errors.Join(faults...)
}

func (b *bench) gpt(program string, threads int, twin variant) error {
	shared := append(b.network.args(), fmt.Sprintf("-device=%s", b.device), fmt.Sprintf("-threads=%d", threads))
	us, err := start("graft", nil, program, append([]string{"gpt-worker", "-folder=" + b.folder,
		fmt.Sprintf("-graphs=%t", b.network.graphs)}, shared...)...)
	if err != nil {
		return err
	}
	defer us.stop()
	them, err := start(twin.name, nil, b.python, append([]string{filepath.Join(filepath.Dir(b.twin), "twin_gpt.py"),
		"-file=" + filepath.Join(b.folder, gptFile)}, append(shared, twin.args...)...)...)
	if err != nil {
		return err
	}
	defer them.stop()
	var m measured
	if err := m.pairs(alike(us, them, command{Cmd: "train", Steps: b.steps}), b.rounds); err != nil {
		fmt.Fprintf(b.table, "%d\t%s\tskipped: %s\n", threads, twin.name, firstLine(err))
		return nil
	}
	fmt.Fprintf(b.table, "%d\t%s\t%s\t%.1f\t%.1f\t%.0f\t%.0f\t%s\n", threads, twin.name, m.ratio(),
		1000*median(m.ours)/float64(b.steps), 1000*median(m.twin)/float64(b.steps), m.peaks[0], m.peaks[1],
		m.agreement())
	return nil
}

// writeGPT stores the initial weights and the batches for both sides.
func writeGPT(folder string, g *graph.Graph, context int) error {
	set, err := g.Draw(1)
	if err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		random := s.NewGenerator(torch.CPU, 2)
		for _, name := range []string{"x", "y"} {
			x := s.Zeros(torch.Float32, torch.CPU, gptBatches*gptBatch, context)
			s.Uniform(x, 0, gptVocabulary-0.01, random)
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

func serveGPT(folder string, o setup, network gptOptions, r io.Reader, w io.Writer) error {
	return torch.With(func(s *torch.Scope) error {
		k, err := newGPTWorker(s, folder, o, network)
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

func newGPTWorker(s *torch.Scope, folder string, start setup, network gptOptions) (*gptWorker, error) {
	if err := torch.SetThreads(start.threads); err != nil {
		return nil, err
	}
	device, err := torch.ParseDevice(start.device)
	if err != nil {
		return nil, err
	}
	g, err := network.graph()
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
		tensors[w.Name] = torch.FromWeights(s, device, w)
	}
	k.x, k.y = tensors["x"], tensors["y"]
	n, err := g.BindTensors(s, tensors)
	if err != nil {
		return nil, err
	}
	o := torch.ProgramOptions{Fast: true, Precision: network.precision, Graphs: network.graphs}
	if k.program, err = n.Program(s, o); err != nil {
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

// train takes steps on the batches in order, cyclically; it waits for the device once per pass over them.
func (k *gptWorker) train(steps int) (losses []float64, err error) {
	for steps > 0 && err == nil {
		count := min(steps, gptBatches-k.next)
		err = torch.With(func(s *torch.Scope) error {
			from, rows := k.next*gptBatch, count*gptBatch
			f, err := torch.Train(k.program, k.optimizer, torch.Batches{Inputs: s.Narrow(k.x, 0, from, rows),
				Labels: s.Narrow(k.y, 0, from, rows), Size: gptBatch})
			losses = append(losses, f.Losses...)
			return err
		})
		steps -= count
		k.next = (k.next + count) % gptBatches
	}
	return losses, err
}
