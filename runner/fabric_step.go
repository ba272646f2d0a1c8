package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/cluster"
	wire "graft/cluster/fabric"
	graphs "graft/cluster/fabric/networks"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/fabric"
)

// graphFlags adds the flags of networks given as graphs.
func graphFlags(flags *pflag.FlagSet, o *graphs.ReadOptions) {
	flags.IntVar(&o.Batch, "batch", 64, "batch size of a network's training step, in examples")
	flags.IntVar(&o.Size, "size", 0,
		"image height and width for a network, in pixels; 0 means the network's own size")
	flags.StringVar(&o.Profile, "profile", graphs.UsualProfile,
		"device profile for a network: a built-in name, or a file written by 'graft profile'")
}

// givenGraph keeps only given options: they do not apply to a file that contains a graph.
func givenGraph(command *cobra.Command, o *graphs.ReadOptions) error {
	if err := refuseZero(command, "batch"); err != nil {
		return err
	}
	if !command.Flags().Changed("batch") {
		o.Batch = 0
	}
	if !command.Flags().Changed("profile") {
		o.Profile = ""
	}
	return nil
}

const graphHelp = `GRAPH is a PipeDream profile (.txt), a graph in JSON (docs/fabric.md), a network file, or the
name of a network such as ResNet18. For a network, operation times come from a device profile.`

func newFabricGraphCommand() *cobra.Command {
	var o fabric.GraphOptions
	var asJSON bool
	command := &cobra.Command{
		Use:   "graph GRAPH",
		Short: "Describe the graph of a training step, or write it to a file",
		Long: "graph prints the slowest operations of a training step, and totals by kind of operation.\n\n" +
			graphHelp,
		Example: `  graft fabric graph ResNet18 --batch 128
  graft fabric graph profiles/alexnet.txt
  graft fabric graph MobileNetV2 --out mobilenet.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := givenGraph(command, &o.ReadOptions); err != nil {
				return err
			}
			r, err := fabric.Graph(environment(command.Context()), args[0], o)
			return show(command.OutOrStdout(), asJSON, r, err, printGraph)
		},
	}
	graphFlags(command.Flags(), &o.ReadOptions)
	command.Flags().StringVar(&o.Out, "out", "", "output file: a PipeDream profile (.txt) or a graph (.json)")
	command.Flags().BoolVar(&o.Force, "force", false, "replace an existing output file")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

const (
	megabyte = 1e6
	milli    = 1e-3
)

func printGraph(w io.Writer, r *fabric.GraphReport) error {
	p := &document.Printer{W: w}
	p.Line("%s: %d operations and %d edges forward, depth %d; %.4g ms forward, %.4g ms backward; activations %.4g MB, "+
		"parameters %.4g MB\n", document.Printable(r.Model), r.Operations, r.Edges, r.Depth, r.Forward, r.Backward,
		r.Activation/megabyte, r.Parameters/megabyte)
	t := document.NewTable("kind").Numbers("", "", "operations").Numbers("ms", "%.4g", "time").
		Numbers(document.UnitShare, "", "share").Numbers("MB", "%.4g", "parameters")
	for _, k := range r.Kinds {
		t.Add(k.Kind, k.Operations, k.Time, k.Share, k.Parameters/megabyte)
	}
	p.Table(t)
	p.Line("\nlongest operations")
	t = document.NewTable().Numbers("", "", "id").Texts("kind").Numbers("ms", "%.4g", "forward", "backward").
		Numbers("MB", "%.4g", "activation", "parameters").Texts("detail")
	t.Wrap(40)
	for _, o := range r.Largest {
		t.Add(o.ID, o.Kind, o.Forward, o.Backward, o.Activation/megabyte, o.Parameters/megabyte, o.Detail)
	}
	p.Table(t)
	if r.File != "" {
		p.Line("\nwrote %s", document.Printable(r.File))
	}
	return p.Err
}

// stepFlags are flags whose texts are parsed.
type stepFlags struct {
	fabric.StepOptions
	shape  string
	quirks []string
	json   bool
}

func newFabricStepCommand() *cobra.Command {
	var o stepFlags
	command := &cobra.Command{
		Use:   "step GRAPH",
		Short: "Simulate one training step on different numbers of servers, with its critical path",
		Long: `step splits a training step over the servers of an idle cluster and simulates it operation by
operation, once for each degree. The degree is the number of servers: 1 or an even number. step
prints the time breakdown for each degree and the critical path for one degree: the operations,
transfers and waits that determine the step time.

` + graphHelp + `

--trace writes the step in the Trace Event Format, for Perfetto (ui.perfetto.dev). --figure draws
the activity of the servers and of the links between them over time.`,
		Example: `  graft fabric step ResNet18 --bandwidth 1e10 --figure step.svg
  graft fabric step profiles/alexnet.txt --degree 1,2,4,8 --strategy pipeline
  graft fabric step VGG11BN --network tree --shape 4x8 --bandwidth 12.5e9 --trace step.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.read(command); err != nil {
				return failure.With(failure.Usage, err)
			}
			r, err := fabric.Step(environment(command.Context()), args[0], o.StepOptions)
			return show(command.OutOrStdout(), o.json, r, err, printStep)
		},
	}
	flags := command.Flags()
	graphFlags(flags, &o.Graph)
	flags.IntSliceVar(&o.Degrees, "degree", nil,
		"degrees to simulate, such as 1,2,4; empty means 1,2,4,8,16, up to the number of servers, and up to the batch "+
			"for a network with --strategy data")
	flags.StringVar((*string)(&o.Options.Strategy), "strategy", string(wire.Data),
		"kind of parallelism: data, tensor or pipeline")
	flags.Float64Var(&o.Options.Quantum, "quantum", 0.01,
		"time quantum in ms, for --strategy tensor; an operation is split into one part per quantum of its time")
	flags.Float64Var(&o.Options.Memory, "memory", 80e9, "memory per server, in bytes")
	flags.StringVar(&o.Network.Kind, "network", "ramp", "topology of the network between the servers: ramp or tree")
	flags.StringVar(&o.shape, "shape", "",
		"dimensions of the network: groups, racks and servers for ramp, such as 4x4x2; racks and servers for tree, "+
			"such as 4x8")
	flags.Float64Var(&o.Network.Bandwidth, "bandwidth", 1.6e12, "network bandwidth per server, in bytes/s")
	flags.Float64Var(&o.Network.Uplink, "uplink", 0,
		"uplink bandwidth per rack of a tree, in bytes/s; 0 means the sum of its servers' bandwidths")
	flags.Float64Var(&o.Network.Latency, "latency", 50e-9, "propagation time of a transfer, in seconds")
	flags.StringSliceVar(&o.quirks, "quirks", nil, "bugs of PAC-ML's simulator to reproduce, by name")
	flags.IntVar(&o.Critical, "critical", 0,
		"degree whose critical path is printed; 0 means the last degree in --degree that fits into memory")
	flags.StringVar(&o.Trace, "trace", "", "trace file to write, for the degree selected by --critical")
	flags.StringVar(&o.Figure, "figure", "",
		"figure file to write (.svg, .png or .pdf), for the degree selected by --critical")
	flags.BoolVar(&o.Force, "force", false, "replace existing output files")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

