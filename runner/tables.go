package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/net2net"
	"graft/original"
	"graft/original/published"
	"graft/simulation/tables"
)

// newTableCommand is `graft table`. It needs no LibTorch.
func newTableCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "table",
		Short: "Show tables of simulated action sequences, check and convert them",
		Long: `table works on what simulations leave: the accuracy that each sequence of actions
led to, and the time that was left at each decision. It reads the folders of graft's
own tables, also while they are written, and the original system's data.pkl, of which
it runs nothing.`,
		Example: `  graft table show tables/late
  graft table check tables/*
  graft table convert original/simulation_late2/data.pkl --out tables/late`,
		Args: cobra.NoArgs, // so that a misspelt command under it is an error
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newTableShowCommand(), newTableCheckCommand(), newTableConvertCommand())
	return command
}

// tableSource says how a table is read. All of it is for the original's.
type tableSource struct {
	actions []string // that the numbers stand for
	network string   // empty is as config.toml says
	dataset string
	start   float64 // seconds
	seed    int64
	given   func(flag string) bool // whether a flag was given
}

// originalActions are those of the published tables.
var originalActions = []string{"deepen:0", "deepen:1", "deepen:2", "none"}

func (o *tableSource) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringSliceVar(&o.actions, "actions", originalActions, "what the numbers in a data.pkl stand for, from 0")
	flags.StringVar(&o.network, "network", "", "the network of a data.pkl; empty is as config.toml beside it says")
	flags.StringVar(&o.dataset, "dataset", "", "the dataset of a data.pkl; empty is as config.toml beside it says")
	flags.Float64Var(&o.start, "start", 0, "seconds of the budget at which the sequences of a data.pkl begin (default: as config.toml says)")
	flags.Int64Var(&o.seed, "seed", 0, "the seed of the runs in a data.pkl (default: as config.toml says)")
	o.given = flags.Changed
}

// read reads a table's folder or a data.pkl, which may be named by its folder. Of a
// folder that is damaged in part it gives both what can be read and an error.
func (o *tableSource) read(path string) (*tables.Report, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if file, original := originalTable(path); original {
		return o.readOriginal(file)
	}
	report, err := tables.Check(files.OS{}, path)
	if errors.Is(err, tables.ErrNoTable) {
		err = withCode(exitDamaged, err)
	}
	if err != nil {
		return nil, err
	}
	return report, codedFaults(report)
}

// originalTable is the file of a table of the original's, which may be named by its
// folder; false where the path is another.
func originalTable(path string) (file string, is bool) {
	inside := filepath.Join(path, "data.pkl")
	switch {
	case isFile(path):
		return path, true
	case isFile(inside) && !isFile(filepath.Join(path, "scenario.json")):
		return inside, true
	}
	return "", false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// codedFaults is what is wrong with a folder, with the exit code that says how much of
// it can be used.
func codedFaults(report *tables.Report) error {
	if report.Table == nil || report.Records == 0 {
		return withCode(exitDamaged, report.Err())
	}
	return withCode(exitPartial, report.Err())
}

// readOriginal reads a table of the original system's.
func (o *tableSource) readOriginal(path string) (*tables.Report, error) {
	s, seed, err := o.scenario(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := original.ReadTable(file, s, seed)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, withCode(exitDamaged, fmt.Errorf("%s: %w", path, err))
	}
	if err := table.Validate(); err != nil {
		code := exitDamaged
		if o.given("start") {
			code = exitUsage
		}
		return nil, withCode(code, fmt.Errorf("%s: %w", path, err))
	}
	report := &tables.Report{Dir: path, Table: table, Records: len(table.Records)}
	for _, r := range table.Records {
		cause := tables.Cause{Scenario: table.Digest(), Network: table.Network, Data: table.Dataset, Code: "original", Sequence: r.Sequence, Seeds: r.Seeds}
		report.Entries = append(report.Entries, &tables.Entry{Record: r, Key: cause.Key()})
	}
	return report, nil
}

// scenario says what a data.pkl is of: what config.toml beside it says, and what flags
// say otherwise.
func (o *tableSource) scenario(path string) (tables.Scenario, int64, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return tables.Scenario{}, 0, err
	}
	run := &published.Run{Folder: filepath.Base(folder)}
	beside := filepath.Join(filepath.Dir(path), "config.toml")
	found, err := published.ReadScenario(files.OS{}, beside)
	switch {
	case err == nil:
		run = found
	case errors.Is(err, fs.ErrNotExist) && o.network != "" && o.dataset != "":
	case errors.Is(err, fs.ErrNotExist):
		return run.Scenario(), 0, usageErrorf("%s is not there to say what %s is a table of: give --network and --dataset, and --start and --seed if they matter", beside, path)
	default:
		return run.Scenario(), 0, faultyConfig(err)
	}
	s := run.Scenario()
	if s.Actions, err = actionsOf(o.actions); err != nil {
		return s, 0, err
	}
	if run.Choices != 0 && run.Choices != len(s.Actions) {
		return s, 0, usageErrorf("%s says that each decision chose from %d actions: name as many with --actions, and not %d", beside, run.Choices, len(s.Actions))
	}
	return o.override(s, run.Seed)
}

func (o *tableSource) override(s tables.Scenario, seed int64) (tables.Scenario, int64, error) {
	if o.network != "" {
		s.Network = o.network
	}
	if o.dataset != "" {
		s.Dataset = o.dataset
	}
	if o.given("start") {
		s.Start = o.start
	}
	if o.given("seed") {
		seed = o.seed
	}
	return s, seed, nil
}

// actionsOf brings actions into the form in which tables have them.
func actionsOf(texts []string) ([]string, error) {
	var actions []string
	for _, text := range texts {
		a, err := net2net.ParseAction(strings.TrimSpace(text))
		if err != nil {
			return nil, usageErrorf("--actions: %w", err)
		}
		if slices.Contains(actions, a.String()) {
			return nil, usageErrorf("--actions: %s stands twice", a)
		}
		actions = append(actions, a.String())
	}
	return actions, nil
}
