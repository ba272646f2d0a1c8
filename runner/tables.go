package main

import (
	"github.com/spf13/cobra"

	"graft/report/runs"
)

// newTableCommand makes `graft table`. It does not need LibTorch.
func newTableCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "table",
		Short: "Show tables of simulated action sequences, check and convert them",
		Long: `table works on the results of simulations: the accuracy of each sequence of actions, and the
time left at each decision. It reads the folders of graft's tables, also while they are
written, and data.pkl of the original system without executing it.`,
		Example: `  graft table show tables/late
  graft table check tables/*
  graft table convert original/simulation_late2/data.pkl --out tables/late`,
	}, newTableShowCommand(), newTableCheckCommand(), newTableConvertCommand())
}

func addTableFlags(command *cobra.Command, o *runs.TableSource) {
	flags := command.Flags()
	flags.StringSliceVar(&o.Actions, "actions", runs.OriginalActions,
		"what the numbers in a data.pkl stand for, from 0")
	flags.StringVar(&o.Network, "network", "", "the network of a data.pkl; empty is as config.toml beside it says")
	flags.StringVar(&o.Dataset, "dataset", "", "the dataset of a data.pkl; empty is as config.toml beside it says")
	flags.Float64Var(&o.Start, "start", 0,
		"seconds of the budget at which the sequences of a data.pkl begin (default: as config.toml says)")
	flags.Int64Var(&o.Seed, "seed", 0, "the seed of the runs in a data.pkl (default: as config.toml says)")
}

// heedTableFlags records which flags were given.
func heedTableFlags(command *cobra.Command, o *runs.TableSource) {
	o.HasStart, o.HasSeed = command.Flags().Changed("start"), command.Flags().Changed("seed")
}
