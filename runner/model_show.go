package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/model"
	"graft/runner/app"
	"graft/runner/describe"
	"graft/runner/imports"
	"graft/tracing"
	"graft/tracing/drawing"
)

// modelShowOptions are the flags of `graft model show`.
type modelShowOptions struct {
	input   string // shape of one example such as 3x32x32; empty means the network's own
	classes int    // classes of a network from the zoo; zero means its own
	json    bool   // print one object instead of tables
	toml    bool   // print a network file instead of tables
	svg     string // file to draw to, "-" for stdout; empty means no drawing
}

func newModelShowCommand() *cobra.Command {
	var o modelShowOptions
	command := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Print a network's layers, blocks and channel spaces, or draw it",
		Long: `show prints a network as PyTorch does, and then its structure: the layers in execution order with
their costs, the blocks that surgery operates on, and the channel spaces. A channel space is a set
of channels that must change together when a layer is widened.

NAME is a network from 'graft model list'. An argument that contains a slash or ends in .toml or
.json is a network file, as written by --toml.`,
		Example: `  graft model show ConvNet2
  graft model show ResNet18 --input 3x32x32 --classes 10 --svg net.svg
  graft model show ConvNet2 --toml > net.toml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runModelShow(command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.input, "input", "", "shape of one example, such as 3x32x32 (default: the network's own)")
	flags.IntVar(&o.classes, "classes", 0, "number of classes, for a network from the zoo (default: the network's own)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.toml, "toml", false, "print the network as a network file to stdout; '> FILE' saves it")
	flags.StringVar(&o.svg, "svg", "", "draw the network into `FILE`, replacing an existing file; - means stdout")
	command.MarkFlagsMutuallyExclusive("json", "toml", "svg")
	return command
}

func runModelShow(w io.Writer, arg string, o modelShowOptions) error {
	n, err := o.load(arg)
	if err != nil {
		return err
	}
	if o.toml {
		return config.FormatNetwork(w, n)
	}
	if n.Graph != nil {
		if o.svg != "" {
			return drawNetwork(w, o.svg, n.Graph.Name, fmt.Sprintf("a graph of %s", words.Plural(len(n.Graph.Nodes),
				"operator")), func(w io.Writer) error { return drawing.GraphSVG(w, n.Graph) })
		}
		return show(w, o.json, imports.Describe(n.Graph), nil, printShown)
	}
	trace, err := tracing.Read(n)
	if err != nil {
		return err
	}
	if o.svg != "" {
		return drawNetwork(w, o.svg, trace.Network.Name(), words.Plural(len(trace.Layers), "layer"),
			func(w io.Writer) error { return drawing.SVG(w, trace) })
	}
	report, err := describe.Describe(trace)
	if err != nil {
		return err
	}
	return show(w, o.json, &report, nil, printNetwork)
}

func (o modelShowOptions) load(arg string) (*model.Network, error) {
	input, err := app.ParseInput(o.input)
	if err != nil {
		return nil, err
	}
	// A drawing replaces an existing file, so the name must not be a network file's.
	if o.svg != "" && o.svg != "-" && !strings.EqualFold(filepath.Ext(o.svg), ".svg") {
		return nil, failure.Usagef("--svg %s: expected a file name that ends in .svg, or - for stdout", o.svg)
	}
	return app.LoadNetwork(files.OS{}, arg, input, o.classes)
}

func drawNetwork(w io.Writer, path, name, size string, draw func(io.Writer) error) error {
	if path == "-" {
		return draw(w)
	}
	if err := files.WriteAtomic(files.OS{}, path, draw); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "wrote %s: %s, %s\n", path, name, size)
	return err
}
