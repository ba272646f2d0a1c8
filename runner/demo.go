package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"graft/torch"
	"graft/torch/sample"
)

// demoOptions are the flags of `graft demo`.
type demoOptions struct {
	device  string // cpu or cuda:N
	threads int    // of one operator; zero means the machine's
	epochs  int    // at least one
	images  int    // in an epoch, at least one batch
	exact   bool   // keep PyTorch's order of operations
	seed    int64  // of weights and images
	json    bool   // print one object instead of a table
}

// demoEpoch is one line of the demo's table.
type demoEpoch struct {
	Epoch           int     `json:"epoch"`
	Loss            float64 `json:"loss"`              // mean cross entropy
	Accuracy        float64 `json:"accuracy"`          // share of this epoch's images, before their step
	ImagesPerSecond float64 `json:"images_per_second"` // of training
}

// demoBatch is the images of one step.
const demoBatch = 64

// newDemoCommand is `graft demo`.
func newDemoCommand() *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:   "demo",
		Short: "Train a small network on synthetic images and print its falling loss",
		Long: `demo trains a small convolutional network on images it makes itself, from
nothing but a seed, and prints one line an epoch. It needs no data and no network
connection, and shows that training works and how fast it is.`,
		Example: `  graft demo
  graft demo --device cuda:0 --epochs 10 --json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runDemo(command.Context(), command.OutOrStdout(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.device, "device", "cpu", "where to train: cpu or cuda:N")
	flags.IntVar(&o.threads, "threads", 0, "threads of one operator; 0 for all of the machine's")
	flags.IntVar(&o.epochs, "epochs", 6, "how often to go over the images")
	flags.IntVar(&o.images, "images", 6400, "images in an epoch")
	flags.BoolVar(&o.exact, "exact", false, "keep PyTorch's order of operations instead of the fast path")
	flags.Int64Var(&o.seed, "seed", 42, "seed of weights and images")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func (o demoOptions) validate() error {
	switch {
	case o.epochs < 1:
		return usageErrorf("--epochs %d: at least one is needed", o.epochs)
	case o.images < demoBatch:
		return usageErrorf("--images %d: at least one batch of %d is needed", o.images, demoBatch)
	case o.threads < 0:
		return usageErrorf("--threads %d: 0 or more are needed", o.threads)
	}
	return nil
}

// runDemo trains, and prints as it goes or all at once.
func runDemo(ctx context.Context, w io.Writer, o demoOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	device, err := torch.ParseDevice(o.device)
	if err != nil {
		return err
	}
	if o.threads > 0 {
		if err := torch.SetThreads(o.threads); err != nil {
			return err
		}
	}
	return torch.With(func(s *torch.Scope) error {
		table := demoTable{w: w, json: o.json}
		if err := trainDemo(ctx, s, device, o, &table); err != nil {
			return err
		}
		return table.finish()
	})
}

func trainDemo(ctx context.Context, s *torch.Scope, device torch.Device, o demoOptions, table *demoTable) error {
	random := s.NewGenerator(torch.CPU, o.seed)
	network := sample.New(s, device, random)
	images, labels, err := sample.Stripes(s, device, random, o.images)
	if err != nil {
		return err
	}
	program := network.Program(torch.ProgramOptions{Fast: !o.exact})
	optimizer := network.Adam(0.003, !o.exact)
	if err := s.Err(); err != nil {
		return err
	}
	for epoch := 1; epoch <= o.epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		order := s.To(s.Permutation(o.images, random), torch.Int64, device)
		began := time.Now()
		figures, err := torch.Train(program, optimizer, torch.Batches{Inputs: images, Labels: labels, Order: order, Size: demoBatch})
		if err != nil {
			return err
		}
		s.Free(order)
		if err := table.add(summary(epoch, figures, o.images, time.Since(began))); err != nil {
			return err
		}
	}
	return nil
}

func summary(epoch int, f torch.Figures, images int, took time.Duration) demoEpoch {
	e := demoEpoch{Epoch: epoch, ImagesPerSecond: float64(images) / took.Seconds()}
	for k := range f.Losses {
		e.Loss += f.Losses[k] / float64(len(f.Losses))
		e.Accuracy += float64(f.Correct[k]) / float64(images)
	}
	return e
}

// demoTable prints epochs as they come, or collects them for JSON.
type demoTable struct {
	w      io.Writer
	json   bool
	epochs []demoEpoch
}

func (t *demoTable) add(e demoEpoch) error {
	t.epochs = append(t.epochs, e)
	if t.json {
		return nil
	}
	if len(t.epochs) == 1 {
		if _, err := fmt.Fprintln(t.w, "epoch    loss  accuracy  images/s"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.w, "%5d  %6.4f  %7.1f%%  %8.0f\n", e.Epoch, e.Loss, 100*e.Accuracy, e.ImagesPerSecond)
	return err
}

func (t *demoTable) finish() error {
	if t.json {
		return printJSON(t.w, map[string]any{"epochs": t.epochs})
	}
	first, last := t.epochs[0].Loss, t.epochs[len(t.epochs)-1].Loss
	_, err := fmt.Fprintf(t.w, "The loss went from %.4f to %.4f.\n", first, last)
	return err
}
