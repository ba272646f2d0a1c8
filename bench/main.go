// Command bench measures graft against plain PyTorch. Both sides are resident
// processes with the same weights and the same images; they take turns in short
// bursts, so that a machine whose speed drifts slows both alike, and each pair of
// bursts gives one ratio. Printed are the median ratio and its quartiles.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"graft/internal/files"
	"graft/torch"
	"graft/torch/sample"
	"graft/torch/weights"
)

// options of the whole run.
type options struct {
	python   string
	twin     string
	rounds   int // pairs of bursts in a comparison
	starts   int // fresh processes that they are spread over
	steps    int // in a burst of training
	ops      int // iterations in a burst of operators
	child    bool
	surgery  bool   // measure nothing else
	job      bool   // measure nothing else
	epoch    bool   // measure nothing else
	stream   bool   // measure nothing else
	machines bool   // measure nothing else
	whole    bool   // measure nothing else
	learn    bool   // measure nothing else
	policy   bool   // measure nothing else
	grid     bool   // measure nothing else
	cluster  bool   // measure nothing else
	elastic  bool   // measure nothing else
	fabric   bool   // measure nothing else
	degrees  bool   // measure nothing else
	adaptive bool   // measure nothing else
	growth   bool   // measure nothing else
	onlyPPO  bool   // measure nothing else
	onlyGPT  bool   // measure nothing else
	gptOf    string // folder of the problem, of a worker of -gpt
	graft    string // the program, whose workers run side by side
	seeds    int    // policies that learn from the same tables
	trials   int    // seeds of jobs with adaptive batches
	setup
}

