package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/report/document"
	"graft/runner/imports"
)

// newModelImportCommand is `graft model import`.
func newModelImportCommand() *cobra.Command {
	var o imports.Options
	var asJSON bool
	command := &cobra.Command{
		Use:   "import FILE --out NAME",
		Short: "Import a network with its weights from a PyTorch export or ONNX file",
		Long: `import reads a network and writes two files: NAME.toml with its operators and modules, and
NAME.safetensors with its weights. FILE is either an archive (.pt2) written by torch.export.save
(PyTorch 2.5 or later), or an ONNX model (.onnx) that contains its weights.

Nothing in an archive is executed, and pickles are rejected. If an operator is not supported,
nothing is written; the error lists each unsupported call with a remedy. If python/graft_export.py
wrote FILE, import prints the network exactly as PyTorch does; for other files, import prints the
operators.`,
		Example: `  graft model import net.pt2 --out net
  graft model forward net.toml --weights net.safetensors --inputs in.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r, err := imports.Run(command.Context(), environment(command.Context()), args[0], o)
			return show(command.OutOrStdout(), asJSON, r, err, printImport)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Out, "out", "", "`NAME` of the output files, without an extension")
	flags.StringVar(&o.Modules, "modules", "",
		"module description `FILE` written by python/graft_export.py, with the class of each module and the "+
			"text that PyTorch prints for it")
	flags.BoolVar(&o.Force, "force", false, "replace existing files")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// printImport prints the network and the written files. The error has the operators that cannot be mapped.
func printImport(w io.Writer, r *imports.Report) error {
	if len(r.Files) == 0 {
		return nil
	}
	p := &document.Printer{W: w}
	p.Line("%s", document.PrintableLines(r.Print))
	p.Line("\nwrote %s: %s, %s, %s", strings.Join(r.Files, " and "), document.Printable(r.Network),
		words.Plural(r.Operators, "operator"), words.Plural(r.Parameters, "parameter"))
	for _, note := range r.Notes {
		p.Line("note: %s", document.Printable(note))
	}
	return p.Err
}

// printShown prints an imported network.
func printShown(w io.Writer, r *imports.Network) error {
	return r.Write(&document.Printer{W: w})
}
