package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/runner/application"
)

func newClusterApplicationCommand() *cobra.Command {
	var o application.Options
	var json bool
	command := &cobra.Command{
		Use:   "application NAME RUN…",
		Short: "Make an application of adaptive jobs from training runs and a profile",
		Long: `application makes an application for simulations of adaptive jobs, which 'graft cluster
run' reads, from runs of graft train. Each run has a fixed batch and has measured the noise of its
gradients (adaptive_batch.measure = true); there are runs with two batches at least, and those of
one batch are averaged. The folder of a sweep stands for its trials.

Times of steps are those of a device profile, which 'graft profile NETWORK --batch LIST' measures,
or of the one by which the runs were charged. They are written for 1, 2, 4, … nodes with the same
number of devices each; for others a model is fitted to them, whose errors are printed.`,
		Example: `  graft train job.toml --cases batches.toml --seeds 3 --folder runs
  graft cluster application digits runs --out applications --accuracy 0.9
  graft cluster run --data applications --trace workload.csv --scheduler pollux,tiresias`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			o.Name = args[0]
			return runClusterApplication(command.Context(), command.OutOrStdout(), args[1:], json, o)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.Out, "out", "o", "", "folder of applications, which is made if it is missing")
	flags.StringVar(&o.Profile, "profile", "",
		"times of steps: a name or file; empty is the profile of the runs' clock")
	flags.IntVar(&o.Devices, "devices", 8, "devices of a node, at most 9")
	flags.IntVar(&o.Nodes, "nodes", 16, "most nodes of a step")
	flags.Float64Var(&o.Between, "between", 0,
		"seconds in which devices of several nodes exchange gradients; 0 is as on one node")
	flags.IntVar(&o.DeviceMost, "device-most", 0, "examples that a device takes at once; 0 is the largest batch")
	flags.Float64Var(&o.Accuracy, "accuracy", 0,
		"validation accuracy at which a job ends, with the smallest batch; 0 is the end of the shortest run")
	flags.BoolVar(&o.Replace, "force", false, "replace an application of that name")
	flags.BoolVar(&json, "json", false, "print one JSON object")
	_ = command.MarkFlagRequired("out")
	return command
}

func runClusterApplication(ctx context.Context, w io.Writer, runs []string, json bool,
	o application.Options) error {
	r, err := application.Make(environment(ctx), runs, o)
	return show(w, json, r, err, printApplication)
}

// printApplication prints the inputs of an application.
func printApplication(w io.Writer, r *application.Report) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("wrote application %s to %s: %s, trained with batches of %d to %d", r.Name, r.Folder, r.Network,
		r.Batches[0].Batch, r.Batches[len(r.Batches)-1].Batch))
	t := document.NewTable().Numbers("", "", "batch", "runs").Numbers("", "%.0f", "steps").
		Numbers("", "%.1f", "epochs", "noise scale").Numbers(document.UnitShare, "%.1f%%", "validation")
	for _, b := range r.Batches {
		t.Add(b.Batch, b.Runs, b.Steps, b.Epochs, b.NoiseScale,
			report.OverSeeds(b.Accuracy, document.UnitShare, "%.1f%%"))
	}
	d.Show(t)
	d.Say(fmt.Sprintf("A job has %s with the smallest batch. Each row shows when a batch has made that progress, "+
		"predicted from its gradient noise.", words.Plural(r.Epochs, "epoch")),
		fmt.Sprintf("%s from profile %s; the model fitted to them for other placements is off by %.1f%% in "+
			"the median, %.1f%% at worst", words.Plural(r.Steps, "step time"), r.Profile, 100*r.MedianMiss,
			100*r.WorstMiss))
	return d.Print(w)
}
