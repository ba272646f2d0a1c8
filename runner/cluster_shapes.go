package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/report/document"
	"graft/runner/estimates"
)

// clusterShapesOptions are the flags of `graft cluster shapes`.
type clusterShapesOptions struct {
	term string // name of the term; empty means all
	csv  bool   // print a term's shape as CSV
	json bool   // print one object
}

func newClusterShapesCommand() *cobra.Command {
	var o clusterShapesOptions
	command := &cobra.Command{
		Use:   "shapes MODEL",
		Short: "Print the shape functions of a learned model",
		Long: `shapes prints a model written by 'graft cluster estimate --model' or 'graft cluster forecast
--models': the importance of each term, and the curve of each feature. A prediction is the sum of
a constant (the base) and, for each term, the value of one bin. Its unit is seconds, jobs or GPUs,
depending on the model. If the model was trained with --target log or median, the sum is log(1 +
prediction) instead. A curve is uncertain where its standard deviation over the bagged models is
large. Bins without training rows are omitted. --term prints only one term; a term of two features
is printed as a table.`,
		Example: `  graft cluster shapes model.json
  graft cluster shapes model.json --term hour
  graft cluster shapes model.json --term 'vc x hour' --csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: ofType("json"),
		RunE: func(command *cobra.Command, args []string) error {
			return runClusterShapes(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	command.Flags().StringVar(&o.term, "term", "", "term to print: a feature, or two features, such as 'vc x hour'")
	command.Flags().BoolVar(&o.csv, "csv", false, "print the shape function of the term as CSV; requires --term")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("csv", "json")
	return command
}

func runClusterShapes(ctx context.Context, w io.Writer, path string, o clusterShapesOptions) error {
	if o.csv && o.term == "" {
		return failure.Usagef("--csv prints one term, because columns differ between terms; name the term with --term")
	}
	s, err := estimates.Shapes(environment(ctx).Files, path, o.term)
	switch {
	case err != nil:
		return err
	case o.csv:
		return s.Shapes[0].WriteCSV(w)
	case o.json:
		return document.PrintJSON(w, s.Report())
	}
	return s.Print(w, o.term != "")
}
