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
		Short: "Compare a job that adapts with baselines, over seeds",
		Long: `compare runs a job that adapts beside baselines, each with the same budget, timeline, data
and seeds, and says which are significantly better. The arms:

  as configured       the job with its own decider
  never               no adaptation: the network that the job begins with
  small from scratch  the same with fresh weights, if the job begins with trained ones
  final from scratch  the network with which the job of the same seed ended, with fresh
                      weights and the whole budget
  random              any action that fits, at each decision
  best fixed          the sequence of actions with the highest mean validation accuracy on
                      selection seeds, which are none of the arms' seeds

Differences from never are paired by seed, with intervals by Student's t-distribution.
compare.actions or compare.kinds name the choices of random and best fixed.

The run folder holds the run folder of each trial. Workers run the trials; --resume goes on
after a stop or a kill.`,
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
	flags.StringArrayVar(&o.Set, "set", nil, "set a key, such as time.budget=30s; may be given several times")
	flags.StringVar(&o.Folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.Resume, "resume", false,
		"go on with the comparison in the folder, or begin one where there is none")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.IntVar(&o.Seeds, "seeds", 0, "trials of each arm; 0 is compare.seeds")
	flags.IntVar(&o.SelectionSeeds, "selection-seeds", 0,
		"trials of each sequence for the arm best fixed; 0 is compare.selection_seeds")
	flags.StringSliceVar(&o.Arms, "arms", nil,
		"arms beside the job and never, such as random,best fixed; empty is compare.arms")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	sweepFlags(command, &o.Options, strings.Join(fleet.Engines(), " or "))
	command.MarkFlagsMutuallyExclusive("resume", "force")
	return command
}
