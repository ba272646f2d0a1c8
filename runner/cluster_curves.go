package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	clustercurves "graft/cluster/curves"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/curves"
)

// clusterCurvesOptions are the flags of `graft cluster curves`.
type clusterCurvesOptions struct {
	curves.Options      // file of the curves
	json           bool // print one object
}

func newClusterCurvesCommand() *cobra.Command {
	var o clusterCurvesOptions
	command := &cobra.Command{
		Use:   "curves TABLE…",
		Short: "Fit learning curves of growing networks to tables, for cluster simulations",
		Long: `curves fits a learning curve to each table of 'graft simulate': how the error of its network falls
with training, and how deepening and widening change that. The section [growth] of a cluster's
file reads the curves, so that 'graft cluster run' computes the accuracies of jobs whose networks
grow, without training them. Actions other than deepen count as widening.

A table is split into four parts, and each part is predicted from the other three. ERROR is the
mean absolute error of the predicted final accuracies. MEAN ONLY is the error if the mean accuracy
is predicted for all sequences. NOISE is the mean standard error of the accuracies in the table.
REGRET is the accuracy lost by choosing the sequence with the highest prediction, and NEVER the
accuracy lost without growth. All are in percentage points.`,
		Example: `  graft cluster curves runs/tables/* --out curves.json
  graft cluster run cluster.toml --set growth.curves=curves.json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: folders,
		RunE: func(command *cobra.Command, args []string) error {
			return runClusterCurves(command.Context(), command.OutOrStdout(), args, o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Out, "out", "", "output file for the curves")
	flags.BoolVar(&o.Force, "force", false, "replace an existing file")
	flags.IntVar(&o.Workers, "workers", 0, "number of tables fitted in parallel (default: one per processor)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	_ = command.MarkFlagRequired("out")
	return command
}

func runClusterCurves(ctx context.Context, w io.Writer, tables []string, o clusterCurvesOptions) error {
	r, err := curves.Fit(ctx, environment(ctx), tables, o.Options)
	return show(w, o.json, r, err, printCurves)
}

func printCurves(w io.Writer, r *curves.Report) error {
	p := &document.Printer{W: w}
	t := document.NewTable("table").Numbers("", "%.0f", "sequences").Numbers(document.UnitPoints, "%.2f", "error",
		"mean only", "noise", "regret", "never")
	add := func(name string, q clustercurves.Quality) {
		t.Add(name, q.Sequences, q.Error, q.Constant, q.Noise, q.Regret, q.Never)
	}
	for _, c := range r.Curves {
		add(c.Name, c.Fit)
	}
	if len(r.Curves) > 1 {
		add("mean", r.Mean)
	}
	p.Table(t)
	p.Line("wrote %s to %s", words.Plural(len(r.Curves), "curve"), r.Out)
	return p.Err
}
