// Command bench compares the speed of graft with plain PyTorch. Both sides are resident processes with the same weights
// and the same images. They take turns in short bursts, so that a drift of the machine's speed affects both equally,
// and each pair of bursts gives one ratio. The output is the median ratio and its quartiles.
//
// "bench list" prints the measurements.
package main

import (
	"cmp"
	"errors"
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

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(args []string) error {
	names, flags := splitArguments(args)
	switch {
	case slices.Equal(names, []string{"worker"}):
		return runWorker(flags)
	case slices.Equal(names, []string{"gpt-worker"}):
		return runGPTWorker(flags)
	case slices.Equal(names, []string{"together-peer"}):
		return runTogetherPeer(flags)
	case slices.Equal(names, []string{"open"}):
		return torch.Load()
	case slices.Equal(names, []string{"link-peer"}):
		return runLinkPeer(flags)
	case slices.Equal(names, []string{"list"}) && len(flags) == 0:
		return list(os.Stdout)
	case len(names) == 0 && len(flags) == 1 && slices.Contains([]string{"-h", "-help", "--help"}, flags[0]):
		return help(os.Stdout)
	}
	all := slices.Equal(names, []string{"all"})
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	o, err := parseOptions(chosen, flags)
	if err != nil {
		return err
	}
	return measure(&bench{options: o, table: newTable()}, chosen, all)
}

// measure runs measurements one after the other, and continues after a failure. A run of all of them limits the rounds
// of some.
func measure(b *bench, chosen []measurement, all bool) error {
	if slices.ContainsFunc(chosen, func(m measurement) bool { return m.beside }) {
		folder, err := os.MkdirTemp("", "graft-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		b.folder = folder
		if err := errors.Join(writeProblem(folder, b.setup), b.header()); err != nil {
			return err
		}
	}
	var faults []error
	for _, m := range chosen {
		own := *b
		if all && m.rounds > 0 {
			own.rounds = min(own.rounds, m.rounds)
		}
		faults = append(faults, m.run(&own))
	}
	return errors.Join(faults...)
}

func newTable() *tabwriter.Writer { return tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0) }

// threadCounts returns 1, and 2 on a machine with at least two processors.
func threadCounts() []int {
	return slices.Compact([]int{1, min(2, runtime.GOMAXPROCS(0))})
}

// writeProblem stores the initial weights and images for both sides.
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
	folder string // folder of the problem; empty if no side needs it
	epochs string // device of graft's epochs; empty means the CPU, compared with a DataLoader
	table  *tabwriter.Writer
}

// variant defines how to start a side.
type variant struct {
	name string
	env  []string
	args []string
	once bool // takes too long to start for more than one process
}

// keepBlocks makes malloc keep freed blocks, as graft's library does itself.
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
	args := append([]string{"worker", fmt.Sprintf("-threads=%d", threads), fmt.Sprintf("-seed=%d", b.seed),
		fmt.Sprintf("-batches=%d", b.batches), fmt.Sprintf("-images=%d", b.images),
		"-device=" + cmp.Or(b.epochs, "cpu")}, v.args...)
	return start(v.name, v.env, program, args...)
}

func (b *bench) startTwin(v variant, threads int) (*side, error) {
	args := append([]string{b.twin, "--threads", fmt.Sprint(threads), "--weights",
		filepath.Join(b.folder, "weights.pth"), "--data", filepath.Join(b.folder, "data.pth"), "--lesson",
		filepath.Join(b.folder, "lesson.json")}, v.args...)
	return start(v.name, v.env, b.python, args...)
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// repeated starts fresh pairs of graft's side and the twin's for body, which gets its share of the rounds.
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
