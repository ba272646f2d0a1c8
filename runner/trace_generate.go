package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
)

// traceGenerateOptions are the flags of `graft trace generate`.
type traceGenerateOptions struct {
	trace.GenerateOptions        // what the trace is like
	arrivals              string // how submissions are spread
	to                    string // format
	nodesOut              string // file of the sizes of virtual clusters; empty is none
	data                  string // folder for these and for profiles; empty is none
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
cluster has.

--data makes a folder for 'graft cluster run --data': the virtual clusters with their
nodes, and profiles of the models alone and in pairs, which are made up from how busy
each keeps a device.`,
		Example: `  graft trace generate month.csv --data month
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
	flags.StringVar(&o.data, "data", "", "make this folder with nodes and profiles for 'graft cluster run --data'")
	flags.BoolVar(&o.force, "force", false, "replace files that are there")
	return command
}

func runTraceGenerate(w io.Writer, out string, o traceGenerateOptions) error {
	switch o.arrivals {
	case "diurnal":
	case "poisson":
		o.Arrivals = trace.Poisson
	default:
		return failure.Usagef("--arrivals %s: give diurnal or poisson", o.arrivals)
	}
	generator, err := trace.Generate(o.GenerateOptions)
	if err != nil {
		return failure.With(failure.Usage, err)
	}
	for _, err := range []error{mayWriteTrace(o.to), mayMake(out, o.force), o.mayMakeNodes(out)} {
		if err != nil {
			return err
		}
	}
	written := trace.WriterOptions{Format: o.to, Start: generator.Start(), Nodes: o.Nodes, Processors: o.Nodes * o.GPUsPerNode}
	kinds := map[cluster.Config]trace.Job{}
	if err := trace.WriteFile(files.OS{}, out, written, o.force, generated(generator, kinds)); err != nil {
		return err
	}
	if err := o.writeData(generator.VCs(), kinds); err != nil {
		return err
	}
	if o.nodesOut != "" {
		if err := trace.WriteNodes(files.OS{}, o.nodesOut, generator.VCs()); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s) for %s in %s%s\n", out, document.Plural(o.Jobs, "job"), o.to, document.Plural(o.Nodes, "node"), document.Plural(len(generator.VCs()), "virtual cluster"), zeroText(generator.Start()))
	return err
}

// mayMakeNodes looks at the second file that is written.
func (o *traceGenerateOptions) mayMakeNodes(out string) error {
	if o.data != "" {
		if err := mayMake(o.data, o.force); err != nil {
			return err
		}
	}
	switch o.nodesOut {
	case "":
		return nil
	case out:
		return failure.Usagef("OUT and --nodes-out are one file: name two")
	}
	return mayMake(o.nodesOut, o.force)
}

// writeData makes the folder of what is known of the cluster, beside the trace.
func (o *traceGenerateOptions) writeData(vcs []trace.VC, kinds map[cluster.Config]trace.Job) error {
	if o.data == "" {
		return nil
	}
	if err := (files.OS{}).MkdirAll(o.data); err != nil {
		return err
	}
	err := trace.WriteNodes(files.OS{}, filepath.Join(o.data, "vc_config.csv"), vcs)
	profiles := cluster.MakeProfiles(slices.Collect(maps.Values(kinds)))
	return errors.Join(err, profiles.Write(files.OS{}, filepath.Join(o.data, "single_data.csv"), filepath.Join(o.data, "colocate_info.csv")))
}

// generated writes all jobs of a generator, and keeps one of each configuration.
func generated(generator *trace.Generator, kinds map[cluster.Config]trace.Job) func(*trace.Writer) error {
	return func(t *trace.Writer) error {
		var job trace.Job
		for {
			err := generator.Read(&job)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				kinds[cluster.ConfigOf(&job)] = job
				err = t.Write(&job)
			}
			if err != nil {
				return err
			}
		}
	}
}
