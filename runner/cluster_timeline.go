package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/rigid"
	"graft/cluster/study"
	"graft/internal/files"
	"graft/internal/words"
	"graft/runner/app"
)

// clusterTimelineOptions are the flags of `graft cluster timeline`.
type clusterTimelineOptions struct {
	clusterFlags                 // simulation
	rigid.TimelineOptions        // job to follow
	out                   string // output file; empty means stdout
	force                 bool   // overwrite
}

func newClusterTimelineCommand() *cobra.Command {
	var o clusterTimelineOptions
	command := &cobra.Command{
		Use:   "timeline [CONFIG]",
		Short: "Write a job's device changes as a timeline for graft train",
		Long: `timeline simulates a cluster under one scheduler, as 'graft cluster run' does, and writes the
device changes of one job as a table for the key time.timeline of a job file. Times are seconds
since the job's start, excluding periods in which the job has no devices. While the job shares its
devices with another job, only half of them are counted.

Only schedulers that grow and shrink jobs, such as fair, produce a timeline with events. The
values of time.budget and time.devices that the job file needs are printed on stderr.`,
		Example: `  graft cluster timeline --trace jobs.csv --vc-file vc_config.csv --scheduler fair --job 17 --out job17.csv
  graft cluster timeline --data venus --trace september.csv --scheduler fair --job 765472 --budget 600`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.file = first(args)
			return runClusterTimeline(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), o)
		},
	}
	o.add(command)
	command.Flags().StringVar(&o.Job, "job", "", "ID of the job in the trace")
	command.Flags().StringVar(&o.out, "out", "", "output file; if empty, the timeline is printed")
	command.Flags().Float64Var(&o.Budget, "budget", 0,
		"duration to which the job is scaled, in seconds; 0 keeps the original duration")
	command.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	_ = command.MarkFlagRequired("job")
	return command
}

func runClusterTimeline(ctx context.Context, w, about io.Writer, o clusterTimelineOptions) error {
	env := environment(ctx)
	c, err := o.read(env)
	if err != nil {
		return err
	}
	t, err := c.Follow(ctx, study.Env{Files: env.Files, Log: env.Log}, o.TimelineOptions)
	if err != nil {
		return err
	}
	if o.out == "" {
		err = t.Write(w)
	} else {
		if err = app.MayWrite(env.Files, o.out, o.force); err == nil {
			err = files.WriteAtomic(env.Files, o.out, t.Write)
		}
	}
	_, told := fmt.Fprintf(about,
		"set time.budget = %g and time.devices = %d; the timeline has %s; the job lost all its devices %s\n",
		t.Budget, t.First, words.Plural(len(t.Changes), "change"), words.Plural(t.Waits, "time"))
	return errors.Join(err, told)
}
