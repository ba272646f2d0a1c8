package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/internal/failure"
	"graft/report"
	"graft/report/runs"
)

// reportOptions are the flags of `graft report`.
type reportOptions struct {
	all       bool           // show every row of every table
	json      bool           // print one object
	csv       bool           // print comma-separated rows
	markdown  bool           // print tables for GitHub
	latex     bool           // print tables for LaTeX
	reach     string         // case whose loss the others are to reach; empty for none
	html      string         // write a page into this file; empty for none
	contrasts string         // file of contrasts between arms of sweeps; empty for none
	part      runs.Selection // job or node of a single simulation of a cluster
	force     bool           // replace a file that is not a page
}

// newReportCommand makes `graft report`. It does not need LibTorch.
func newReportCommand() *cobra.Command {
	var o reportOptions
	command := &cobra.Command{
		Use:   "report RUN…",
		Short: "Report on one run, or compare several runs",
		Long: `report reads the run folders of these commands: graft train, simulate, learn, evaluate, pipeline
and cluster run. It also reads tables, and result folders of the original system. report never
changes a run folder, and can read a run in progress. RUN is a run folder, a folder of run
folders, or a glob pattern such as 'runs/wide-*'.

For one run, report prints the configuration, the events and the outcome. Several runs of one kind
are compared: first their configurations, then their results. Runs that differ only in their seed
share a column, with the mean and its 95% interval. Values without a significant difference from
the first column are marked ~. Runs are not ranked.

--contrasts compares arms over several sweeps, such as one per network family. Its file lists pairs
of arms. For each pair, the report has the difference in each setting (a sweep with one combination
of swept values), and the mean over settings with a test.

--job and --node report on a job or a node of one simulated scheduler, such as RUN/fifo, in a run of
graft cluster run: its times, its devices, its failures, and the trainings of a live job.

--html writes a page instead of text, with the figures of graft plot, sortable tables, the timeline of
each job, and the commands that reproduce the runs. The page is self-contained: it can be
stored, sent and opened as a file.

Folders that are damaged, incomplete or not runs are reported and left out; the exit code is then
3.`,
		Example: `  graft report runs/first
  graft report runs/base-* runs/wide-*
  graft report runs --csv >runs.csv
  graft report --html report.html runs/first
  graft report runs/plain runs/residual --contrasts contrasts.toml
  graft report runs/cluster/fifo --job 42`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if o.force && o.html == "" {
				return failure.With(failure.Usage, errors.New("--force requires --html; add --html, or omit --force"))
			}
			if err := checkPart(command.Flags()); err != nil {
				return err
			}
			return runReport(command.Context(), command.OutOrStdout(), args, o)
		},
	}
	o.addFlags(command)
	return command
}

// addFlags adds the flags of the command.
func (o *reportOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&o.all, "all", false, "print every row: all epochs, sequences and runs")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false,
		"print CSV: a header, then a row for each run and quantity; a text that a spreadsheet would read as a formula "+
			"(first character =, +, - or @) starts with an apostrophe")
	flags.StringVar(&o.reach, "reach", "",
		"print the training cost at which each case of a sweep reaches the final validation loss of the named `case`, "+
			"or of the named arm at the same swept values")
	flags.StringVar(&o.contrasts, "contrasts", "",
		"print the differences between arms of sweeps that this `file` lists, over all sweeps and swept values")
	flags.StringVar(&o.part.Job, "job", "", "report on the job with this `ID`, in the folder of a simulated scheduler")
	flags.StringVar(&o.part.Node, "node", "",
		"report on the outages of this `node`, as NODE, VC/NODE or a name in failures.nodes, in the folder of a "+
			"simulated scheduler")
	flags.BoolVar(&o.markdown, "markdown", false, "print tables as GitHub Markdown")
	flags.BoolVar(&o.latex, "latex", false, "print tables for LaTeX, which need the packages booktabs and graphicx")
	flags.StringVar(&o.html, "html", "", "write a self-contained HTML page to this `file`")
	flags.BoolVar(&o.force, "force", false, "overwrite an existing file that graft did not write")
	command.MarkFlagsMutuallyExclusive("json", "csv", "markdown", "latex", "html")
	command.MarkFlagsMutuallyExclusive("contrasts", "reach")
	command.MarkFlagsMutuallyExclusive("contrasts", "html")
}

// checkPart checks the flags that select a part of a single simulation.
func checkPart(flags *pflag.FlagSet) error {
	for _, name := range []string{"job", "node"} {
		if !flags.Changed(name) {
			continue
		}
		if flags.Lookup(name).Value.String() == "" {
			return failure.Usagef("option %q is empty; name a %s, or omit it", name, name)
		}
		for _, other := range []string{"contrasts", "reach", "csv"} {
			if flags.Changed(other) {
				return failure.Usagef("option %q and option %q exclude each other; omit one of them", name, other)
			}
		}
	}
	return nil
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
	case o.latex:
		return report.Latex
	}
	return report.Text
}

func runReport(ctx context.Context, w io.Writer, args []string, o reportOptions) error {
	if o.contrasts != "" {
		return reportContrasts(ctx, w, args, o)
	}
	list, skipped := runs.OpenAll(environment(ctx).Files, args)
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.part != (runs.Selection{}) && len(list) > 1 {
		return failure.Usagef("option \"job\" and option \"node\" report on one simulation; name a single folder")
	}
	for _, r := range list {
		if err := r.Select(o.part); err != nil {
			return err
		}
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
