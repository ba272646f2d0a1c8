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
	json                  bool    // print one object
}

func newTraceFailuresCommand() *cobra.Command {
	var o traceFailuresOptions
	command := &cobra.Command{
		Use:   "failures FILE",
		Short: "Summarize a fault trace of cluster nodes, and generate similar ones",
		Long: `failures reads the faults of a cluster's nodes: a JSON list of the events fault_start and
fault_end in the format of InfiniteHBD. It prints node-days, faults by class, durations of
outages, availability and the number of nodes that never fail. An outage is a period in which a
node has at least one fault.

A fault trace lists only nodes with faults, so give the number of observed nodes with --nodes.
A fault without an end lasts until the end of the observed days.

--fit fits a model: bursts of faults whose rate differs between nodes. It compares statistics of
the trace, with 95% intervals from a bootstrap over nodes, with 20 generated traces.
--generate writes a generated trace, which 'graft cluster run --failures' replays. The same flags
always give byte-identical files.`,
		Example: `  graft trace failures fault_trace.json --nodes 400
  graft trace failures fault_trace.json --nodes 400 --fit
  graft trace failures fault_trace.json --nodes 400 --generate twice.json --rate-factor 2 --out-nodes 64`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceFailures(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Nodes, "nodes", 0,
		"number of observed nodes, including nodes without faults (default: the nodes in the file)")
	flags.Float64Var(&o.Days, "days", 0, "observed days (default: up to the last event, rounded up to a whole day)")
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
	p.Line("%s: %s", document.Printable(r.Path), failuresTitle(r.Statistics))
	p.Line("\nDurations in hours")
	p.Table(durationTable(r.Statistics))
	p.Line("\nFaults by class")
	p.Table(classTable(r.Statistics))
	p.Line("\nNodes by number of faults")
	p.Table(nodeTable(r.Statistics))
	if r.Fit != nil {
		printFit(p, r.Fit)
	}
	if r.Generated != nil {
		p.Line("\nwrote %s: %s", out, failuresTitle(r.Generated))
	}
	return p.Err
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
	t := document.NewTable("of").Numbers("", "%.0f", "count").Numbers("", "%.2f", "mean", "p50", "p90", "max")
	add := func(name string, count int, d failures.Spread) {
		const hour = runs.SecondsOfHour
		t.Add(name, count, d.Mean/hour, d.Median/hour, d.P90/hour, d.Max/hour)
	}
	add("outages", s.Outages, s.Duration)
	add("faults", s.Faults, s.FaultDuration)
	return t
}

func classTable(s *failures.Statistics) *document.Table {
	t := document.NewTable("level", "class").Numbers("", "%.0f", "faults").Numbers(document.UnitShare, "%.1f%%",
		"share").Numbers("", "%.0f", "hours")
	for _, c := range s.Classes {
		t.Add(cmp.Or(c.Level, "-"), cmp.Or(c.Class, "-"), c.Faults, float64(c.Faults)/float64(s.Faults), c.Hours)
	}
	return t
}

func nodeTable(s *failures.Statistics) *document.Table {
	t := (&document.Table{}).Numbers("", "", "faults", "nodes")
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
