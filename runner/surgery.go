package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"graft/net2net"
	"graft/runner/surgery"
)

func newSurgeryCommand() *cobra.Command {
	var o surgery.Options
	asJSON := false
	command := &cobra.Command{
		Use:   "surgery --model NAME|FILE [--weights FILE] --action ACTION…",
		Short: "Deepen and widen a network, and verify that its function is unchanged",
		Long: `surgery deepens and widens a network without changing its function. Actions are applied in the
given order:

` + actionHelp() + `
BLOCK and LAYER are names or numbers as 'graft model show' prints them. Batch normalisation in a
new block is calibrated on a batch: --batch names a file with the inputs in the tensor "x" (or
its only tensor). Without --batch, calibration uses random inputs, and the function is preserved
only for such inputs.

--verify prints the change of the logits, relative to the largest logit; if it exceeds the
tolerance, surgery fails and writes no files.`,
		Example: `  graft surgery --model ConvNet2 --weights in.pth --action deepen:1 --action widen:conv2:48 \
      --out out.pth --model-out out.toml --verify
  graft surgery --model out.toml --weights out.pth --replay record.json --shrink 0 --out back.pth`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			r, err := surgery.Run(command.Context(), environment(command.Context()), o)
			return show(command.OutOrStdout(), asJSON, r, err, printSurgery)
		},
	}
	surgeryFlags(command, &o)
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// actionHelp has a line per operation.
func actionHelp() string {
	var text strings.Builder
	for _, line := range net2net.Usage() {
		fmt.Fprintf(&text, "  %-24s  %s\n", line[0], line[1])
	}
	return text.String()
}

func surgeryFlags(command *cobra.Command, o *surgery.Options) {
	flags := command.Flags()
	flags.StringVar(&o.Model, "model", "", "network to change: a name from the zoo, or a network file")
	flags.IntVar(&o.Classes, "classes", 0, "number of classes, for a network from the zoo; 0 means its own number")
	flags.StringVar(&o.Input, "input", "", "shape of an example, such as 3x32x32 (default: the network's own)")
	flags.StringVar(&o.Weights, "weights", "",
		"file of initial weights (.pth, .safetensors); if empty, the weights are drawn at random")
	flags.StringArrayVar(&o.Actions, "action", nil, "action to apply; repeatable")
	flags.StringVar(&o.Replay, "replay", "",
		"file written by --record; its changes are applied again or, with --shrink, reverted")
	flags.IntVar(&o.Keep, "shrink", -1,
		"revert the changes of the --replay file, the last one first, until N remain; -1 reverts none")
	flags.StringVar(&o.BatchFile, "batch", "", "file of inputs for calibration and verification")
	flags.IntVar(&o.Rows, "rows", 256, "number of examples per random batch")
	flags.StringVar((*string)(&o.Split), "split", "", "division of outgoing weights among the copies of a unit: "+
		"partition (default), shares or equal; every rule keeps the function")
	flags.Float64Var(&o.Noise, "noise", 0, "standard deviation of Gaussian noise that makes copied channels differ, "+
		"relative to the root mean square of the tensor; 0 adds no noise and keeps the function exact")
	flags.StringVar((*string)(&o.Form), "form", "", `form of a new block: "identity" or "residual"; `+
		`for networks that run as a graph, also "opposite", or "stacked", which changes the function; `+
		`if empty, surgery chooses the form`)
	flags.StringVar((*string)(&o.Compat), "compat", "",
		`version of the deepen operation: "original" inserts layers as the original system does, `+
			`"original-without-norm" inserts the same layers without batch normalisation; empty means graft's version`)
	flags.Uint64Var(&o.RandomSeed, "seed", 1, "seed of all random draws")
	flags.StringVar(&o.Device, "device", "cpu", "device to compute on: cpu or cuda:N")
	flags.BoolVar(&o.Exact, "float64", false, "compute in double precision")
	flags.BoolVar(&o.Verify, "verify", false, "print the change of the logits, and fail if it exceeds the tolerance")
	flags.Float64Var(&o.Tolerance, "tolerance", 0, "relative tolerance of --verify; 0 means 1e-5 in eval mode and "+
		"1e-4 in train mode; if a normalisation was calibrated on the given batch, 0 means 5% (L2 norm) on other "+
		"batches")
	flags.StringVar(&o.Out, "out", "", "output file for the weights (.pth, .safetensors)")
	flags.StringVar(&o.ModelOut, "model-out", "", "output file for the network (.toml, .json)")
	flags.StringVar(&o.RecordOut, "record", "", "output file for a record of the changes (.json), which --replay reads")
	flags.BoolVar(&o.Force, "force", false, "replace existing output files")
}
