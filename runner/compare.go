package main

import (
	"strings"

	"github.com/spf13/cobra"

	"graft/fleet"
	"graft/runner/sweep"
)

func newCompareCommand() *cobra.Command {
	var o sweep.CompareOptions
	asJSON := false
	command := &cobra.Command{
		Use:   "compare CONFIG",
		Short: "Compare an adaptive job with baselines, over several seeds",
		Long: `compare runs an adaptive job and its baselines (the arms) with the same budget, timeline, data and
seeds, and reports which arms differ significantly from no adaptation (the arm "never"). The arms:

  as configured       the job with its own decider
  never               no adaptation: the initial network of the job
  small from scratch  like never, but with fresh weights; only for a job that starts from
                      trained weights
  final from scratch  the network with which "as configured" ends for the same seed, trained
                      from fresh weights for the whole budget, even if network.weights is set
  random              at each decision, a random action that fits the network
  best fixed          the sequence of actions with the highest mean validation accuracy over
                      separate seeds, which are used only for this selection

Differences from the arm "never" are paired by seed, with 95% intervals by Student's
t-distribution. The key compare.actions or compare.kinds lists the candidate actions for the arms
"random" and "best fixed".

The run folder contains a run folder for each trial. Workers run the trials; --resume continues a
comparison that was stopped or killed.`,
		Example: `  graft compare job.toml
  graft compare job.toml --seeds 5 --arms never,random
  graft compare job.toml --resume && graft report runs/job && graft plot runs/job`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			r, err := sweep.Compare(ctx, environment(ctx), args[0], o)
			return show(command.OutOrStdout(), asJSON, r, err, printSweep)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as time.budget=30s; repeatable")
	flags.StringVar(&o.Folder, "folder", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Resume, "resume", false,
		"resume the comparison in the run folder; start a new comparison if there is none")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.IntVar(&o.Seeds, "seeds", 0, "number of trials per variant (arm); 0 means the value of compare.seeds")
	flags.IntVar(&o.SelectionSeeds, "selection-seeds", 0,
		"number of trials of each action sequence, to select the sequence of the variant \"best fixed\"; 0 means "+
			"the value of compare.selection_seeds")
	flags.StringSliceVar(&o.Arms, "arms", nil,
		"variants (arms) to run in addition to \"as configured\" and \"never\", such as \"random,best fixed\" "+
			"(default: the value of compare.arms)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	sweepFlags(command, &o.Options, strings.Join(fleet.Engines(), " or "))
	command.MarkFlagsMutuallyExclusive("resume", "force")
	return command
}
