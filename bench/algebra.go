package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// algebraNetworks are networks with many linear layers.
var algebraNetworks = []string{"MLP", "FeedForwardNet2", "CharGPT", "SmallLLaMA", "ViTTiny32", "Mixer32", "ConvNet2"}

// studyAlgebra compares training steps with two builds of Debian's OpenBLAS: the one that uses LibTorch's threads, and
// the one with threads of its own, which computes on one thread.
func (b *bench) studyAlgebra(out io.Writer) error {
	runtime, err := torch.Describe() // opens LibTorch
	if err != nil {
		return err
	}
	own, err := ownThreads()
	if err != nil {
		return err
	}
	all, err := b.startOurs(variant{name: "OpenBLAS with OpenMP"}, runtime.Threads)
	if err != nil {
		return err
	}
	defer all.stop()
	one, err := b.startOurs(own, runtime.Threads)
	if err != nil {
		return err
	}
	defer one.stop()
	fmt.Fprintf(out, "\nsteps with linear algebra on one thread, over steps with linear algebra on %d\n",
		runtime.Threads)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "network\tratio\tquartiles\tone thread [ms]\tall threads [ms]")
	for _, name := range algebraNetworks {
		var m measured
		if err := m.pairs(alike(all, one, command{Cmd: "step", Network: name}), b.rounds); err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%.2f\t%.2f\n", name, m.ratio(), 1e3*median(m.twin), 1e3*median(m.ours))
	}
	return table.Flush()
}

// ownThreads is the variant with the OpenBLAS that has threads of its own.
func ownThreads() (v variant, err error) {
	folders, err := filepath.Glob("/usr/lib/*/openblas-pthread")
	if err != nil {
		return v, err
	}
	mapped, err := os.ReadFile("/proc/self/maps")
	if err != nil || len(folders) == 0 || !strings.Contains(string(mapped), "openblas-openmp") {
		return v, errors.New("the comparison needs Debian's LibTorch and two packages; unset LIBTORCH and " +
			"GRAFT_LIBRARY, run 'make library', and install libopenblas0-openmp and libopenblas0-pthread")
	}
	var libraries []string
	for _, name := range []string{"libopenblas.so.0", "libblas.so.3", "liblapack.so.3"} {
		libraries = append(libraries, filepath.Join(folders[0], name))
	}
	return variant{name: "OpenBLAS with threads of its own",
		env: []string{"LD_PRELOAD=" + strings.Join(libraries, " ")}}, nil
}

// step measures a training step of a network whose steps are predicted elsewhere.
func (k *worker) step(name string) (a answer, err error) {
	all := predictedNetworks()
	at := slices.IndexFunc(all, func(p predictedNetwork) bool { return p.name == name })
	if at < 0 {
		return a, fmt.Errorf("unknown network %q", name)
	}
	n, err := all[at].network()
	if err != nil {
		return a, err
	}
	m, err := trainer.Measure(context.Background(), []clock.Subject{{Name: name, Network: n}},
		trainer.MeasureOptions{Batches: []int{all[at].rows}, Rounds: 1, Burst: stepBurst, Now: time.Now})
	if err != nil {
		return a, err
	}
	a.Seconds = m.Networks[0].StepSeconds
	return a, nil
}

// stepBurst is the time of the steps and evaluations of a measurement.
const stepBurst = 200 * time.Millisecond
