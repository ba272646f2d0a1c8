package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"graft/cluster/failures"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/traces"
)

// traceFailuresOptions are the flags of `graft trace failures`.
type traceFailuresOptions struct {
	traces.FailureOptions         // trace, fit and generated trace; the zero value only describes the trace
	days                  float64 // of the generated trace
	start                 string  // date at which Slurm events begin
	json                  bool    // print one object
}

func newTraceFailuresCommand() *cobra.Command {
	var o traceFailuresOptions
	command := &cobra.Command{
		Use:   "failures FILE",
		Short: "Summarize failures of cluster nodes, and generate similar ones",
		Long: `failures reads the failures of a cluster's nodes from a file in one of three formats:
  - a fault trace: a JSON list of the events fault_start and fault_end in the format of InfiniteHBD
  - a CSV table of outages with the columns vc, node, from [s], to [s], kind and class
  - the output of Slurm's 'sacctmgr --parsable2 show event'

It prints node-days, faults by class, durations of outages, availability and the number of nodes
that never fail; for a table and for Slurm's events also the drains, and the nodes with most
failures. An outage is a period in which a node has at least one fault.

A file lists only nodes with faults, so give the number of observed nodes with --nodes. A fault
without an end lasts until the end of the observed days.

--fit fits a model: bursts of faults whose rate differs between nodes. It compares statistics of
the trace, with 95% intervals from a bootstrap over nodes, with 20 generated traces.
--generate writes a generated trace, which 'graft cluster run --failures' replays. The same flags
always give byte-identical files.`,
		Example: `  graft trace failures fault_trace.json --nodes 400
  graft trace failures fault_trace.json --nodes 400 --fit
  graft trace failures fault_trace.json --nodes 400 --generate twice.json --rate-factor 2 --out-nodes 64
  graft trace failures events.txt --nodes 24 --start 2025-01-01 --days 90`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceFailures(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Nodes, "nodes", 0,
		"number of observed nodes, including nodes without faults (default: the nodes in the file)")
	flags.Float64Var(&o.Days, "days", 0, "observed days (default: up to the last event, rounded up to a whole day)")
	flags.StringVar(&o.start, "start", "",
		"date at which the observed time of Slurm events begins (default: the day of the first event)")
	flags.BoolVar(&o.Fit, "fit", false, "fit a model, and compare traces that it generates with the trace")
	flags.StringVar(&o.Out, "generate", "", "output file for a generated fault trace")
	flags.IntVar(&o.Generate.Nodes, "out-nodes", 0,
		"number of nodes of the generated trace (default: the observed nodes)")
	flags.Float64Var(&o.days, "out-days", 0, "days of the generated trace (default: the observed days)")
	flags.Float64Var(&o.Generate.Factor, "rate-factor", 1, "factor of the failure rates of the generated trace")
	flags.Uint64Var(&o.Generate.Seed, "seed", 0, "seed of all random draws")
	flags.BoolVar(&o.Force, "force", false, "replace an existing file")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func runTraceFailures(ctx context.Context, w io.Writer, path string, o traceFailuresOptions) error {
	const most = 1e6 // days
	if !(o.days >= 0 && o.days <= most) || !(o.Generate.Factor > 0) {
		return failure.Usagef("--out-days is %g and --rate-factor is %g; expected positive numbers, and at most %g "+
			"days",
			o.days, o.Generate.Factor, most)
	}
	var err error
	if o.Start, err = dateOf("start", o.start); err != nil {
		return err
	}
	o.Generate.Period = int64(math.Round(o.days * hoursOfDay * runs.SecondsOfHour))
	info, err := traces.Failures(environment(ctx), path, o.FailureOptions)
	return show(w, o.json, info, err, func(w io.Writer, r *traces.FailureInfo) error {
		return printFailures(w, r,
			o.Out)
	})
}

// printFailures prints the statistics of a fault trace as text.
func printFailures(w io.Writer, r *traces.FailureInfo, out string) error {
	p := &document.Printer{W: w}
	if r.List != nil {
		printOutages(p, r)
	} else {
		printFaults(p, r)
	}
	if r.Fit != nil {
		printFit(p, r.Fit)
	}
	if r.Generated != nil {
		p.Line("\nwrote %s: %s", out, failuresTitle(r.Generated))
	}
	return p.Err
}

// printFaults prints the statistics of a fault trace.
func printFaults(p *document.Printer, r *traces.FailureInfo) {
	p.Line("%s: %s", document.Printable(r.Path), failuresTitle(r.Statistics))
	p.Line("\nDurations in hours")
	p.Table(durationTable(r.Statistics))
	p.Line("\nFaults by class")
	p.Table(classTable(r.Statistics))
	p.Line("\nNodes by number of faults")
	p.Table(nodeTable(r.Statistics, "faults"))
}

// printOutages prints the statistics of a list of outages.
func printOutages(p *document.Printer, r *traces.FailureInfo) {
	p.Line("%s: %s", document.Printable(r.Path), outagesTitle(r))
	p.Line("\nDurations in hours")
	t := spreadTable("of")
	addSpread(t, "failed periods", r.Outages, r.Duration)
	addSpread(t, "drained periods", r.List.Periods, r.List.Drain)
	p.Table(t)
	if len(r.Classes) == 0 {
		return
	}
	p.Line("\nFailures by class")
	p.Table(outageClasses(r.Statistics))
	p.Line("\nNodes with most failures")
	p.Table(worstTable(r.List.Worst))
	p.Line("\nNodes by number of failures")
	p.Table(nodeTable(r.Statistics, "failures"))
}

// outagesTitle returns the size of a list of outages, and the availability.
func outagesTitle(r *traces.FailureInfo) string {
	text := fmt.Sprintf("%s and %s of %s in %.1f days", words.Plural(r.Faults, "failure"),
		words.Plural(r.List.Drains, "drain"), words.Plural(r.Nodes, "node"), r.Days)
	if r.List.Start != "" {
		text += " from " + r.List.Start
	}
	text += fmt.Sprintf("\navailability %.3f%% without failures, %.3f%% without failures and drains",
		100*r.Availability, 100*r.List.InService)
	text += fmt.Sprintf("\n%s without a failure; %s", words.Plural(r.Never, "node"),
		words.Plural(r.Overlapping, "overlapping failure"))
	if r.Open > 0 {
		text += fmt.Sprintf("; %s without an end", words.Plural(r.Open, "failure"))
	}
	if r.List.Others > 0 {
		text += fmt.Sprintf("; %s skipped", words.Plural(r.List.Others, "cluster event"))
	}
	if moved := failures.ShiftedText(r.List.Shifted); moved != "" {
		text += "\n" + moved
	}
	return text
}

// outageClasses lists the most frequent classes of failures. In Slurm, a class is the reason that a user wrote.
func outageClasses(s *failures.Statistics) *document.Table {
	const most = 10 // rows
	t := document.NewTable("class").Numbers("", "%.0f", "failures").Numbers(document.UnitShare, "%.1f%%",
		"share").Numbers("", "%.1f", "hours")
	for _, c := range s.Classes[:min(most, len(s.Classes))] {
		t.Add(cmp.Or(c.Class, "-"), c.Faults, float64(c.Faults)/float64(s.Faults), c.Hours)
	}
	if more := len(s.Classes) - most; more > 0 {
		t.Add(fmt.Sprintf("%d more", more))
	}
	return t
}

func worstTable(nodes []failures.NodeOutages) *document.Table {
	t := document.NewTable("node").Numbers("", "%.0f", "failures").Numbers("", "%.1f", "hours").Numbers("", "%.0f",
		"drains").Numbers("", "%.1f", "drain hours")
	for _, n := range nodes {
		t.Add(n.Node, n.Failures, n.Hours, n.Drains, n.DrainHours)
	}
	return t
}

// failuresTitle returns the size of a fault trace and its availability.
func failuresTitle(s *failures.Statistics) string {
	text := fmt.Sprintf("%s of %s in %.1f days\n", words.Plural(s.Faults, "fault"), words.Plural(s.Nodes, "node"),
		s.Days)
	text += fmt.Sprintf("%.0f node-days, one fault in %.0f node-days, availability %.3f%%\n", s.NodeDays,
		1/s.PerNodeDay,
		100*s.Availability)
	text += fmt.Sprintf("%s without a fault; %s", words.Plural(s.Never, "node"),
		words.Plural(s.Overlapping, "overlapping fault"))
	if s.Open > 0 {
		text += fmt.Sprintf("; %s without an end", words.Plural(s.Open, "fault"))
	}
	return text
}

// durationTable has a line for outages and one for faults.
func durationTable(s *failures.Statistics) *document.Table {
	t := spreadTable("of")
	addSpread(t, "outages", s.Outages, s.Duration)
	addSpread(t, "faults", s.Faults, s.FaultDuration)
	return t
}

// spreadTable returns a table for durations in hours.
func spreadTable(first string) *document.Table {
	return document.NewTable(first).Numbers("", "%.0f", "count").Numbers("", "%.2f", "mean", "p50", "p90", "max")
}

func addSpread(t *document.Table, name string, count int, d failures.Spread) {
	const hour = runs.SecondsOfHour
	t.Add(name, count, d.Mean/hour, d.Median/hour, d.P90/hour, d.Max/hour)
}

func classTable(s *failures.Statistics) *document.Table {
	t := document.NewTable("level", "class").Numbers("", "%.0f", "faults").Numbers(document.UnitShare, "%.1f%%",
		"share").Numbers("", "%.0f", "hours")
	for _, c := range s.Classes {
		t.Add(cmp.Or(c.Level, "-"), cmp.Or(c.Class, "-"), c.Faults, float64(c.Faults)/float64(s.Faults), c.Hours)
	}
	return t
}

func nodeTable(s *failures.Statistics, what string) *document.Table {
	t := (&document.Table{}).Numbers("", "", what, "nodes")
	for _, n := range s.NodesByFaults {
		t.Add(n.Faults, n.Nodes)
	}
	return t
}

// printFit prints a fitted model, and compares it with its trace.
func printFit(p *document.Printer, f *traces.FailureFit) {
	shape := "equal for all nodes"
	if f.Shape > 0 {
		shape = fmt.Sprintf("gamma-distributed over nodes with shape %.3g", f.Shape)
	}
	p.Line("\nFit: %s, %.5f per node-day outside of bursts, %s", words.Plural(f.Library, "burst"), f.Rate, shape)
	t := document.NewTable("statistic").Numbers("", "%.6g", "trace", "low", "high", "generated")
	for _, e := range f.Estimates {
		name := e.Name
		if e.Unit != "" {
			name += " [" + e.Unit + "]"
		}
		t.Add(name, e.Trace, e.Low, e.High, e.Generated)
	}
	p.Table(t)
	p.Line("LOW, HIGH: 95%% interval of the trace, from a bootstrap over nodes. GENERATED: mean of %d generated "+
		"traces.",
		f.Traces)
}
