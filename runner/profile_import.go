package main

import (
	"io"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/report/document"
	"graft/runner/profile"
)

// importFlags are the flags of `graft profile import`.
type importFlags struct {
	profile.ImportOptions
	operators, json bool // list all operators; print one JSON object
}

func newProfileImportCommand() *cobra.Command {
	var o importFlags
	command := &cobra.Command{
		Use:   "import TRACE NETWORK",
		Short: "Make a profile from a trace of PyTorch's profiler",
		Long: `import reads a trace that torch.profiler wrote with record_shapes=True, on the CPU or on CUDA, and
matches its operators to a network: a network file, a run folder or a name from 'graft model
list'. The trace must contain whole training steps. If it contains several steps, the program must
have called the profiler's step() between them. With several steps, each time is the lower
quartile over the steps, because interruptions can only make a step slower.

The profile holds the time of each operator for each shape in the trace. These times predict the
step time of the network after surgery and at other batch sizes. An operator with a measured shape
takes its measured time; the time for another shape is interpolated by its amount of work, or
computed from fitted rates. import prints predictions for the network and for grown versions of
it. It also prints the share of the predicted time in operators outside of the measured range; the
error of this share is unknown. To estimate the error within the range, import leaves each
measured shape out of the fit in turn, and prints the error of its prediction.

The profiler makes each operator slower. Measure the time of a step without the profiler in the
same program, and pass it as --step. Evaluation batches take the time of the forward pass;
decisions and surgery take no time, unless you set their times in the profile file.`,
		Example: `  graft profile import trace.json network.toml --step 12.4ms --out measured.toml
  graft profile import trace.json.gz runs/job --operators
  graft train job.toml --set time.profile=measured.toml`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			if err := refuseZero(command, "classes"); err != nil {
				return err
			}
			made, err := profile.Import(environment(command.Context()), args[0], args[1], o.ImportOptions)
			return show(command.OutOrStdout(), o.json, made, err, o.print)
		},
	}
	o.flags(command)
	return command
}

func (o *importFlags) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.IntVar(&o.Batch, "batch", 0, "number of examples per step; 0 means the number in the trace")
	flags.DurationVar(&o.Step, "step", 0, "time of a step without the profiler, such as 12.4ms; 0 means unknown")
	flags.StringVar(&o.Input, "input", "3x32x32", "input shape of networks from the zoo, without the batch")
	flags.IntVar(&o.Classes, "classes", 10, "number of classes, for networks from the zoo")
	flags.StringVar(&o.Name, "name", "", "name of the profile (default: the name of the --out file or of the trace)")
	flags.StringVarP(&o.Out, "out", "o", "",
		"output `FILE` for the profile; if empty, only the predictions are printed")
	flags.BoolVar(&o.Force, "force", false, "replace an existing file")
	flags.BoolVar(&o.operators, "operators", false, "list all operators, not only the most expensive")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
}

// mostOutside is the share of a step's time outside of the measured range beyond which import warns.
const mostOutside = 0.25

// shownOperators is the number of operators in the usual listing.
const shownOperators = 8

func (o *importFlags) print(w io.Writer, made *profile.Imported) error {
	p := &document.Printer{W: w}
	p.Line("%s, batch of %d: %s in the trace, %s ms each with the profiler", made.Network, made.Batch,
		words.Plural(made.Steps, "step"), milliseconds(made.Traced))
	if made.Plain == nil {
		p.Line("the times include the profiler's; measure a step without it and pass --step")
	} else {
		p.Line("without the profiler: %s ms", milliseconds(*made.Plain))
	}
	p.Line("outside of the network's operators, such as the loss: %s ms\n", milliseconds(made.Rest))
	shown := made.Operators
	if !o.operators {
		shown = shown[:min(shownOperators, len(shown))]
	}
	p.Table(importedOperators(shown))
	if more := len(made.Operators) - len(shown); more > 0 {
		p.Line("and %d more with --operators", more)
	}
	p.Line("")
	p.Table(importedSteps(made.Predicted))
	if e := made.LeftOut; e == nil {
		p.Line("\nerror for other shapes: unknown; no operator has several shapes")
	} else {
		p.Line("\nerror for other shapes: %s on average and %s at worst (%s), of %s left out in turn",
			shareText(e.Mean), shareText(e.Worst), e.Name, words.Plural(e.Shapes, "shape"))
	}
	for _, s := range made.Predicted {
		if s.Outside > mostOutside {
			p.Line("warning: %s of the time of %s is in operators with work outside of the measured range, so its "+
				"error is unknown", shareText(s.Outside), s.Network)
		}
	}
	if made.File != "" {
		p.Line("wrote %s; charge a job by it with --set time.profile=%s", made.File, pathText(made.File))
	}
	return p.Err
}

func importedOperators(all []profile.ImportedOperator) *document.Table {
	t := document.NewTable("operator", "shapes").Numbers("", "", "calls").
		Numbers("ms", "", "forward", "backward", "device")
	for _, m := range all {
		t.Add(m.Name, m.Shapes, m.Calls, milliseconds(m.Forward), milliseconds(m.Backward), milliseconds(m.Device))
	}
	return t
}

func importedSteps(all []profile.ImportedStep) *document.Table {
	t := document.NewTable("network").Numbers("ms", "", "step", "forward").Numbers("", "", "measured", "outside")
	for _, s := range all {
		t.Add(s.Network, milliseconds(s.Step), milliseconds(s.Forward), shareText(s.Measured), shareText(s.Outside))
	}
	return t
}
