package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/profile"
	"graft/trainer/costs"
)

// predictFlags are the flags of `graft profile predict`.
type predictFlags struct {
	profile.PredictOptions
	operators, json bool // list the operators; print one JSON object
	constants       bool // print the file of the hardware instead of a prediction
}

func newProfilePredictCommand() *cobra.Command {
	var o predictFlags
	command := &cobra.Command{
		Use:   "predict NAME|FILE",
		Short: "Predict the time of a training iteration of a language model on many devices",
		Long: `predict computes the time of a training iteration of a GPT in half precision from its operators:
the operations and bytes of each operator, the time to launch it, the messages between devices,
and the waits of the pipeline. Nothing is measured. predict also prints the error of such
predictions for published measurements with numbers of devices and hidden sizes in the same range,
if there are any. An argument that contains a slash or ends in .toml is a FILE with the constants
of the hardware. NAME is one of:

` + hardwareHelp(),
		Example: `  graft profile predict a100
  graft profile predict a100 --hidden 6144 --heads 48 --layers 40 --sequence 2048 --tensor 8 --data 32 \
    --micro-batch 4 --batch 1024 --recompute
  graft profile predict a100 --operators`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if o.constants {
				return printConstants(environment(command.Context()), command.OutOrStdout(), args[0])
			}
			p, err := profile.Predict(environment(command.Context()), args[0], o.PredictOptions)
			return show(command.OutOrStdout(), o.json, p, err, o.print)
		},
	}
	o.flags(command)
	return command
}

func (o *predictFlags) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.IntVar(&o.Model.Hidden, "hidden", 1024, "hidden size of the model")
	flags.IntVar(&o.Model.Heads, "heads", 16, "number of attention heads")
	flags.IntVar(&o.Model.Layers, "layers", 24, "number of layers")
	flags.IntVar(&o.Model.Sequence, "sequence", 1024, "tokens per sequence")
	flags.IntVar(&o.Model.Vocabulary, "vocabulary", 50257, "number of tokens in the vocabulary")
	flags.IntVar(&o.Model.Padding, "padding", 128,
		"pad the vocabulary on each device to a multiple of this number of tokens; 1 does not pad")
	flags.IntVar(&o.Plan.Tensor, "tensor", 1, "number of devices that share each layer")
	flags.IntVar(&o.Plan.Data, "data", 1, "number of replicas of the model")
	flags.IntVar(&o.Plan.Pipeline, "pipeline", 1, "number of stages of the pipeline")
	flags.IntVar(&o.Plan.MicroBatch, "micro-batch", 4, "sequences that a replica computes at a time")
	flags.IntVar(&o.Batch, "batch", 32, "sequences per iteration, over all replicas")
	flags.BoolVar(&o.Plan.Recompute, "recompute", false,
		"run the forward pass of each layer again before its backward pass")
	flags.BoolVar(&o.operators, "operators", false, "list the operators of a micro batch")
	flags.BoolVar(&o.constants, "constants", false,
		"print the constants of the hardware as a TOML file for this command, with the source and the error "+
			"of each constant")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
}

// printConstants prints the file of hardware, which a user can change for other hardware.
func printConstants(env *app.Env, w io.Writer, name string) error {
	h, err := costs.Find(env.Files, name)
	if err != nil {
		return runs.AsConfigFault(err)
	}
	_, err = io.WriteString(w, costs.Format(h))
	return err
}

// hardwareHelp has a line for each shipped hardware.
func hardwareHelp() (text string) {
	for _, h := range costs.Library() {
		text += fmt.Sprintf("  %-6s %s\n", h.Name, h.About)
	}
	return text
}

func (o *predictFlags) print(w io.Writer, p *profile.Prediction) error {
	device := p.Operations / p.Seconds / float64(p.Devices)
	fmt.Fprintf(w, "%s, %.3g billion parameters, %d sequences; micro batches per replica: %d\n",
		words.Plural(p.Devices, "device"), p.Parameters/1e9, o.Batch, p.Batches)
	fmt.Fprintf(w, "iteration: %.1f ms (passes %.1f ms, gradients %.1f ms, optimizer %.1f ms)\n", 1e3*p.Seconds,
		1e3*p.Passes, 1e3*p.Gradients, 1e3*p.Optimizer)
	fmt.Fprintf(w, "throughput: %.4g sequences/s, %.1f TFLOP/s per device\n", p.Rate, device/1e12)
	if p.Error == nil {
		fmt.Fprintln(w, "error: unknown; no published measurement has this number of devices and this hidden size")
	} else {
		fmt.Fprintf(w, "error: %.1f%% on average, at most %.1f%% for 9 of 10, of %d published measurements (%s)\n",
			100*p.Error.Mean, 100*p.Error.Ninth, p.Error.Rows, p.Error.On)
	}
	if !o.operators {
		return nil
	}
	return printOperators(w, p.Work)
}

func printOperators(w io.Writer, work []profile.Work) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\nGFLOP\tMB\tDEVICE [us]\t \tOPERATOR")
	pass := ""
	for _, o := range work {
		if o.Pass != pass {
			pass = o.Pass
			fmt.Fprintf(table, "\t\t\t \t%s:\n", pass)
		}
		fmt.Fprintf(table, "%.1f\t%.1f\t%.1f\t \t  %s (%s)\n", o.Operations/1e9, o.Bytes/1e6, 1e6*o.Seconds, o.Name,
			o.Kind)
	}
	return table.Flush()
}
