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
		Short: "Learn how long jobs run, and estimate each at its submission",
		Long: `estimate walks through a trace. Every week it learns a model from the jobs that have ended
by then, and estimates the jobs of the week from what is known when they are submitted:
user, virtual cluster, name, model, data, devices, what a profile showed, and the date.
No estimate uses anything that happened later.

Jobs of the first week have no model, unless --history names earlier traces. Their estimate
is the mean of the jobs that had ended: of those of the same user, name and devices; where
there are none, of the same user; then of all; and an hour where none had ended. The same
holds for a week before which fewer than ` + fmt.Sprint(2*defaultLeastRows()) +
			` jobs had ended. The number of these jobs is
printed.

--walk none learns once, from the history, or from the first week where there is none;
--walk never does not learn: each estimate is the mean of similar jobs that had ended.

'graft cluster run --estimates FILE' reads the file. In the folder of its --data the file is
found by its name: one with _ebm in it, such as jobs_ebm.csv, is for ` + readersOf("ebm") + `, and one that
ends in _lgb.csv for ` + readersOf("lgb") + `.`,
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
		"an earlier trace, to learn from and not to estimate; may be given several times")
	flags.StringVar(&o.Walk, "walk", estimates.WalkWeek,
		"when models are learned: each week; none, which is once; or never")
	flags.BoolVar(&o.Past, "past", false, "use the durations of similar jobs that have ended as features")
	flags.StringVar(&o.Saved, "model", "", "write the last model to this file, for graft cluster shapes")
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
