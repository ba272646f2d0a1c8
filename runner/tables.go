package main

import (
	"github.com/spf13/cobra"

	"graft/report/runs"
)

// newTableCommand makes `graft table`. It does not need LibTorch.
func newTableCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "table",
		Short: "Show, check and convert tables of simulated action sequences",
		Long: `table shows, checks and converts results of simulations: the accuracy of each sequence of actions,
and the time left at each decision. table reads graft's table folders, even while they are being
written, and the original system's data.pkl, without executing it.`,
		Example: `  graft table show tables/late
  graft table check tables/*
  graft table convert original/simulation_late2/data.pkl --out tables/late`,
	}, newTableShowCommand(), newTableCheckCommand(), newTableConvertCommand())
}

func addTableFlags(command *cobra.Command, o *runs.TableSource) {
	flags := command.Flags()
	flags.StringSliceVar(&o.Actions, "actions", runs.OriginalActions,
		"actions that the numbers 0, 1, 2, … in data.pkl stand for, in this order, separated by commas")
	flags.StringVar(&o.Network, "network", "",
		"network with which data.pkl was simulated (default: from config.toml in the same folder)")
	flags.StringVar(&o.Dataset, "dataset", "",
		"dataset with which data.pkl was simulated (default: from config.toml in the same folder)")
	flags.Float64Var(&o.Start, "start", 0,
		"time of the budget that is already used when the sequences in data.pkl start, in seconds "+
			"(default: from config.toml)")
	flags.Int64Var(&o.Seed, "seed", 0, "seed of the runs in data.pkl (default: from config.toml)")
}

// heedTableFlags records which flags were given.
func heedTableFlags(command *cobra.Command, o *runs.TableSource) {
	o.HasStart, o.HasSeed = command.Flags().Changed("start"), command.Flags().Changed("seed")
}
