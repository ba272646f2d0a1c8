package main

import (
	"fmt"
	"io"

	"graft/torch"
)

// blockSteps are steps with small and with large activations.
var blockSteps = []step{{"ConvNet2", 64}, {"ConvNet2", 256}, {"ConvNet2", 1024}, {"ConvNet2", 4096}, {"MLP", 1024},
	{"MobileNetV2", 64}, {"CIFARResNet20", 512}, {"ViTTiny32", 16}}

// studyBlocks compares training steps that keep large blocks of memory with steps that return them.
func (b *bench) studyBlocks(out io.Writer) error {
	runtime, err := torch.Describe()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nsteps that map large blocks of memory, over steps that keep them, on %d threads\n",
		runtime.Threads)
	return b.compareSteps(out, variant{name: "kept"},
		variant{name: "mapped", env: []string{"GRAFT_KEEP_BLOCKS=0"}}, runtime.Threads, blockSteps)
}
