package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"graft/torch"
)

// algebraSteps are steps of networks with many linear layers.
var algebraSteps = []step{{network: "MLP"}, {network: "FeedForwardNet2"}, {network: "CharGPT"}, {network: "SmallLLaMA"},
	{network: "ViTTiny32"}, {network: "Mixer32"}, {network: "ConvNet2"}}

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
	fmt.Fprintf(out, "\nsteps with linear algebra on one thread, over steps with linear algebra on %d\n",
		runtime.Threads)
	return b.compareSteps(out, variant{name: "all threads"}, own, runtime.Threads, algebraSteps)
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
	return variant{name: "one thread",
		env: []string{"LD_PRELOAD=" + strings.Join(libraries, " ")}}, nil
}
