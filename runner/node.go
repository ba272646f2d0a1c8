package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/node/world"
	"graft/cluster/study"
	"graft/config"
	"graft/internal/registry"
	"graft/report"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/node"
	simulations "graft/runner/study"
)

func newNodeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "node",
		Short: "Schedule tasks on the GPUs of one machine, in a simulation or for real",
		Long: `node schedules tasks on the GPUs of one machine. A task is a program that needs a share of a
GPU's cores and memory. Memory is a hard limit; cores are shared, and tasks that run together
slow each other down.`,
		Example: `  graft node devices
  graft node simulate tasks.toml
  graft node run tasks.toml --dry-run`,
	}
	command.AddCommand(newNodeDevicesCommand(), newNodeSimulateCommand(), newNodeRunCommand(), newNodeProfileCommand(),
		newNodeGuardCommand())
	return command
}

// nodeOptions are the flags of the commands of a machine's tasks.
type nodeOptions struct {
	app.FolderOptions          // creation of the run folder
	set               []string // assignments after the file
	schedulers        []string // schedulers that replace the file's
	compat            string   // simulator to reproduce; empty means the file's
	out               string   // run folder
	json              bool     // print one object
}

func (o *nodeOptions) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a configuration key, such as machine.gpus=8; repeatable")
	flags.StringVar(&o.out, "out", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Resume, "resume", false, "resume the run in the run folder; start a new run if there is none")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("resume", "force")
}

// read reads the file with the flags.
func (o *nodeOptions) read(env *app.Env, path string) (c *world.File, err error) {
	set := o.set
	if o.out != "" {
		set = append(set, "run.folder="+config.Quote(o.out))
	}
	if len(o.schedulers) > 0 {
		set = append(set, "schedule.schedulers="+config.QuoteList(o.schedulers))
	}
	if o.compat != "" {
		set = append(set, "machine.compat="+config.Quote(o.compat))
	}
	if c, err = node.Read(env.Files, path, set); err != nil {
		return nil, runs.AsConfigFault(err)
	}
	o.Config = c.Text()
	return c, nil
}

func newNodeSimulateCommand() *cobra.Command {
	var o nodeOptions
	command := &cobra.Command{
		Use:   "simulate [CONFIG]",
		Short: "Simulate tasks with different schedulers and compare their completion times and energy",
		Long: `simulate runs the tasks of CONFIG, a file with a section [machine], under each scheduler. Tasks
come from the tables [[task]] of CONFIG, from a trace, or from generated workloads. Simulations
are event-driven; the same inputs give byte-identical results, with any number of workers.
Schedulers:

` + nodeHelp() + `
--scheduler also accepts the run folder of 'graft learn CONFIG', which contains a learned
scheduler. This scheduler was trained on generated workloads, which are not part of the
comparison. Duration estimates are exact unless CONFIG sets an error. 'graft config schema
--markdown' lists the keys of CONFIG.

--compat tasks reproduces the packing environment of a published study of GPU schedulers,
including its workload generator, rewards and bugs. The results of the study's baselines are
reproduced bit for bit. The study's learned scheduler is trained by PPO with the published method.`,
		Example: `  graft node simulate tasks.toml
  graft node simulate tasks.toml --scheduler best-fit,smallest,runs/learned
  graft node simulate --compat tasks --set tasks.test_count=200 --set tasks.seed=12345
  graft node simulate tasks.toml --set machine.gpus=8 --set schedule.objective=energy-delay --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runNodeSimulate(command.Context(), command.OutOrStdout(), first(args), o)
		},
	}
	o.add(command)
	command.Flags().StringVar(&o.compat, "compat", "",
		"name of a published simulator to reproduce: \"tasks\" (default: the value of machine.compat)")
	command.Flags().StringSliceVar(&o.schedulers, "scheduler", nil,
		"schedulers to compare, by name or run folder (default: the list in CONFIG or, without a list, "+
			"all schedulers that need no training)")
	return command
}

func runNodeSimulate(ctx context.Context, w io.Writer, path string, o nodeOptions) error {
	env := environment(ctx)
	c, err := o.read(env, path)
	if err != nil {
		return err
	}
	outcome, err := simulations.Run(ctx, env, world.World(), c, path, o.FolderOptions)
	return show(w, o.json, outcome, err, func(w io.Writer, r *study.Outcome) error { return report.PrintStudy(r, w) })
}

// nodeHelp lists the schedulers of a machine's tasks for a help text.
func nodeHelp() string {
	return listed(registry.List[study.Entry](world.World().Schedulers()))
}
