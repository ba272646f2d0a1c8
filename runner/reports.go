package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/report"
	"graft/report/runs"
)

// reportOptions are the flags of `graft report`.
type reportOptions struct {
	all      bool   // show every row of every table
	json     bool   // print one object
	csv      bool   // print comma-separated rows
	markdown bool   // print tables for GitHub
	reach    string // case whose loss the others are to reach; empty for none
	html     string // write a page into this file; empty for none
	force    bool   // replace a file that is not a page
}

// newReportCommand makes `graft report`. It does not need LibTorch.
func newReportCommand() *cobra.Command {
	var o reportOptions
	command := &cobra.Command{
		Use:   "report RUN…",
		Short: "Report on runs, one by itself or several side by side",
		Long: `report reads run folders: those of graft train, simulate, learn, evaluate, pipeline and cluster
run, tables, and result folders of the original system. It only reads, also while a run is
under way. RUN is the folder of a run, a folder of such folders, or a pattern.

For one run it prints the configuration, the outcome and the events in between. Several runs
are compared, kind by kind: first the differences of their configurations, then the results.
Runs that differ only in their seed are one column, with the mean and its 95% interval.
Values that cannot be distinguished from the first column are marked ~, and nothing is ranked.

With --html it writes a page instead, with the figures of graft plot, sortable tables, the
timeline of each job, and the commands that reproduce it. The page loads nothing: it can be
kept, sent and opened as a file.

Folders that are damaged, incomplete or not runs are reported and left out, and the exit code
is 3.`,
		Example: `  graft report runs/first
  graft report runs/base-* runs/wide-*
  graft report runs --csv >runs.csv
  graft report --html report.html runs/first`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if o.force && o.html == "" {
				return failure.With(failure.Usage, errors.New("--force is for --html: nothing else is written over"))
			}
			return runReport(command.Context(), command.OutOrStdout(), args, o)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&o.all, "all", false, "print every row: all epochs, sequences and runs")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false,
		"print a row for each run and quantity, with the names of the columns before them")
	flags.StringVar(&o.reach, "reach", "",
		"of trials: what it costs each case to reach the validation loss with which this `case` ended")
	flags.BoolVar(&o.markdown, "markdown", false, "print tables as GitHub reads them")
	flags.StringVar(&o.html, "html", "", "write a page that needs nothing else into this `file`")
	flags.BoolVar(&o.force, "force", false, "write over a file that is no page of graft's")
	command.MarkFlagsMutuallyExclusive("json", "csv", "markdown", "html")
	return command
}

// form returns the report format that the flags select; the default is text.
func (o reportOptions) form() report.Form {
	switch {
	case o.json:
		return report.JSON
	case o.csv:
		return report.CSV
	case o.markdown:
		return report.Markdown
	}
	return report.Text
}

func runReport(ctx context.Context, w io.Writer, args []string, o reportOptions) error {
	list, skipped := runs.OpenAll(environment(ctx).Files, args)
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.html != "" {
		return writePage(w, list, skipped, o)
	}
	r, err := report.New(list, skipped, o.all)
	if err == nil && o.reach != "" {
		err = r.Reach(o.reach)
	}
	if err != nil {
		return err
	}
	if len(r.Runs) > 0 {
		err = r.Write(w, o.form())
	}
	return errors.Join(err, r.Err())
}
