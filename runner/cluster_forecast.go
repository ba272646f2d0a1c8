package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"graft/runner/estimates"
)

// clusterForecastOptions are the flags of `graft cluster forecast`.
type clusterForecastOptions struct {
	learnedFlags                     // training data and method
	estimates.ForecastOptions        // other options
	from                      string // end date of the training data; empty means to walk
}

func newClusterForecastCommand() *cobra.Command {
	var o clusterForecastOptions
	command := &cobra.Command{
		Use:   "forecast",
		Short: "Forecast the numbers of submitted jobs and requested GPUs",
		Long: `forecast predicts the number of GPU jobs submitted every ten minutes, and the number of GPUs
they request, from the calendar and from submissions at least an hour old. Submissions come from
a trace, or from a table with the columns time, submit_gpu_job and submit_gpu_num.

Without --from, new models are trained for each week, on all earlier submissions. The first week
has no model: its forecast repeats the last known hour. With --from, models are trained once, on
the submissions before this date, and forecast all later submissions. Forecasts do not use
submissions from the preceding hour.

Schedulers that use forecasts read the output from the --data folder of 'graft cluster run'; the
file name must end in throughput_pred.csv. Times in the output include the date, but no time zone.
'graft cluster run' uses the date in the first row as the start of the trace. The trace itself
therefore needs no dates.`,
		Example: `  graft cluster forecast --trace september.csv --out venus/september_throughput_pred.csv
  graft cluster forecast --ticks cluster_throughput.csv --from 2020-09-01 --out forecast.csv --models models`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runClusterForecast(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.addFlags(command, &o.Options)
	flags := command.Flags()
	flags.StringVar(&o.Ticks, "ticks", "", "table of submissions per ten minutes, used instead of a trace")
	flags.StringVar(&o.from, "from", "",
		"start date of the forecast: models are trained once, on all earlier submissions; if empty, new models are "+
			"trained for each week")
	flags.StringVar(&o.Models, "models", "",
		"output folder for the models that were trained last, jobs.json and gpus.json; "+
			"'graft cluster shapes' prints these files")
	command.MarkFlagsOneRequired("trace", "ticks")
	command.MarkFlagsMutuallyExclusive("trace", "ticks")
	_ = command.RegisterFlagCompletionFunc("from", cobra.NoFileCompletions) // elsewhere this flag is a format
	return command
}

func runClusterForecast(ctx context.Context, w io.Writer, o clusterForecastOptions) error {
	err := o.read(&o.Options)
	if err != nil {
		return err
	}
	if o.From, err = dateOf("from", o.from); err != nil {
		return err
	}
	r, err := estimates.Forecast(ctx, environment(ctx), o.ForecastOptions)
	return show(w, o.json, r, err, estimates.PrintForecast)
}
