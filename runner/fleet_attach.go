package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/results/failure"
	"graft/work"
)

// newFleetAttachCommand is `graft fleet attach`.
func newFleetAttachCommand() *cobra.Command {
	every, asJSON := time.Duration(0), false
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
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			r, err := attach(ctx, environment(ctx), args[0], every)
			if r == nil {
				return err
			}
			return errors.Join(printSimulation(command.OutOrStdout(), r, asJSON), err)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	flags.DurationVar(&every, "every", 0, "how often workers are looked at; 0 is 200ms for local ones and 10s for others")
	return command
}

// attach looks after the workers of a simulation until nothing is left to run. They are
// polled every so often; zero is 200 ms for local ones and 10 s for others.
func attach(ctx context.Context, env *work.Env, folder string, every time.Duration) (*simulateReport, error) {
	if every < 0 || every > 0 && every < time.Millisecond {
		return nil, failure.Usagef("every is %v; a millisecond is the least", every)
	}
	s, f, err := openBoth(env, folder)
	if err != nil {
		return nil, err
	}
	if f == nil && s.Fleet.Engine != config.Kubernetes {
		return nil, noWorkers(folder)
	}
	x, err := newWatch(s)
	if err != nil {
		return nil, err
	}
	left, err := x.left()
	if err != nil {
		return nil, err
	}
	if left == 0 {
		env.Log.Info("nothing is left to run", zap.String("cache", x.cache()))
		return x.finish()
	}
	if f == nil {
		return x.await(ctx, every)
	}
	r, err := x.tend(ctx, f, every)
	return r, errors.Join(err, f.Close())
}