// read parses the texts of flags, and refuses flags without an effect.
func (o *stepFlags) read(command *cobra.Command) (err error) {
	if err := givenGraph(command, &o.Graph); err != nil {
		return err
	}
	if err := refuseZero(command, "bandwidth", "latency", "memory", "quantum"); err != nil {
		return err
	}
	switch given := command.Flags().Changed; {
	case given("uplink") && o.Network.Kind == "ramp":
		return errors.New("--uplink applies to racks of --network tree, but the network is ramp; omit --uplink")
	case given("quantum") && o.Options.Strategy != wire.Tensor && !slices.Contains(o.quirks, wire.HeldSizes.Name):
		return fmt.Errorf("--quantum applies to --strategy tensor, but the strategy is %s; omit --quantum",
			o.Options.Strategy)
	}
	if o.shape != "" {
		if o.Network.Size, err = wire.ReadSize(o.shape); err != nil {
			return fmt.Errorf("--shape: %w", err)
		}
	}
	o.Options.Quirks, err = cluster.NamedQuirks(o.quirks, wire.Quirks())
	return err
}

// legsShown is the number of legs of a critical path shown on a terminal.
const legsShown = 20

func printStep(w io.Writer, r *fabric.StepReport) error {
	p := &document.Printer{W: w}
	p.Line("one step of %s with strategy %s on %s\n", document.Printable(r.Model), r.Strategy,
		words.Plural(r.Servers, "server"))
	t := (&document.Table{}).Numbers("", "", "degree").Numbers("ms", "%.5g", "time").Numbers("", "%.2f", "speedup").
		Numbers(document.UnitShare, "", "efficiency", "computing", "transferring", "busy").
		Numbers("", "", "servers").Numbers("GB", "%.4g", "memory").Numbers("MB", "%.4g", "sent").Texts("note")
	for _, c := range r.Degrees {
		if c.Reason != "" {
			none := document.Missing()
			t.Add(c.Degree, none, none, none, none, none, none, none, none, none, c.Reason)
			continue
		}
		t.Add(c.Degree, c.Time/milli, c.Speedup, c.Efficiency, c.Compute, c.Transfer, c.Busy, c.Servers, c.Memory/1e9,
			c.Flow/megabyte)
	}
	p.Table(t)
	if r.Strategy == string(wire.Data) {
		p.Line("\nThe time of an operation on a share of the batch is assumed to be proportional to the share.")
	}
	p.Line(
		"\nCOMPUTING and TRANSFERRING are the shares of time in which a server computes, and in which bytes are sent " +
			"between servers. BUSY is the mean over servers. MEMORY is the largest use of a server.")
	if r.Degree == 0 {
		return p.Err
	}
	p.Line("\ncritical path at degree %d, by kind of activity", r.Degree)
	t = document.NewTable("what").Numbers("", "", "legs").Numbers("ms", "%.4g", "time").Numbers(document.UnitShare,
		"", "share")
	for _, k := range r.Kinds {
		t.Add(k.What, k.Legs, k.Length/milli, k.Share)
	}
	p.Table(t)
	p.Line("\nfirst %d of %d segments", min(legsShown, len(r.Critical)), len(r.Critical))
	t = (&document.Table{}).Numbers("ms", "%.4f", "from", "time").Texts("what", "part", "where")
	for _, leg := range r.Critical[:min(legsShown, len(r.Critical))] {
		t.Add(leg.From/milli, leg.Length/milli, leg.What, leg.Name, leg.Where)
	}
	p.Table(t)
	for _, file := range []string{r.File, r.Figure} {
		if file != "" {
			p.Line("\nwrote %s", document.Printable(file))
		}
	}
	return p.Err
}
