package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"graft/cluster/trace"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
)

// traceConvertOptions are the flags of `graft trace convert`.
type traceConvertOptions struct {
	traceSource        // how the trace is read
	to          string // format
	force       bool   // replace a file that is there
}

func newTraceConvertCommand() *cobra.Command {
	var o traceConvertOptions
	command := &cobra.Command{
		Use:   "convert FILE OUT --to FORMAT",
		Short: "Write a trace in another format, its jobs in the order of submission",
		Long: `convert reads a trace into memory, 200 bytes for each job, sorts its jobs by their
submission and writes those within the window. Formats that are written: graft loses
nothing; helios has no shares of a GPU; swf has numbers in place of names, and no
profiles. An OUT that ends in .gz is compressed.`,
		Example: `  graft trace convert cluster_job_log philly.csv --to graft
  graft trace convert venus.csv day.csv.gz --to helios --window 13219200..13305599`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return runTraceConvert(command.OutOrStdout(), args[0], args[1], &o)
		},
	}
	o.addFlags(command)
	command.Flags().StringVar(&o.to, "to", "", "the format of OUT: graft, helios or swf")
	command.Flags().BoolVar(&o.force, "force", false, "replace OUT if it is there")
	_ = command.MarkFlagRequired("to") // it fails where there is no such flag
	return command
}

func runTraceConvert(w io.Writer, in, out string, o *traceConvertOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	if err := mayWriteTrace(o.to); err != nil {
		return err
	}
	if err := mayWrite(in, out, o.force); err != nil {
		return err
	}
	all, err := trace.ReadAll(files.OS{}, in, options)
	if err != nil {
		return codedTrace(err)
	}
	err = trace.WriteFile(files.OS{}, out, trace.WriterOptions{Format: o.to, Start: all.Start, RAM: all.HasRAM()}, o.force, func(t *trace.Writer) error {
		for k := range all.Jobs {
			if err := t.Write(&all.Jobs[k]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s to %s)%s%s\n", out, document.Plural(len(all.Jobs), "job"), all.Format, o.to, zeroText(all.Start), lostText(all, o.to))
	return err
}

// mayWriteTrace is an error of the command line where a format is not written.
func mayWriteTrace(format string) error {
	if !slices.Contains(traceWritable(), format) {
		return failure.Usagef("--to %s: no such traces are written: use one of %s", format, document.SomeOf(traceWritable(), 8))
	}
	return nil
}

// zeroText says when second zero was.
func zeroText(start time.Time) string {
	if start.IsZero() {
		return ""
	}
	return ", second 0 is " + start.Format(time.DateTime)
}

// lostText says how many jobs a format says less of than was read.
func lostText(all *trace.Trace, to string) string {
	shared := 0
	for k := range all.Jobs {
		if all.Jobs[k].Share > 0 {
			shared++
		}
	}
	if shared == 0 || to == "graft" {
		return ""
	}
	return fmt.Sprintf("; %s of a part of a GPU, which that format cannot say", document.Plural(shared, "job"))
}