func main() {
	var o options
	flag.StringVar(&o.python, "python", defaultPython(), "the Python whose PyTorch is measured")
	flag.StringVar(&o.twin, "twin", "bench/twin.py", "the twin's program")
	flag.IntVar(&o.rounds, "rounds", 15, "pairs of bursts in a comparison")
	flag.IntVar(&o.starts, "starts", 3, "fresh pairs of processes in a comparison: how a heap happens to lie is luck")
	flag.IntVar(&o.steps, "steps", 20, "training steps in a burst")
	flag.IntVar(&o.ops, "ops", 2000, "iterations of the operator chain in a burst")
	flag.BoolVar(&o.job, "job", false, "measure epochs with data and evaluation only")
	flag.BoolVar(&o.epoch, "epoch", false, "measure only epochs whose images lie on the device, on both sides")
	flag.BoolVar(&o.stream, "stream", false, "measure only how fast images are read from their files")
	flag.BoolVar(&o.machines, "machines", false, "measure only processes that train together over TCP")
	flag.IntVar(&o.images, "images", 0,
		"images of an epoch; 0 is 3,200, and its evaluation has a fifth as many; of -stream 0 is 2,000")
	flag.BoolVar(&o.whole, "jobs", false, "measure whole jobs only: threads, beside load, and PyTorch")
	flag.BoolVar(&o.learn, "learn", false, "measure how policies learn only")
	flag.BoolVar(&o.surgery, "surgery", false, "measure surgery only")
	flag.BoolVar(&o.policy, "policy", false,
		"measure only what policies learn from tables: their folders, named behind the flags")
	flag.BoolVar(&o.grid, "grid", false,
		"measure only what a grid of sequences costs, and how much workers side by side train")
	flag.BoolVar(&o.cluster, "cluster", false, "measure only what events of a simulated cluster cost")
	flag.BoolVar(&o.elastic, "elastic", false, "measure only what elastic jobs and their learner cost")
	flag.BoolVar(&o.fabric, "fabric", false, "measure only what episodes of training steps on a network cost")
	flag.BoolVar(&o.degrees, "degrees", false, "measure only how often learned and constant degrees block jobs")
	flag.BoolVar(&o.adaptive, "batch", false,
		"measure only what jobs with adaptive and fixed batches cost until an accuracy; takes -trials seeds")
	flag.BoolVar(&o.growth, "growth", false, "measure only what growth costs, beside what profiles charge for it")
	flag.IntVar(&o.trials, "trials", 10, "seeds of each job of -batch")
	flag.BoolVar(&o.onlyPPO, "ppo", false, "measure PPO against Stable-Baselines3 only")
	flag.BoolVar(&o.onlyGPT, "gpt", false, "measure only steps of a GPT")
	flag.StringVar(&o.gptOf, "gpt-worker", "", "be graft's side of -gpt, on the problem in this folder")
	flag.StringVar(&o.device, "device", "cpu", "where epochs and workers of a grid train, cpu or cuda:N")
	flag.StringVar(&o.graft, "graft", "bin/graft", "the program whose workers run side by side")
	flag.IntVar(&o.seeds, "seeds", 20, "policies that learn from the same tables, each from a seed of its own")
	flag.BoolVar(&o.child, "worker", false, "be graft's side of a comparison")
	flag.IntVar(&o.threads, "threads", 1, "threads, of a worker")
	flag.BoolVar(&o.fast, "fast", false, "take the fast path, in a worker")
	flag.BoolVar(&o.graphs, "graphs", false, "record steps, in a worker")
	flag.Int64Var(&o.seed, "seed", 1, "seed of weights and images")
	flag.IntVar(&o.batches, "batches", 20, "different batches of images")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func defaultPython() string {
	if p := os.Getenv("GRAFT_PYTHON"); p != "" {
		return p
	}
	return "/usr/bin/python3"
}

func run(o options) error {
	if o.gptOf != "" {
		return serveGPT(o.gptOf, o.threads, os.Stdin, os.Stdout)
	}
	if o.child {
		return serve(o.setup, os.Stdin, os.Stdout)
	}
	if o.policy {
		return studyPolicies(os.Stdout, flag.Args(), o.seeds)
	}
	if o.elastic {
		return studyElastic(os.Stdout, o.rounds)
	}
	if o.degrees {
		return learnFabric(os.Stdout)
	}
	if o.fabric {
		return studyFabric(os.Stdout, o.rounds)
	}
	if o.adaptive {
		return studyBatches(os.Stdout, o.trials, o.rounds)
	}
	if o.growth {
		return studyGrowth(context.Background(), os.Stdout, "bench/growth", o.rounds)
	}
	if o.cluster {
		return studyCluster(os.Stdout, o.rounds)
	}
	if o.onlyPPO {
		return (&bench{options: o, table: newTable()}).ppo()
	}
	folder, err := os.MkdirTemp("", "graft-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := writeProblem(folder, o.setup); err != nil {
		return err
	}
	b := &bench{options: o, folder: folder, table: newTable()}
	if err := b.header(); err != nil {
		return err
	}
	switch {
	case o.surgery:
		return b.surgery()
	case o.job:
		return b.job()
	case o.epoch:
		return b.resident()
	case o.stream:
		return b.streams()
	case o.onlyGPT:
		return b.gpts()
	case o.machines:
		return b.machines(o.graft, o.rounds)
	case o.whole:
		return b.jobs(o.graft)
	case o.learn:
		return errors.Join(b.learning(), studyQuality(os.Stdout, flag.Args(), o.seeds))
	case o.grid:
		return b.grid(o.graft)
	}
	var faults []error
	for _, threads := range threadCounts() {
		faults = append(faults, b.threads(threads))
	}
	return errors.Join(append(faults, b.job(), b.gpts(), b.streams(), b.machines(o.graft, min(o.rounds, 5)),
		b.jobs(o.graft), b.surgery(), b.learning(), b.ppo(), studyQuality(os.Stdout, flag.Args(), o.seeds),
		b.grid(o.graft), studyCluster(os.Stdout, min(o.rounds, 5)), studyElastic(os.Stdout, min(o.rounds, 5)),
		studyFabric(os.Stdout, min(o.rounds, 3)))...)
}

func newTable() *tabwriter.Writer { return tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0) }

// threadCounts returns 1, and 2 on a machine with at least two processors.
func threadCounts() []int {
	return slices.Compact([]int{1, min(2, runtime.GOMAXPROCS(0))})
}

// writeProblem stores the weights and images that both sides begin with.
func writeProblem(folder string, o setup) error {
	return torch.With(func(s *torch.Scope) error {
		network, images, labels, err := problem(s, o)
		if err != nil {
			return err
		}
		data := []sample.Named{{Name: "x", Tensor: images}, {Name: "y", Tensor: labels}}
		return errors.Join(write(filepath.Join(folder, "weights.pth"), network.State),
			write(filepath.Join(folder, "data.pth"), data))
	})
}

func write(path string, tensors []sample.Named) error {
	var set weights.Set
	for _, n := range tensors {
		w, err := n.Tensor.Weights(n.Name)
		if err != nil {
			return err
		}
		set.Tensors = append(set.Tensors, w)
	}
	return weights.Write(files.OS{}, path, &set)
}

// bench prints comparisons as they are measured.
type bench struct {
	options
	folder string
	table  *tabwriter.Writer
}

// variant defines one way to start a side.
type variant struct {
	name string
	env  []string
	args []string
	once bool // takes too long to start for more than one process
}

// keepBlocks makes malloc keep freed blocks, as graft's library does by itself.
var keepBlocks = []string{"MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=1073741824",
	"MALLOC_TOP_PAD_=16777216"}

