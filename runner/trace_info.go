package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/traces"
)

// traceInfoOptions are the flags of `graft trace info`.
type traceInfoOptions struct {
	traceSource        // options for reading the trace
	vcFile      string // file of the sizes of virtual clusters; empty for none
	perNode     int    // GPUs per node
	json        bool   // print one object
}

func newTraceInfoCommand() *cobra.Command {
	var o traceInfoOptions
	command := &cobra.Command{
		Use:   "info FILE",
		Short: "Summarize a trace and list its anomalies",
		Long: `info prints the number of jobs and users in a trace, the time span, durations grouped by the
number of requested GPUs, and anomalies, each with its first job and line. Jobs with an anomaly
marked as refused cannot be simulated. --vc-file adds the load of each virtual cluster: the GPU
time requested by its jobs, divided by the GPU time of its nodes from the first to the last
submission of the trace.

If the file is damaged, the jobs before the damage are summarized, and the exit code is 3.`,
		Example: `  graft trace info venus.csv
  graft trace info venus.csv --vc-file vc_config.csv --window 13219200..13305599 --json
  graft trace info pai_task_table.csv --job-table pai_job_table.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceInfo(command.Context(), command.OutOrStdout(), args[0], &o)
		},
	}
	o.addFlags(command)
	command.Flags().StringVar(&o.vcFile, "vc-file", "",
		"file of the virtual clusters and their nodes, CSV with the header \",num\"")
	command.Flags().IntVar(&o.perNode, "gpus-per-node", 8, "GPUs per node")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func runTraceInfo(ctx context.Context, w io.Writer, path string, o *traceInfoOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	info, err := traces.Summarize(environment(ctx), path,
		traces.InfoOptions{Read: options, VCFile: o.vcFile, GPUsPerNode: o.perNode})
	return show(w, o.json, info, err, printTrace)
}

// printTrace prints the summary of a trace as text.
func printTrace(w io.Writer, r *traces.Info) error {
	p := &document.Printer{W: w}
	p.Line("%s", traceTitle(r))
	if r.Jobs == 0 {
		return p.Err
	}
	p.Line("\nVirtual clusters")
	p.Table(vcTable(r))
	p.Line("\nJobs by requested GPUs, with durations in seconds")
	p.Table(sizeTable(r))
	if len(r.Findings) == 0 {
		p.Line("\nNo anomalies.")
		return p.Err
	}
	p.Line("\nAnomalies")
	for _, f := range r.Findings {
		refused := ""
		if f.Refused {
			refused = ", refused"
		}
		p.Line("  %s: %s%s, first %s in line %d: %s", f.Kind, words.Plural(f.Count, "job"), refused,
			document.Printable(f.FirstID), f.FirstLine, f.Text)
	}
	return p.Err
}

const hoursOfDay = 24

// traceTitle returns the size of the trace, its time span and its load.
func traceTitle(r *traces.Info) string {
	text := fmt.Sprintf("%s: %s, %s", document.Printable(r.Path), r.Format, words.Plural(r.Jobs, "job"))
	if r.Users > 0 {
		text += " of " + words.Plural(r.Users, "user")
	}
	if r.Skipped > 0 {
		text += fmt.Sprintf("; %s without a time ignored", words.Plural(r.Skipped, "row"))
	}
	if r.Jobs == 0 {
		return text
	}
	days := float64(r.LastSubmit-r.FirstSubmit) / (runs.SecondsOfHour * hoursOfDay)
	text += fmt.Sprintf("\nsubmitted from %s to %s, %.1f days\n", moment(r, r.FirstSubmit),
		moment(r, r.LastSubmit), days)
	text += fmt.Sprintf("%.0f GPU hours", r.GPUHours)
	if r.Load != nil {
		text += fmt.Sprintf(", a load of %.2f on %s", *r.Load, words.Plural(r.GPUs, "GPU"))
	}
	return text
}

// moment returns a second of the trace, with its date if known.
func moment(r *traces.Info, second int64) string {
	text := fmt.Sprintf("second %d", second)
	if r.Start != nil {
		text += " (" + time.Unix(r.Start.Unix()+second, 0).UTC().Format(time.DateTime) + ")"
	}
	return text
}

// vcTable has a line per virtual cluster.
func vcTable(r *traces.Info) *document.Table {
	t := document.NewTable("name").Numbers("", "%.0f", "nodes", "jobs", "gpu hours", "most gpus").Numbers("",
		"%.2f", "load")
	for _, vc := range r.VCs {
		nodes := document.Missing()
		if vc.Nodes > 0 {
			nodes = document.Value(float64(vc.Nodes), "")
		}
		t.Add(cmp.Or(vc.Name, "-"), nodes, vc.Jobs, vc.GPUHours, vc.MostGPUs, vc.Load)
	}
	return t
}

// sizeTable has a line per number of GPUs, and one for all jobs.
func sizeTable(r *traces.Info) *document.Table {
	t := (&document.Table{}).Numbers("", "", "gpus", "jobs").Numbers(document.UnitShare, "%.1f%%", "share").Numbers("",
		"%.0f", "gpu hours", "mean", "p10", "p50", "p90", "p99", "max")
	add := func(name any, jobs int, share, hours float64, s trace.Spread) {
		t.Add(name, jobs, share, hours, s.Mean, s.P10, s.P50, s.P90, s.P99, s.Max)
	}
	for _, size := range r.Sizes {
		add(size.GPUs, size.Jobs, size.Share, size.GPUHours, size.Duration)
	}
	add("all", r.Jobs, 1, r.GPUHours, r.Duration)
	return t
}
