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
		Short: "Build a model of an adaptive job from training runs and a device profile",
		Long: `application builds an application, which is a model of an adaptive job, from runs of 'graft
train'. The application holds the training progress and the step times that 'graft cluster run'
needs to simulate the job. Each run must use a fixed batch size and measure gradient noise
(adaptive_batch.measure = true). The runs must have at least two different batch sizes; runs with
the same batch size are averaged. RUN may also be the run folder of a sweep; all trials of the
sweep are then used.

Step times come from a device profile, which 'graft profile NETWORK --batch LIST' measures. By
default, step times come from the device profile of the runs' virtual clock. The application
contains step times for 1, 2, 4, … nodes with the same number of devices on each node. A fitted
model predicts step times for other placements, and its prediction errors are printed.`,
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
	flags.StringVarP(&o.Out, "out", "o", "", "output folder for applications, created if missing")
	flags.StringVar(&o.Profile, "profile", "",
		"device profile with the step times: a name or a file (default: the profile of the runs' virtual clock)")
	flags.IntVar(&o.Devices, "devices", 8, "devices per node, at most 9")
	flags.IntVar(&o.Nodes, "nodes", 16, "maximum number of nodes for which step times are computed")
	flags.Float64Var(&o.Between, "between", 0,
		"time of a gradient exchange between nodes, in seconds; 0 means the time within a node")
	flags.IntVar(&o.DeviceMost, "device-most", 0,
		"maximum number of examples per device; 0 means the largest batch size of the runs")
	flags.Float64Var(&o.Accuracy, "accuracy", 0,
		"target validation accuracy. Simulated jobs run as many epochs as the runs with the smallest batch size "+
			"needed to reach this accuracy; 0 means the number of epochs of the shortest run")
	flags.BoolVar(&o.Replace, "force", false, "replace an existing application of the same name")
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
	d.Say(fmt.Sprintf(
		"A job takes %s with the smallest batch. Each row shows when another batch reaches the same progress, "+
			"predicted from its gradient noise.", words.Plural(r.Epochs, "epoch")),
		fmt.Sprintf("%s from profile %s; the fitted model for other placements has a median error of %.1f%% and a "+
			"maximum error of %.1f%%", words.Plural(r.Steps, "step time"), r.Profile, 100*r.MedianMiss,
			100*r.WorstMiss))
	return d.Print(w)
}
