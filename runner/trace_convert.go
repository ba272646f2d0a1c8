package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/runner/traces"
)

// traceConvertOptions are the flags of `graft trace convert`.
type traceConvertOptions struct {
	traceSource        // options for reading the trace
	to          string // format
	force       bool   // replace an existing file
}

func newTraceConvertCommand() *cobra.Command {
	var o traceConvertOptions
	command := &cobra.Command{
		Use:   "convert FILE OUT --to FORMAT",
		Short: "Convert a trace to another format, with jobs in submission order",
		Long: `convert reads a trace into memory (200 bytes per job), sorts its jobs by submission time and
writes the jobs within --window. Output formats: graft is lossless; helios cannot express shares
of a GPU; swf replaces names with numbers and omits profiles. OUT is compressed if its name ends
in .gz.`,
		Example: `  graft trace convert cluster_job_log philly.csv --to graft
  graft trace convert venus.csv day.csv.gz --to helios --window 13219200..13305599`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceConvert(command.Context(), command.OutOrStdout(), args[0], args[1], &o)
		},
	}
	o.addFlags(command)
	command.Flags().StringVar(&o.to, "to", "", "format of OUT: graft, helios or swf")
	command.Flags().BoolVar(&o.force, "force", false, "replace an existing OUT file")
	_ = command.MarkFlagRequired("to") // fails if there is no such flag
	return command
}

func runTraceConvert(ctx context.Context, w io.Writer, in, out string, o *traceConvertOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	c, err := traces.Convert(environment(ctx), in, out, traces.ConvertOptions{Read: options, To: o.to, Force: o.force})
	if err != nil {
		return err
	}
	lost := ""
	if c.Shared > 0 {
		lost = fmt.Sprintf(
			"; %s with a share of a GPU, which that format cannot express", words.Plural(c.Shared, "job"))
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s to %s)%s%s\n", out, words.Plural(c.Jobs, "job"), c.Format, o.to,
		zeroText(c.Start), lost)
	return err
}

// zeroText describes the date of second zero.
func zeroText(start time.Time) string {
	if start.IsZero() {
		return ""
	}
	return ", second 0 is " + start.Format(time.DateTime)
}
