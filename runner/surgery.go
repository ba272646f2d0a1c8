package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/results/failure"
	"graft/torch"
	"graft/torch/weights"
	"graft/work"
)

// surgeryOptions are the flags of `graft surgery`.
type surgeryOptions struct {
	model   string   // required
	classes int      // zero is the network's own number
	input   string   // empty is the network's own
	weights string   // empty draws fresh ones
	actions []string // as ParseAction reads them
	replay  string   // a record to do again, before the actions
	keep    int      // how many changes of replay's network to keep; negative is no shrinking
	batch   string   // a file of inputs; empty draws random ones
	rows    int      // examples in a random batch

	// Options are those of the operations; their batch and seed come from below.
	net2net.Options
	seed   uint64 // of all that is drawn
	device string // cpu or cuda:N
	exact  bool   // float64 in place of float32

	verify    bool    // fail where the function is not kept
	tolerance float64 // zero is one for each mode

	out       string // a file for the weights; empty writes none
	modelOut  string // a file for the network; empty writes none
	recordOut string // a file for the record; empty writes none
	json      bool   // print one object
}

func newSurgeryCommand() *cobra.Command {
	var o surgeryOptions
	command := &cobra.Command{
		Use:   "surgery --model NAME|FILE [--weights FILE] --action ACTION…",
		Short: "Operate on a network by hand, and verify that its function is kept",
		Long: `surgery deepens and widens a network without changing what it computes. Actions
are done in the order in which they are given:

` + actionHelp() + `
BLOCK and LAYER are names or numbers as 'graft model show' prints them. Batch
normalisation in a new block is calibrated on a batch: --batch names a file whose
tensor "x" (or the only one) holds inputs; without it they are drawn at random,
which keeps the function on such inputs only.

--verify prints by how much the logits move, relative to the largest, and fails
without writing anything if that is over the tolerance.`,
		Example: `  graft surgery --model ConvNet2 --weights in.pth --action deepen:1 --action widen:conv2:48 \
      --out out.pth --model-out out.toml --verify
  graft surgery --model out.toml --weights out.pth --replay record.json --shrink 0 --out back.pth`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runSurgery(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.flags(command)
	return command
}

// actionHelp is a line for each operation.
func actionHelp() string {
	var text strings.Builder
	for _, line := range net2net.Usage() {
		fmt.Fprintf(&text, "  %-24s  %s\n", line[0], line[1])
	}
	return text.String()
}

func (o *surgeryOptions) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.model, "model", "", "a network of the zoo, or a network file")
	flags.IntVar(&o.classes, "classes", 0, "classes of a zoo network; 0 is its own number")
	flags.StringVar(&o.input, "input", "", "shape of an example, such as 3x32x32; empty is the network's own")
	flags.StringVar(&o.weights, "weights", "", "weights to begin with (.pth, .safetensors); without them fresh ones are drawn")
	flags.StringArrayVar(&o.actions, "action", nil, "what to do; may be given several times")
	flags.StringVar(&o.replay, "replay", "", "a record to do again, or with --shrink to take back")
	flags.IntVar(&o.keep, "shrink", -1, "take changes of the --replay record back until so many are left; -1 does not")
	flags.StringVar(&o.batch, "batch", "", "a file of inputs to calibrate on and to verify with")
	flags.IntVar(&o.rows, "rows", 256, "examples in a random batch")
	flags.Float64Var(&o.Noise, "noise", 0, "break the symmetry of copies with normal noise of this size, relative to the root mean square of a tensor; 0 keeps the function")
	flags.StringVar((*string)(&o.Form), "form", "", `how a block is grown: "identity", "residual", or empty to choose`)
	flags.StringVar((*string)(&o.Compat), "compat", "", `deepen as the original did: "original" or "original-without-norm"; empty does not`)
	flags.Uint64Var(&o.seed, "seed", 1, "seed of all that is drawn")
	flags.StringVar(&o.device, "device", "cpu", "cpu or cuda:N")
	flags.BoolVar(&o.exact, "float64", false, "work in double precision")
	flags.BoolVar(&o.verify, "verify", false, "print by how much the logits move, and fail when it is too much")
	flags.Float64Var(&o.tolerance, "tolerance", 0, "of --verify, relative; 0 is 1e-5 in eval mode, 1e-4 in train mode and, where a normalisation was calibrated, 5% L2 on other batches")
	flags.StringVar(&o.out, "out", "", "write the weights (.pth, .safetensors)")
	flags.StringVar(&o.modelOut, "model-out", "", "write the network file (.toml, .json)")
	flags.StringVar(&o.recordOut, "record", "", "write the record of the changes (.json)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
}

func (o *surgeryOptions) validate() error {
	switch {
	case o.model == "":
		return failure.Usagef("--model says on which network; 'graft model list' shows the zoo")
	case len(o.actions) == 0 && o.replay == "":
		return failure.Usagef("--action says what to do, such as --action deepen:0")
	case o.keep >= 0 && o.replay == "":
		return failure.Usagef("--shrink takes a record's changes back; name it with --replay")
	case o.keep < -1 || o.rows < 2 || o.Noise < 0 || o.tolerance < 0:
		return failure.Usagef("--shrink is at least 0, --rows at least 2, --noise and --tolerance are not negative")
	case o.Form != net2net.Auto && o.Form != net2net.Identity && o.Form != net2net.Residual:
		return failure.Usagef("--form %q: there are identity and residual", o.Form)
	case o.Compat != net2net.Off && o.Compat != net2net.Original && o.Compat != net2net.WithoutNorm:
		return failure.Usagef("--compat %q: there are original and original-without-norm", o.Compat)
	}
	if o.out != "" {
		if _, err := weights.FormatOf(o.out); err != nil {
			return failure.With(failure.Usage, err)
		}
	}
	return nil
}

func runSurgery(ctx context.Context, w io.Writer, o surgeryOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	var input model.Shape
	var err error
	if o.input != "" {
		if input, err = model.ParseShape(o.input); err != nil {
			return failure.With(failure.Usage, err)
		}
	}
	n, err := work.LoadNetwork(files.OS{}, o.model, input, o.classes)
	if err != nil {
		return err
	}
	actions, record, err := o.plan()
	if err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		t := &theatre{surgeryOptions: o, s: s, net: n, report: surgeryReport{Model: n.Name(), ParametersBefore: n.Parameters()}}
		if err := t.prepare(); err != nil {
			return err
		}
		if err := t.operate(ctx, actions, record); err != nil {
			return err
		}
		return t.finish(w)
	})
}

// plan reads the actions and the record.
func (o *surgeryOptions) plan() ([]net2net.Action, []*net2net.Change, error) {
	var actions []net2net.Action
	var faults []error
	for _, text := range o.actions {
		a, err := net2net.ParseAction(text)
		actions, faults = append(actions, a), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, nil, failure.With(failure.Usage, err)
	}
	if o.replay == "" {
		return actions, nil, nil
	}
	record, err := net2net.ReadRecord(files.OS{}, o.replay)
	if err != nil && !errors.As(err, new(*fs.PathError)) { // it was read, and is none
		err = failure.With(failure.Damaged, err)
	}
	return actions, record, err
}
