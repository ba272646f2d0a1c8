package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/results/failure"
)

// newFleetAttachCommand is `graft fleet attach`.
func newFleetAttachCommand() *cobra.Command {
	var o watchOptions
	command := &cobra.Command{
		Use:   "attach FOLDER",
		Short: "Look after the workers of a simulation until it is done",
		Long: `attach does what 'graft simulate' does once it has started workers: it starts those
again that were lost, shows how far they are, collects the table, and prints what came
out, with the same exit codes. One process at a time may. To stop it leaves workers of
Slurm alone, and whoever attaches next goes on; local ones save their work and end.
Pods of Kubernetes are looked after by their cluster, and only watched.`,
		Example: `  graft simulate late.toml --engine slurm && graft fleet attach runs/late
  graft fleet attach runs/late --every 1m`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runFleetAttach(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.DurationVar(&o.every, "every", 0, "how often workers are looked at; 0 is 200ms for local ones and 10s for others")
	return command
}

func runFleetAttach(ctx context.Context, w io.Writer, folder string, o watchOptions) error {
	if o.every < 0 || o.every > 0 && o.every < time.Millisecond {
		return failure.Usagef("every is %v; a millisecond is the least", o.every)
	}
	ctx, stop := heedRequeue(ctx)
	defer stop()
	s, f, err := openBoth(folder)
	if err != nil {
		return err
	}
	if f == nil && s.Fleet.Engine != config.Kubernetes {
		return noWorkers(folder)
	}
	x, err := newWatch(s, loggerFrom(ctx), screenFrom(ctx))
	if err != nil {
		return err
	}
	left, err := x.left()
	if err != nil {
		return err
	}
	if left == 0 {
		x.log.Info("nothing is left to run", zap.String("cache", x.cache()))
		return x.finish(w, o.json)
	}
	if f == nil {
		return x.await(ctx, w, o)
	}
	err = x.tend(ctx, w, f, o)
	return errors.Join(err, f.Close())
}
