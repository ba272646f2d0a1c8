package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/estimate"
	"graft/cluster/schedulers"
	"graft/report/document"
	"graft/runner/estimates"
)

// clusterEstimateOptions are the flags of `graft cluster estimate`.
type clusterEstimateOptions struct {
	learnedFlags              // training data and method
	estimates.DurationOptions // other options
}

func newClusterEstimateCommand() *cobra.Command {
	var o clusterEstimateOptions
	command := &cobra.Command{
		Use:   "estimate",
		Short: "Estimate the duration of each job at its submission",
		Long: `estimate reads a trace week by week. For each week it learns a model from the jobs that ended
before that week, and estimates the durations of the week's jobs from their data at submission:
user, virtual cluster, name, model, dataset, devices, profile and date. No estimate uses later
information.

Without --history, there is no model for the first week. Each estimate is then the mean duration
of completed jobs: jobs with the same user, name and devices; without any, jobs of the same user;
without any, all jobs. If no job has ended, the estimate is one hour. The same rule applies as
long as fewer than ` + fmt.Sprint(2*defaultLeastRows()) +
			` jobs have ended. The number of jobs estimated
without a model is printed.

With --walk none, one model is learned, from the traces of --history or else from the first week.
With --walk never, no model is learned: each estimate is the mean of similar ended jobs.

'graft cluster run --estimates FILE' reads the output. Without --estimates, 'graft cluster run'
looks for a file in the --data folder: with _ebm in its name, such as jobs_ebm.csv, for
` + readersOf("ebm") + `; with a name that ends in _lgb.csv, for ` + readersOf("lgb") + `.`,
		Example: `  graft cluster estimate --trace september.csv --out venus_ebm.csv
  graft cluster estimate --trace september.csv --history august.csv --out estimates.csv --model model.json
  graft cluster estimate --trace seconds.csv --start 2020-04-01 --past --out estimates.csv --shapes shapes`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runClusterEstimate(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.addFlags(command, &o.Options)
	flags := command.Flags()
	flags.StringArrayVar(&o.History, "history", nil,
		"earlier trace, used only for learning; repeatable")
	flags.StringVar(&o.Walk, "walk", estimates.WalkWeek,
		"when to train: week (a new model every week), none (a single model) or never (no model)")
	flags.BoolVar(&o.Past, "past", false, "use durations of similar completed jobs as features")
	flags.StringVar(&o.Saved, "model", "", "write the last model to this file, for 'graft cluster shapes'")
	_ = command.MarkFlagRequired("trace")
	// In other commands flags with this name are networks.
	_ = command.RegisterFlagCompletionFunc("model", fixedWords(func() []string { return nil }))
	_ = command.RegisterFlagCompletionFunc("walk",
		fixedWords(func() []string { return []string{estimates.WalkWeek, estimates.WalkNone, estimates.WalkNever} }))
	return command
}

// readersOf names the schedulers that use a kind of estimates by default.
func readersOf(kind string) string {
	var names []string
	for _, k := range schedulers.Kinds() {
		if k.Estimates == kind {
			names = append(names, k.Name)
		}
	}
	return document.SomeOf(names, len(names))
}

func defaultLeastRows() int {
	var o estimate.Options
	o.EnsureDefaults()
	return o.LeastRows
}

func runClusterEstimate(ctx context.Context, w io.Writer, o clusterEstimateOptions) error {
	if err := o.read(&o.Options); err != nil {
		return err
	}
	r, err := estimates.Durations(ctx, environment(ctx), o.DurationOptions)
	return show(w, o.json, r, err, estimates.PrintDurations)
}
