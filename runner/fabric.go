package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/results/failure"
	"graft/work/fabric"
)

func newFabricCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "fabric",
		Short:   "Simulate clusters on which training steps run operation by operation",
		Example: "  graft fabric run --compat ramp --episode episode.json --graphs profiles --out played",
	}
	command.AddCommand(newFabricGraphCommand(), newFabricStepCommand(), newFabricRunCommand())
	return command
}

func newFabricRunCommand() *cobra.Command {
	var o fabric.PlayOptions
	var compat string
	var asJSON bool
	command := &cobra.Command{
		Use:   "run",
		Short: "Play an episode: jobs arrive, are split and placed, and run or are blocked",
		Long: `run plays a recorded episode of the simulator of RAMP and PAC-ML, with all its faults: the
jobs of the file arrive, its agent chooses into how many parts the operations of each are
split, and a job is blocked that finds no servers or would take too long. An episode that
has actions is replayed. Its results are not read.

Results are jobs.csv in the folder of --out: a row for each job, with its status, completed,
blocked, running or queued, and when it started and ended, in seconds.`,
		Example: `  graft fabric run --compat ramp --episode episode.json --graphs profiles --out played
  graft fabric run --compat ramp --episode episode.json --graphs profiles --json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if compat != "ramp" {
				return failure.With(failure.Usage, errors.New("option compat: expected ramp"))
			}
			r, err := fabric.Play(environment(command.Context()), o)
			return show(command.OutOrStdout(), asJSON, r, err, printEpisode)
		},
	}
	flags := command.Flags()
	flags.StringVar(&compat, "compat", "", "the simulator whose results are reproduced: ramp")
	flags.StringVar(&o.Episode, "episode", "", "file of the episode, JSON")
	flags.StringVar(&o.Graphs, "graphs", "", "folder of its graphs, profiles of PipeDream")
	flags.StringVar(&o.Out, "out", "", "folder of the results; empty writes none")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func printEpisode(w io.Writer, r *fabric.PlayReport) error {
	p := &document.Printer{W: w}
	p.Line("%d jobs arrived: %d completed, %d blocked, %d running and %d queued at the end", r.Arrived, r.Completed, r.Blocked, r.Running, r.Queued)
	if r.Folder != "" {
		p.Line("\nresults in %s", r.Folder)
	}
	return p.Err
}
