package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/internal/files"
	"graft/runner/profile"
	"graft/torch"
	"graft/trainer/clock"
)

// profileFlags are the flags of `graft profile`.
type profileFlags struct {
	profile.Options
	json bool // print one JSON object
}

func newProfileCommand() *cobra.Command {
	var o profileFlags
	command := &cobra.Command{
		Use:   "profile [NETWORK|CONFIG]…",
		Short: "Measure step times on a device, for jobs on the virtual clock",
		Long: `profile measures the time of a training step and of an evaluation batch on a device, for a set of
small networks and for the named networks. NETWORK is a network file or a name from 'graft model
list'. Each network is measured unchanged, deepened once and widened once; named networks are
deepened and widened in up to three different places. CONFIG is the file of a job, a scenario or a
comparison: its network is measured after each possible action (at most 16 actions) and after 6
complete sequences of actions, with the batch sizes and optimizer of CONFIG. If a PyTorch program
trains the job's network, profile measures the job's networks inside the program. All networks are
warmed up and then measured in rounds, on random images; the profile contains the median of the
rounds and half their interquartile range. The times of decisions and surgery operations are
measured too.

Rates are fitted to the measurements: a cost per example, layer, operation, byte and parameter.
Imported networks, and others that run as a graph of operators, get separate rates. If a job's
network was not measured, for example because a decision created it, its times are computed from
the rates. To correct these times, graft multiplies them by the ratio of measured to computed
times of related networks. profile prints the error of the rates for new networks, which it
estimates by leaving out each measured network in turn.

With --operators 400, profile also measures the operators of small networks with random sizes. The
times of other networks are then computed from their operators, which is more accurate than the
rates. profile prints the error for the measured networks, which are not among the small networks.

With --processes 2,4, profile also measures 2 and 4 processes that train together on this machine:
the time to add gradients, and how much the processes slow each other down. The virtual clock then
charges a step on several devices for each device's share of the batch and for the exchange.

'graft train --set time.profile=FILE' uses the profile. Measuring takes about a minute on an idle
machine; on a busy machine the profile is less accurate.`,
		Example: `  graft profile --out laptop.toml
  graft profile job.toml --out laptop.toml
  graft profile mine.toml ConvNet2 --only --batch 32,128 --out mine.profile.toml
  graft profile show laptop.toml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if err := refuseZero(command, "rounds", "classes"); err != nil {
				return err
			}
			return runProfile(command.Context(), command.OutOrStdout(), args, o)
		},
	}
	o.flags(command)
	command.AddCommand(newProfileShowCommand(), newProfileCheckCommand(), newProfilePredictCommand(),
		newProfileImportCommand(), newProfilePeerCommand())
	return command
}

// newProfilePeerCommand makes `graft profile peer`, a process of the groups that --processes measures.
func newProfilePeerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "peer",
		Short: "Measure together with the processes of 'graft profile --processes'",
		Long: `peer reads its options from standard input, as 'graft profile --processes' writes them, and
measures exchanges and steps together with the other processes.`,
		Example: `  graft profile --processes 2,4 --out laptop.toml`,
		Hidden:  true,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return profile.Join(command.Context(), environment(command.Context()), command.InOrStdin())
		},
	}
}

func (o *profileFlags) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.Device, "device", "cpu", "device to measure: cpu or cuda:N")
	flags.IntVar(&o.Threads, "threads", 0, "number of CPU threads per operator; 0 means one per processor")
	flags.StringVar(&o.Instructions, "instructions", "",
		"vector instructions on the CPU: native or avx2 (default: run.instructions of CONFIG, or native)")
	flags.IntSliceVar(&o.Batches, "batch", nil,
		"batch sizes to measure, separated by commas (default: the batch sizes of CONFIG, or 64,128 without CONFIG)")
	flags.IntVar(&o.Rounds, "rounds", 7, "number of rounds; each round measures every network once")
	flags.StringVar(&o.Optimizer, "optimizer", "",
		"optimizer of the measured steps (default: the optimizer of CONFIG or, without CONFIG, adam): one of "+
			strings.Join(torch.RuleNames(), ", "))
	flags.BoolVar(&o.Exact, "exact", false, "keep PyTorch's order of operations, as jobs with train.exact do")
	flags.BoolVar(&o.Fast, "fast", false, "use the fast path (fused kernels), as jobs do by default")
	flags.BoolVar(&o.Steady, "steady", false,
		"compute bit-identical results for any number of threads, as jobs with train.steady do")
	flags.StringVar(&o.Precision, "precision", "", "number format of convolutions and linear layers (default: "+
		"train.precision of CONFIG, or float32): one of "+strings.Join(torch.PrecisionNames(), ", "))
	flags.StringVar(&o.Input, "input", "3x32x32", "input shape of networks from the zoo, without the batch")
	flags.IntVar(&o.Classes, "classes", 10, "number of classes, for networks from the zoo")
	flags.BoolVar(&o.Only, "only", false, "measure only the named networks")
	flags.BoolVar(&o.Plain, "plain", false, "do not deepen and widen the named networks")
	flags.IntVar(&o.Operators, "operators", 0, "also measure the operators of this number of small networks, such as "+
		"400, to predict the times of any network; 0 measures none")
	flags.IntSliceVar(&o.Processes, "processes", nil,
		"also measure these numbers of processes that train together, separated by commas, such as 2,4")
	flags.StringVar(&o.Name, "name", "", "name of the profile (default: the name of the --out file)")
	flags.StringVarP(&o.Out, "out", "o", "", "output `FILE` for the profile; if empty, the profile is only printed")
	flags.BoolVar(&o.Force, "force", false, "replace an existing file")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("exact", "fast")
}

func runProfile(ctx context.Context, w io.Writer, names []string, o profileFlags) error {
	o.Graft = thisVersion()
	env := environment(ctx)
	p, err := profile.Measure(ctx, env, names, o.Options)
	if err != nil {
		return err
	}
	// Write the result of a long measurement first, because a closed pipe ends the program, and print it even if it
	// cannot be written.
	var written error
	if o.Out != "" {
		written = writeMeasured(env.Files, o.Out, p)
	}
	made := profile.NewReport(p, o.Out)
	made.Small = profile.NewSmallErrors(&p.GraftOperators)
	printed := show(w, o.json, made, nil, printProfile)
	if err := errors.Join(printed, written); err != nil || o.json || o.Out == "" {
		return err
	}
	_, err = fmt.Fprintf(w, "\nwrote %s; charge a job by it with --set time.profile=%s\n", o.Out, pathText(o.Out))
	return err
}

// writeMeasured writes a profile. If that fails, for example because the disk became full during the measurement, it
// writes the profile into a new folder for temporary files, and the error names that file.
func writeMeasured(fsys files.FS, path string, p *clock.Profile) error {
	err := config.WriteProfile(fsys, path, p)
	if err == nil || errors.Is(err, files.ErrNotDurable) {
		return err
	}
	folder, fault := fsys.MkdirTemp("", "graft-profile-")
	if fault != nil {
		return err
	}
	kept := filepath.Join(folder, "profile.toml")
	if fault := config.WriteProfile(fsys, kept, p); fault != nil {
		_ = fsys.Remove(folder) // the first error is the one to act on
		return err
	}
	return fmt.Errorf("%w; the measured profile is in %s: move it to another place", err, kept)
}

// pathText returns a path in a form that a job recognises as a path.
func pathText(path string) string {
	if strings.ContainsRune(path, filepath.Separator) || strings.EqualFold(filepath.Ext(path), ".toml") {
		return path
	}
	return "." + string(filepath.Separator) + path
}
