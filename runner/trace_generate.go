package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/files"
)

// traceGenerateOptions are the flags of `graft trace generate`.
type traceGenerateOptions struct {
	trace.GenerateOptions        // what the trace is like
	arrivals              string // how submissions are spread
	to                    string // format
	nodesOut              string // file of the sizes of virtual clusters; empty is none
	force                 bool   // replace files that are there
}

func newTraceGenerateCommand() *cobra.Command {
	o := traceGenerateOptions{arrivals: "diurnal", to: "graft"}
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
cluster has.`,
		Example: `  graft trace generate month.csv --nodes-out nodes.csv
  graft trace generate busy.csv.gz --jobs 1000000 --days 90 --nodes 500 --load 0.9 --seed 7
  graft trace generate flat.csv --to helios --arrivals poisson`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceGenerate(command.OutOrStdout(), args[0], o)
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
	flags.StringVar(&o.arrivals, "arrivals", o.arrivals, "diurnal, with days and weeks, or poisson, with one rate")
	flags.StringVar(&o.to, "to", o.to, "the format of OUT: graft, helios or swf")
	flags.StringVar(&o.nodesOut, "nodes-out", "", "write the sizes of the virtual clusters to this file")
	flags.BoolVar(&o.force, "force", false, "replace files that are there")
	return command
}

func runTraceGenerate(w io.Writer, out string, o traceGenerateOptions) error {
	switch o.arrivals {
	case "diurnal":
	case "poisson":
		o.Arrivals = trace.Poisson
	default:
		return usageErrorf("--arrivals %s: give diurnal or poisson", o.arrivals)
	}
	generator, err := trace.Generate(o.GenerateOptions)
	if err != nil {
		return withCode(exitUsage, err)
	}
	for _, err := range []error{mayWriteTrace(o.to), mayMake(out, o.force), o.mayMakeNodes(out)} {
		if err != nil {
			return err
		}
	}
	written := trace.WriterOptions{Format: o.to, Start: generator.Start(), Nodes: o.Nodes, Processors: o.Nodes * o.GPUsPerNode}
	if err := trace.WriteFile(files.OS{}, out, written, o.force, generated(generator)); err != nil {
		return err
	}
	if o.nodesOut != "" {
		if err := trace.WriteNodes(files.OS{}, o.nodesOut, generator.VCs()); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s) for %s in %s%s\n", out, plural(o.Jobs, "job"), o.to, plural(o.Nodes, "node"), plural(len(generator.VCs()), "virtual cluster"), zeroText(generator.Start()))
	return err
}

// mayMakeNodes looks at the second file that is written.
func (o *traceGenerateOptions) mayMakeNodes(out string) error {
	switch o.nodesOut {
	case "":
		return nil
	case out:
		return usageErrorf("OUT and --nodes-out are one file: name two")
	}
	return mayMake(o.nodesOut, o.force)
}

// generated writes all jobs of a generator.
func generated(generator *trace.Generator) func(*trace.Writer) error {
	return func(t *trace.Writer) error {
		var job trace.Job
		for {
			err := generator.Read(&job)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = t.Write(&job)
			}
			if err != nil {
				return err
			}
		}
	}
}
