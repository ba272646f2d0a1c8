package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/report/document"
	"graft/runner/export"
	"graft/trainer"
)

// newModelForwardCommand is `graft model forward`.
func newModelForwardCommand() *cobra.Command {
	var o export.ForwardOptions
	var asJSON bool
	command := &cobra.Command{
		Use:   "forward RUN|NAME|FILE",
		Short: "Compute the outputs of a network for given inputs",
		Long: `forward computes the outputs of a network in evaluation mode: the trained network of a run folder,
or with --weights a network from the zoo or a network file. Inputs must have the network's input shape
and be normalised like its training data:

  {"inputs": [{"shape": [2, 3, 32, 32], "values": [0.1, -0.4, …]}]}

If an imported network expects integers, add "dtype": "int64" next to the shape. --out writes
{"name": …, "output_shape": …, "logits_eval": …}.`,
		Example: `  graft model forward runs/job --inputs in.json --json
  graft model forward net.toml --weights net.safetensors --inputs in.json --out out.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r, err := export.Forward(command.Context(), environment(command.Context()), args[0], o)
			if err == nil && o.Out != "" && !asJSON {
				_, err = fmt.Fprintf(command.OutOrStdout(), "wrote %s: the outputs of %s, %v\n", o.Out,
					document.Printable(r.Network), r.Shape)
				return err
			}
			if err == nil && asJSON {
				err = r.Finite()
			}
			return show(command.OutOrStdout(), asJSON, r, err, printForward)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Inputs, "inputs", "", "JSON file with the inputs")
	flags.StringVar(&o.Weights, "weights", "", "weight file for a network from the zoo or from a network file")
	flags.StringVar(&o.Out, "out", "",
		"JSON `FILE` to write instead of printing")
	flags.BoolVar(&o.Force, "force", false, "replace an existing output file")
	flags.StringVar((*string)(&o.At), "at", string(trainer.AtEnd),
		"network of the run to use: final, or best by validation accuracy (requires train.keep_best)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	_ = command.MarkFlagRequired("inputs")
	return command
}

// printForward has a line per example, or per position of one, such as a token.
func printForward(w io.Writer, r *export.ForwardReport) error {
	t := document.NewTable().Given("example", true)
	columns := 1
	if len(r.Shape) > 0 {
		columns = r.Shape[len(r.Shape)-1]
	}
	for k := range columns {
		name := fmt.Sprint(k)
		if len(r.Classes) == columns {
			name = document.Printable(r.Classes[k])
		}
		t.Numbers("", "%.6f", name)
	}
	for at := range len(r.Logits) / max(columns, 1) {
		row := []any{at}
		for _, v := range r.Logits[at*columns:][:columns] {
			row = append(row, float64(v))
		}
		t.Add(row...)
	}
	p := &document.Printer{W: w}
	p.Table(t)
	return p.Err
}
