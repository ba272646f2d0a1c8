package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/runner/traces"
)

func newTraceGenerateCommand() *cobra.Command {
	arrivals, o := "diurnal", traces.GenerateOptions{To: "graft"}
	o.EnsureDefaults()
	o.VCs, o.Users = 0, 0 // derived from other options
	command := &cobra.Command{
		Use:   "generate OUT",
		Short: "Generate a synthetic trace that resembles a month of a research cluster",
		Long: `generate writes synthetic jobs. The submission rate has daily and weekly cycles, or is constant.
Numbers of GPUs, durations and final states are drawn from the distributions in a month of the
published Venus trace. Jobs of the same user and name have similar durations, so that schedulers
can learn to predict durations. The same flags always give byte-identical files.

--load scales durations so that the jobs request the given share of the cluster's GPU time. By
default, durations are not scaled, and the load depends on --jobs, --days and --nodes.

--data creates a folder for 'graft cluster run --data': the virtual clusters with their nodes, and
synthetic profiles. A profile describes a model alone or a pair of models, and is computed from
the models' device utilization.`,
		Example: `  graft trace generate month.csv --data month
  graft trace generate busy.csv.gz --jobs 1000000 --days 90 --nodes 500 --load 0.9 --seed 7
  graft trace generate flat.csv --to helios --arrivals poisson`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceGenerate(command.Context(), command.OutOrStdout(), args[0], arrivals, o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Jobs, "jobs", o.Jobs, "number of jobs")
	flags.IntVar(&o.Days, "days", o.Days, "number of days with submissions")
	flags.IntVar(&o.Nodes, "nodes", o.Nodes, "number of nodes of the cluster")
	flags.IntVar(&o.GPUsPerNode, "gpus-per-node", o.GPUsPerNode, "GPUs per node")
	flags.IntVar(&o.VCs, "vcs", 0, "number of virtual clusters (default: one per nine nodes)")
	flags.IntVar(&o.Users, "users", 0, "number of users (default: eight per virtual cluster)")
	flags.Float64Var(&o.Load, "load", 0,
		"GPU time requested by jobs, as a share of the cluster's GPU time (default: durations are not scaled)")
	flags.Uint64Var(&o.Seed, "seed", 0, "seed of all random draws")
	flags.StringVar(&arrivals, "arrivals", arrivals,
		"arrival process: diurnal (daily and weekly cycles) or poisson (constant rate)")
	flags.StringVar(&o.To, "to", o.To, "format of OUT: graft, helios or swf")
	flags.StringVar(&o.VCFile, "vc-file-out", "", "output file for the virtual clusters and their nodes")
	flags.StringVar(&o.Data, "data", "", "output folder for nodes and profiles, which 'graft cluster run --data' reads")
	flags.BoolVar(&o.Force, "force", false, "replace existing files")
	return command
}

func runTraceGenerate(ctx context.Context, w io.Writer, out, arrivals string, o traces.GenerateOptions) error {
	switch arrivals {
	case "diurnal":
	case "poisson":
		o.Arrivals = trace.Poisson
	default:
		return failure.Usagef("--arrivals %s: expected diurnal or poisson", arrivals)
	}
	g, err := traces.Generate(environment(ctx), out, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s) for %s in %s%s\n", out, words.Plural(g.Jobs, "job"), g.To,
		words.Plural(g.Nodes, "node"), words.Plural(g.VCs, "virtual cluster"), zeroText(g.Start))
	return err
}
