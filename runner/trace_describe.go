package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/traces"
)

// traceDescribeOptions are the flags of `graft trace describe`.
type traceDescribeOptions struct {
	traceSource          // options for reading the trace
	vcFile      string   // file of the sizes of virtual clusters; empty for none
	aliases     []string // other names of virtual clusters, each as NAME=VC
	perNode     int      // GPUs per node
	gpus        int      // GPUs of the cluster; zero for unknown
	// definition of the jobs that could have adapted; the flags have the defaults
	adapt trace.AdaptOptions
	json  bool // print one object
}

func newTraceDescribeCommand() *cobra.Command {
	var o traceDescribeOptions
	command := &cobra.Command{
		Use:   "describe FILE",
		Short: "Describe a cluster by a trace of its jobs",
		Long: `describe prints one page about a cluster, from a trace of its jobs: the load, the virtual
clusters, durations and waiting times by number of GPUs, end states, wasted GPU time, node
failures, the share of the load that could have adapted, and anomalies of the trace, each with
its first job and line. Jobs with an anomaly marked as refused cannot be simulated.

The load is the GPU time of all jobs divided by the GPU time of the cluster from the first to the
last submission. It needs the size of the cluster: --gpus, or --vc-file for the load of each
virtual cluster. A job could have adapted if it ran at least --adapt-hours on whole GPUs, and met
one further condition: at least --adapt-gpus GPUs, or at least --adapt-restarts restarts.

If the file is damaged, the jobs before the damage are described, and the exit code is 3.`,
		Example: `  graft trace describe slurm.csv --gpus 512 --spot scavenger
  graft trace describe venus.csv --vc-file vc_config.csv --window 13219200..13305599 --json
  graft trace describe pai_task_table.csv --job-table pai_job_table.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceDescribe(command.Context(), command.OutOrStdout(), args[0], &o)
		},
	}
	o.addFlags(command)
	command.Flags().StringVar(&o.vcFile, "vc-file", "",
		"file of the virtual clusters and their nodes, CSV with the header \",num\"")
	command.Flags().StringSliceVar(&o.aliases, "vc-alias", nil,
		"virtual clusters of jobs with other names in the trace, each as NAME=VC; separated by commas")
	command.Flags().IntVar(&o.perNode, "gpus-per-node", 8, "GPUs per node")
	command.Flags().IntVar(&o.gpus, "gpus", 0, "GPUs of the cluster, without --vc-file; 0 means unknown")
	command.Flags().Float64Var(&o.adapt.Hours, "adapt-hours", 1,
		"minimum run time, in hours, of jobs that could have adapted")
	command.Flags().IntVar(&o.adapt.GPUs, "adapt-gpus", 2, "minimum number of GPUs of jobs that could have adapted")
	command.Flags().IntVar(&o.adapt.Restarts, "adapt-restarts", 2,
		"number of restarts after which a job with fewer GPUs could have adapted too")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func runTraceDescribe(ctx context.Context, w io.Writer, path string, o *traceDescribeOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	if err := o.adapt.Validate(); err != nil {
		return failure.With(failure.Usage, err)
	}
	described, err := traces.Describe(environment(ctx), path,
		traces.DescribeOptions{Read: options, VCFile: o.vcFile, Aliases: o.aliases, GPUsPerNode: o.perNode,
			GPUs: o.gpus, Adapt: o.adapt})
	return show(w, o.json, described, err, printTrace)
}

// printTrace prints the summary of a trace as text.
func printTrace(w io.Writer, r *traces.Description) error {
	p := &document.Printer{W: w}
	p.Line("%s", traceTitle(r))
	if r.Jobs == 0 {
		return p.Err
	}
	for _, warning := range traceWarnings(r) {
		p.Line("%s", warning)
	}
	p.Line("\nVirtual clusters")
	p.Table(vcTable(r))
	if more := len(r.VCs) - mostVCs; more > 0 {
		p.Line("and %d more with fewer GPU hours, which --json lists", more)
	}
	p.Line("\nDurations by requested GPUs, in seconds")
	p.Table(sizeTable(r))
	if r.Wait != nil {
		p.Line("\nWaiting times by requested GPUs, in seconds")
		p.Table(waitTable(r))
	}
	p.Line("\nEnd states")
	p.Table(stateTable(r))
	if len(r.Types) > 0 {
		p.Line("\nTypes of GPUs")
		p.Table(typeTable(r))
	}
	p.Line("%s", wasteText(r))
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
	if advice := leftOutText(r.Findings); advice != "" {
		p.Line("%s", advice)
	}
	return p.Err
}

// leftOutText explains what simulations do with jobs that did not run, and with jobs whose end is unknown. It is empty
// if there are none.
func leftOutText(findings []trace.Finding) (text string) {
	has := func(kind trace.Kind) bool {
		return slices.ContainsFunc(findings, func(f trace.Finding) bool { return f.Kind == kind })
	}
	if has(trace.Runaway) || has(trace.NeverStarted) {
		text = "Simulations leave out runaway and never-started jobs."
	}
	if has(trace.Runaway) {
		text += "\nSlurm's accounting lost the ends of runaway jobs; 'sacctmgr show runawayjobs' lists and ends them."
	}
	return text
}

// traceWarnings returns sentences about numbers of the page that can mislead.
func traceWarnings(r *traces.Description) (list []string) {
	if n := r.Runaway.Jobs; n > 0 {
		list = append(list, fmt.Sprintf("Durations, GPUs in use and all sums of GPU hours leave out %s with %.0f GPU "+
			"hours.", words.Plural(n, "runaway job"), r.Runaway.GPUHours))
	}
	if r.InUse != nil && r.GPUs > 0 && r.InUse.MostGPUs > r.GPUs {
		list = append(list, fmt.Sprintf("The trace has %d GPUs in use at once, but the cluster has %d. Likely causes: "+
			"--gpus or --vc-file is wrong; in formats other than slurm, a restarted job counts as one interval; jobs "+
			"that still run in the trace ended earlier.", r.InUse.MostGPUs, r.GPUs))
	}
	return list
}

const hoursOfDay = 24

// traceTitle returns the size of the trace, its time span and its load.
func traceTitle(r *traces.Description) string {
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
	if e := r.Early; e != nil {
		text += fmt.Sprintf("%s submitted %.1f days before all others, which lengthens the period of the load; "+
			"--window %d.. leaves out earlier submissions\n", words.Plural(e.Jobs, "job"), e.Days, e.Next)
	}
	text += fmt.Sprintf("%.0f GPU hours", r.GPUHours)
	if left := r.GPUHours - r.Loading; r.Load != nil && left >= 1 {
		text += fmt.Sprintf(", %.0f of them in virtual clusters without nodes", left)
	}
	if r.Load != nil {
		text += fmt.Sprintf(", a load of %.2f on %s", *r.Load, words.Plural(r.GPUs, "GPU"))
	}
	if r.InUse != nil {
		text += fmt.Sprintf("; %.1f GPUs in use on average from the first start to the last end, at most %d",
			r.InUse.MeanGPUs, r.InUse.MostGPUs)
	}
	if r.Spot > 0 {
		text += "; " + words.Plural(r.Spot, "spot job")
	}
	return text
}

// moment returns a second of the trace, with its date if known.
func moment(r *traces.Description, second int64) string {
	text := fmt.Sprintf("second %d", second)
	if r.Start != nil {
		text += " (" + time.Unix(r.Start.Unix()+second, 0).UTC().Format(time.DateTime) + ")"
	}
	return text
}

// mostVCs is the maximum number of virtual clusters on the page.
const mostVCs = 15

// vcTable has a line per virtual cluster. It omits the smallest of many virtual clusters.
func vcTable(r *traces.Description) *document.Table {
	t := document.NewTable("name").Numbers("", "%.0f", "nodes", "jobs", "gpu hours",
		"max gpus per job").Numbers("", "%.2f", "load")
	for _, vc := range largestVCs(r.VCs) {
		nodes := document.Missing()
		if vc.Nodes > 0 {
			nodes = document.Value(float64(vc.Nodes), "")
		}
		t.Add(cmp.Or(vc.Name, "-"), nodes, vc.Jobs, vc.GPUHours, vc.MostGPUs, vc.Load)
	}
	return t
}

func largestVCs(vcs []trace.VCSummary) []trace.VCSummary {
	if len(vcs) <= mostVCs {
		return vcs
	}
	vcs = slices.Clone(vcs)
	slices.SortStableFunc(vcs, func(a, b trace.VCSummary) int { return cmp.Compare(b.GPUHours, a.GPUHours) })
	return vcs[:mostVCs]
}

// sizeTable has a line per range of GPUs, and one for all jobs.
func sizeTable(r *traces.Description) *document.Table {
	t := document.NewTable("gpus").Numbers("", "", "jobs").Numbers(document.UnitShare, "%.1f%%", "share").Numbers("",
		"%.0f", "gpu hours", "mean", "p10", "p50", "p90", "p99", "max")
	add := func(name any, jobs int, share, hours float64, s trace.Spread) {
		t.Add(name, jobs, share, hours, s.Mean, s.P10, s.P50, s.P90, s.P99, s.Max)
	}
	for _, size := range r.Sizes {
		add(gpuRange(&size), size.Jobs, size.Share, size.GPUHours, size.Duration)
	}
	add("all", r.Jobs, 1, r.GPUHours, r.Duration)
	return t
}

func gpuRange(s *trace.SizeSummary) string {
	if s.GPUs == s.Most {
		return strconv.Itoa(s.GPUs)
	}
	return fmt.Sprintf("%d-%d", s.GPUs, s.Most)
}

// waitTable has a line per range of GPUs, and one for all jobs.
func waitTable(r *traces.Description) *document.Table {
	t := document.NewTable("gpus").Numbers("", "%.0f", "mean", "p10", "p50", "p90", "p99", "max")
	add := func(name string, s *trace.Spread) {
		if s != nil {
			t.Add(name, s.Mean, s.P10, s.P50, s.P90, s.P99, s.Max)
		}
	}
	for _, size := range r.Sizes {
		add(gpuRange(&size), size.Wait)
	}
	add("all", r.Wait)
	return t
}

func stateTable(r *traces.Description) *document.Table {
	t := document.NewTable("state").Numbers("", "", "jobs").Numbers(document.UnitShare, "%.1f%%", "share").Numbers("",
		"%.0f", "gpu hours").Numbers(document.UnitShare, "%.1f%%", "gpu share")
	for _, s := range r.States {
		t.Add(cmp.Or(s.State, "unknown"), s.Jobs, s.Share, s.GPUHours, s.GPUShare)
	}
	return t
}

func typeTable(r *traces.Description) *document.Table {
	t := document.NewTable("type").Numbers("", "", "jobs", "jobs that need it").Numbers("", "%.0f", "gpu hours")
	for _, s := range r.Types {
		t.Add(cmp.Or(document.Printable(s.Type), "unknown"), s.Jobs, s.Needed, s.GPUHours)
	}
	return t
}

// wasteText has a paragraph each about waste, node failures and adaptation.
func wasteText(r *traces.Description) string {
	return "\n" + wasted(&r.Waste) + "\n" + failuresText(&r.Waste, &r.Failures) + "\n" + adaptable(&r.Adapt)
}

func wasted(w *trace.Waste) string {
	return fmt.Sprintf("Waste: %.0f GPU hours, %.1f%% of all.\n"+
		"  Jobs that ended as FAILED, OUT_OF_MEMORY, CANCELLED, TIMEOUT, NODE_FAIL or PREEMPTED: %d, %.0f GPU hours.\n"+
		"  Starts of other jobs before the last start: %.0f GPU hours.\n", w.Ended+w.Lost, 100*w.GPUShare, w.Jobs,
		w.Ended, w.Lost)
}

func failuresText(w *trace.Waste, f *trace.NodeFailures) string {
	text := fmt.Sprintf("Restarts: %d. Node failures: %d in %s, which lost %.0f GPU hours", w.Restarts, f.Failures,
		words.Plural(f.Jobs, "job"), f.GPUHours)
	if f.Failures > 0 && f.Rate != nil {
		text += fmt.Sprintf("; %.2f per 1000 GPU days", *f.Rate)
	}
	text += ".\n"
	if w.Unlisted > 0 {
		text += fmt.Sprintf("  The file has no row for %s, so node failures and lost GPU hours are too low. Export it "+
			"with 'sacct --duplicates'.\n", words.Plural(w.Unlisted, "restart"))
	}
	if len(f.Worst) == 0 {
		return text
	}
	var nodes []string
	for _, node := range f.Worst {
		nodes = append(nodes, fmt.Sprintf("%s (%d)", document.Printable(node.Node), node.Failures))
	}
	return text + "  Nodes with most failures: " + strings.Join(nodes, ", ") + ".\n"
}

func adaptable(a *trace.Adaptable) string {
	return fmt.Sprintf("Could have adapted: %s, %.1f%% of all; %.0f GPU hours, %.1f%% of all.\n"+
		"  Each of these jobs ran at least %g h on whole GPUs,\n"+
		"  and met one further condition: at least %s, or at least %s.", words.Plural(a.Jobs, "job"),
		100*a.Share, a.GPUHours, 100*a.GPUShare, a.Hours,
		words.Plural(a.GPUs, "GPU"), words.Plural(a.Restarts, "restart"))
}