func (b *bench) twins() []variant {
	return []variant{
		{name: "PyTorch"},
		{name: "PyTorch, malloc tuned", env: keepBlocks},
		{name: "PyTorch, torch.compile", args: []string{"--compile"}, once: true},
	}
}

var ours = []variant{{name: "graft"}, {name: "graft, fast path", args: []string{"-fast"}}}

func (b *bench) header() error {
	r, err := torch.Describe()
	if err != nil {
		return err
	}
	fmt.Printf("graft on LibTorch %s (%s); PyTorch of %s\n", r.Version, r.Vectors, b.python)
	fmt.Printf("ratio: the twin's time over graft's, median of %d pairs of bursts [quartiles] in %d pairs of "+
		"processes; above 1 graft is faster\n", b.rounds, b.starts)
	return nil
}

func (b *bench) startOurs(v variant, threads int) (*side, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"-worker", fmt.Sprintf("-threads=%d", threads), fmt.Sprintf("-seed=%d", b.seed),
		fmt.Sprintf("-batches=%d", b.batches), fmt.Sprintf("-images=%d", b.images), "-device=" + b.epochDevice()},
		v.args...)
	return start(v.name, v.env, program, args...)
}

// epochDevice returns the device of graft's epochs. Epochs beside a DataLoader run on the CPU.
func (b *bench) epochDevice() string {
	if b.epoch {
		return b.device
	}
	return "cpu"
}

func (b *bench) startTwin(v variant, threads int) (*side, error) {
	args := append([]string{b.twin, "--threads", fmt.Sprint(threads), "--weights",
		filepath.Join(b.folder, "weights.pth"), "--data", filepath.Join(b.folder, "data.pth"), "--lesson",
		filepath.Join(b.folder, "lesson.json")}, v.args...)
	return start(v.name, v.env, b.python, args...)
}

// threads compares each of our ways with each of the twin's.
func (b *bench) threads(n int) error {
	fmt.Printf("\n%d thread(s)\n", n)
	fmt.Fprintln(b.table, "what\tgraft\ttwin\tratio\t\tgraft images/s\ttwin images/s\tlosses")
	defer b.table.Flush()
	for _, v := range b.twins() {
		for _, u := range ours {
			if err := b.compare(u, v, n); err != nil {
				fmt.Fprintf(b.table, "step\t%s\t%s\tleft out: %s\n", u.name, v.name, firstLine(err))
			}
		}
	}
	return nil
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// compare measures training steps, and once the operator chain as well, over
// fresh pairs of processes.
func (b *bench) compare(u, v variant, threads int) error {
	var steps, chain measured
	err := b.repeated(u, v, threads, func(us, twin *side, rounds int) error {
		err := steps.pairs(alike(us, twin, command{Cmd: "train", Steps: b.steps}), rounds)
		if err != nil || u.name != ours[0].name || v.name != b.twins()[0].name {
			return err
		}
		return chain.pairs(alike(us, twin, command{Cmd: "ops", Iterations: b.ops}), rounds)
	})
	if err != nil {
		return err
	}
	images := float64(b.steps * batchSize)
	fmt.Fprintf(b.table, "step\t%s\t%s\t%s\t%.0f\t%.0f\t%s\n", u.name, v.name, steps.ratio(),
		images/median(steps.ours), images/median(steps.twin), steps.agreement())
	if len(chain.ours) > 0 {
		fmt.Fprintf(b.table, "operators\t%s\t%s\t%s\t\t\t%.2f and %.2f us an operator\n", u.name, v.name, chain.ratio(),
			1e6*median(chain.ours)/float64(9*b.ops), 1e6*median(chain.twin)/float64(9*b.ops))
	}
	return nil
}

// repeated starts fresh pairs of graft's side and the twin's for body, which gets its share of the
// rounds.
func (b *bench) repeated(u, v variant, threads int, body func(us, twin *side, rounds int) error) error {
	starts := b.starts
	if v.once {
		starts = 1
	}
	for range starts {
		if err := b.both(u, v, threads,
			func(us, twin *side) error { return body(us, twin, max(1, b.rounds/starts)) }); err != nil {
			return err
		}
	}
	return nil
}

// both starts graft's side and the twin's for body.
func (b *bench) both(u, v variant, threads int, body func(us, twin *side) error) error {
	twin, err := b.startTwin(v, threads)
	if err != nil {
		return err
	}
	defer twin.stop()
	us, err := b.startOurs(u, threads)
	if err != nil {
		return err
	}
	defer us.stop()
	return body(us, twin)
}
