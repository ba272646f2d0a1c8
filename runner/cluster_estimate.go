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
		Long: `estimate trains a model for each week of a trace, on the jobs that ended before that week. The
model predicts the durations of the week's jobs from data known at submission: user, virtual
cluster, name, model, dataset, devices, profile and date. Estimates never use information from
after the job's submission.

Without --history, the first week has no model. Without a model, the estimate is the mean duration
of completed jobs with the same user, name and number of devices. If there are no such jobs, the
estimate is the mean duration of the user's completed jobs or, if the user has none, of all
completed jobs. Before the first job ends, every estimate is one hour. No model is trained until
` + fmt.Sprint(2*defaultLeastRows()) + ` jobs have ended. The number of jobs estimated without a model is printed.

With --walk none, a single model is trained, on the --history traces or, without them, on the
first week. With --walk never, no model is trained: each estimate is the mean duration of similar
completed jobs.

'graft cluster run --estimates FILE' reads the output. Without --estimates, 'graft cluster run'
searches the --data folder for a file of estimates. For the scheduler ` + readersOf("ebm") + `, this file has _ebm in
its name, such as jobs_ebm.csv. For the scheduler ` + readersOf("lgb") + `, the name of the file ends in _lgb.csv.`,
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
		"earlier trace, used only to train models; repeatable")
	flags.StringVar(&o.Walk, "walk", estimates.WalkWeek,
		"training schedule: week (a new model every week), none (a single model) or never (no model)")
	flags.BoolVar(&o.Past, "past", false, "use durations of similar completed jobs as features")
	flags.StringVar(&o.Saved, "model", "",
		"output file for the model that was trained last; 'graft cluster shapes' prints this file")
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
