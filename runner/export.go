package main

import (
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/export"
)

// newExportCommand makes `graft export`. It does not need LibTorch.
func newExportCommand() *cobra.Command {
	var o export.Options
	var asJSON bool
	command := &cobra.Command{
		Use:   "export RUN --out FILE",
		Short: "Export a trained network to a file for other programs",
		Long: `export writes the trained network of a job's run folder: the final network of a finished job, or
the newest checkpoint of an unfinished job. With --weights, export also accepts a network from the
zoo or a network file. The extension of FILE selects the format:

` + export.Forms() + `
A .py file needs only PyTorch: it prints the network as PyTorch does, and load() returns it with
its weights, in eval mode. normalize() prepares images as the job did, if the run folder records
the normalisation.`,
		Example: `  graft export runs/job --out net.py
  graft export runs/job --out net.onnx
  graft export ConvNet2 --weights weights.pth --out net.onnx`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if o.Out == "" {
				return failure.Usagef("--out names the file to write, such as net.py or net.onnx")
			}
			report, err := export.Run(environment(command.Context()), args[0], o)
			if err != nil {
				return err
			}
			if asJSON {
				return document.PrintJSON(command.OutOrStdout(), report)
			}
			p := &document.Printer{W: command.OutOrStdout()}
			p.Line("wrote %s: %s, %s", strings.Join(report.Files, " and "), report.Network,
				words.Plural(report.Parameters, "parameter"))
			for _, note := range report.Notes {
				p.Line("note: %s", note)
			}
			return p.Err
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Out, "out", "", "output `FILE`")
	flags.StringVar((*string)(&o.At), "at", "",
		"network of the run to export: final, or best by validation accuracy (requires train.keep_best); empty "+
			"means final")
	flags.StringVar(&o.Weights, "weights", "", "weight `FILE` to use instead of the run's weights")
	flags.BoolVar(&o.Force, "force", false, "replace existing files")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}
