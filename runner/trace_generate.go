package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/results/document"
	"graft/results/failure"
	"graft/work/traces"
)

func newTraceGenerateCommand() *cobra.Command {
	arrivals, o := "diurnal", traces.GenerateOptions{To: "graft"}
	o.EnsureDefaults()
	o.VCs, o.Users = 0, 0 // which follow from others
	command := &cobra.Command{
		Use:   "generate OUT",
		Short: "Make a trace up that is like a month of a research cluster",
		Long: `generate makes jobs up: their submissions follow days and weeks, or have one rate; their
GPUs, durations and states are spread as in a published month of the cluster Venus; and
jobs of one user and one name take about as long as each other, so that schedulers can
learn what to expect. The same flags give the same bytes.

Without --load durations are as they are drawn: the load follows from jobs, days and
nodes. With it they are stretched until the jobs want that share of the GPU time that the
cluster has.

--data makes a folder for 'graft cluster run --data': the virtual clusters with their
nodes, and profiles of the models alone and in pairs, which are made up from how busy
each keeps a device.`,
		Example: `  graft trace generate month.csv --data month
  graft trace generate busy.csv.gz --jobs 1000000 --days 90 --nodes 500 --load 0.9 --seed 7
  graft trace generate flat.csv --to helios --arrivals poisson`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceGenerate(command.Context(), command.OutOrStdout(), args[0], arrivals, o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Jobs, "jobs", o.Jobs, "how many jobs")
	flags.IntVar(&o.Days, "days", o.Days, "over how many days they are submitted")
	flags.IntVar(&o.Nodes, "nodes", o.Nodes, "how many nodes the cluster has")
	flags.IntVar(&o.GPUsPerNode, "gpus-per-node", o.GPUsPerNode, "how many GPUs a node has")
	flags.IntVar(&o.VCs, "vcs", 0, "into how many virtual clusters it is divided (default: one for every nine nodes)")
	flags.IntVar(&o.Users, "users", 0, "how many users there are (default: eight for each virtual cluster)")
	flags.Float64Var(&o.Load, "load", 0, "GPU time that jobs want over what there is (default: as durations are drawn)")
	flags.Uint64Var(&o.Seed, "seed", 0, "what all draws follow from")
	flags.StringVar(&arrivals, "arrivals", arrivals, "diurnal, with days and weeks, or poisson, with one rate")
	flags.StringVar(&o.To, "to", o.To, "the format of OUT: graft, helios or swf")
	flags.StringVar(&o.NodesFile, "nodes-out", "", "write the sizes of the virtual clusters to this file")
	flags.StringVar(&o.Data, "data", "", "make this folder with nodes and profiles for 'graft cluster run --data'")
	flags.BoolVar(&o.Force, "force", false, "replace files that are there")
	return command
}

func runTraceGenerate(ctx context.Context, w io.Writer, out, arrivals string, o traces.GenerateOptions) error {
	switch arrivals {
	case "diurnal":
	case "poisson":
		o.Arrivals = trace.Poisson
	default:
		return failure.Usagef("--arrivals %s: give diurnal or poisson", arrivals)
	}
	g, err := traces.Generate(environment(ctx), out, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s) for %s in %s%s\n", out, document.Plural(g.Jobs, "job"), g.To, document.Plural(g.Nodes, "node"), document.Plural(g.VCs, "virtual cluster"), zeroText(g.Start))
	return err
}
