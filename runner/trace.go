package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/internal/failure"
)

// newTraceCommand makes `graft trace`. It does not need LibTorch.
func newTraceCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace",
		Short: "Summarize, convert and generate traces of a cluster's jobs",
		Long: `trace summarizes, converts and generates traces: lists of the jobs submitted to a cluster, with
users and times. trace reads the formats of published traces and of simulators, detects the format
from the first bytes of a file, and reads gzip-compressed files:

` + formatList() + `

A generated trace depends only on its seed and options.`,
		Example: `  graft trace describe venus.csv --vc-file vc_config.csv
  graft trace convert cluster_job_log philly.csv --to graft
  graft trace generate month.csv --vc-file-out nodes.csv
  graft trace failures fault_trace.json --nodes 400`,
	}, newTraceDescribeCommand(), newTraceConvertCommand(), newTraceGenerateCommand(), newTraceFailuresCommand())
}

// formatList has a line per format.
func formatList() string {
	var lines []string
	for _, f := range trace.Formats() {
		lines = append(lines, "  "+f.Name+strings.Repeat(" ", 13-len(f.Name))+f.About)
	}
	return strings.Join(lines, "\n")
}

// traceFormats are the names of formats, for completion.
func traceFormats() (names []string) {
	for _, f := range trace.Formats() {
		names = append(names, f.Name+"\t"+f.About)
	}
	return names
}

// traceSource configures the reading of a trace.
type traceSource struct {
	trace.Options        // format and table of jobs
	window        string // seconds, as A..B; empty means all
	processors    string // meaning of processors in format swf: gpus or cpus
}

func (s *traceSource) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&s.Format, "from", "", "trace format; if empty, it is detected from the first bytes of the file")
	flags.StringVar(&s.window, "window", "",
		"range of submission times to keep, in seconds, as A..B; A or B may be omitted")
	flags.StringVar(&s.processors, "processors", "gpus", "meaning of the processors in an SWF trace: gpus or cpus")
	flags.StringSliceVar(&s.Spot, "spot", nil,
		"partitions and qualities of service whose jobs can be evicted, in a trace of Slurm; separated by commas")
	flags.StringVar(&s.JobTable, "job-table", "",
		"path of pai_job_table.csv, which lists the users of jobs in format alibaba2020")
}

// options converts the flags to options of a trace.
func (s *traceSource) options() (o trace.Options, err error) {
	switch s.processors {
	case "gpus":
	case "cpus":
		s.Processors = trace.AsCPUs
	default:
		return o, failure.Usagef("--processors %s: expected gpus or cpus", s.processors)
	}
	if s.Window, err = windowOf(s.window); err != nil {
		return o, err
	}
	return s.Options, failure.With(failure.Usage, s.Validate())
}

// windowOf reads A..B.
func windowOf(text string) (*trace.Window, error) {
	if text == "" {
		return nil, nil
	}
	from, to, ok := strings.Cut(text, "..")
	w := &trace.Window{From: -1 << 62, To: 1 << 62}
	for _, end := range []struct {
		text string
		to   *int64
	}{{from, &w.From}, {to, &w.To}} {
		if end.text == "" {
			continue
		}
		v, err := strconv.ParseInt(end.text, 10, 64)
		ok = ok && err == nil
		*end.to = v
	}
	if !ok {
		return nil, failure.Usagef("--window %s: expected whole seconds as A..B, such as 0..86400", text)
	}
	return w, nil
}
