package runs

import (
	"errors"
	"fmt"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/net2net"
	"graft/original"
	"graft/original/published"
	"graft/simulation/tables"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// TableSource holds information about a table in the original system's format, for example from options. It overrides
// the values in the table's config.toml.
type TableSource struct {
	Actions  []string // actions by their numbers in the table
	Network  string   // name of the initial network; empty means the value in config.toml
	Dataset  string
	Start    float64 // part of the budget that is already used when the sequences begin, in seconds
	Seed     int64
	HasStart bool // Start is set; if false, the value in config.toml counts
	HasSeed  bool // the seed is set; if false, the value in config.toml counts

	config string // text of config.toml; empty reads it
}

// OriginalActions lists the actions of the published tables; the index of an action is its number in these tables.
var OriginalActions = []string{"deepen:0", "deepen:1", "deepen:2", "none"}

// Read reads and checks a table. The path names the table's folder, a file data.pkl, or a folder that contains this
// file. If the folder is partly damaged, Read returns both a report and an error.
func (o *TableSource) Read(fsys files.FS, path string) (*tables.Report, error) {
	if _, err := fsys.Stat(path); err != nil {
		return nil, err
	}
	if file, original := OriginalTable(fsys, path); original {
		return o.ReadOriginal(fsys, file)
	}
	report, err := tables.Check(fsys, path)
	if errors.Is(err, tables.ErrNoTable) {
		err = failure.With(failure.Damaged, err)
	}
	if err != nil {
		return nil, err
	}
	return report, ReportFault(report)
}

// OriginalTable finds a table in the original system's format: the file at a path, or the data.pkl in the folder at the
// path. It returns false if no such file exists.
func OriginalTable(fsys files.FS, path string) (file string, is bool) {
	inside := filepath.Join(path, "data.pkl")
	switch {
	case IsFile(fsys, path):
		return path, true
	case IsFile(fsys, inside) && !IsFile(fsys, filepath.Join(path, "scenario.json")):
		return inside, true
	}
	return "", false
}

// IsFile reports whether path is a regular file.
func IsFile(fsys files.FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ReportFault returns the faults of a checked table as an error, or nil if there are none. The exit code is Damaged if
// no record is usable, and Partial otherwise.
func ReportFault(report *tables.Report) error {
	if report.Table == nil || report.Records == 0 {
		return failure.With(failure.Damaged, report.Err())
	}
	return failure.With(failure.Partial, report.Err())
}

// ReadOriginal reads a table in the original system's format.
func (o *TableSource) ReadOriginal(fsys files.FS, path string) (*tables.Report, error) {
	s, seed, err := o.scenario(fsys, path)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := original.ReadTable(file, s, seed)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s: %w", path, err))
	}
	if err := table.Validate(); err != nil {
		code := failure.Damaged
		if o.HasStart {
			code = failure.Usage
		}
		return nil, failure.With(code, fmt.Errorf("%s: %w", path, err))
	}
	report := &tables.Report{Dir: path, Table: table, Records: len(table.Records)}
	for _, r := range table.Records {
		cause := tables.Cause{Scenario: table.Digest(), Network: table.Network, Data: table.Dataset, Code: "original",
			Sequence: r.Sequence, Seeds: r.Seeds}
		report.Entries = append(report.Entries, &tables.Entry{Record: r, Key: cause.Key()})
	}
	return report, nil
}

// scenario describes a data.pkl by the config.toml in the same folder and the options that override it.
func (o *TableSource) scenario(fsys files.FS, path string) (tables.Scenario, int64, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return tables.Scenario{}, 0, err
	}
	run := &published.Run{Folder: filepath.Base(folder)}
	beside := filepath.Join(filepath.Dir(path), "config.toml")
	found, err := published.ReadScenario(fsys, beside, o.config)
	switch {
	case err == nil:
		run = found
	case errors.Is(err, fs.ErrNotExist) && o.Network != "" && o.Dataset != "":
	case errors.Is(err, fs.ErrNotExist):
		return run.Scenario(), 0, failure.Usagef("%s not found, but it describes the table %s; "+
			"set option \"network\" and option \"dataset\", and option \"start\" and option \"seed\" if "+
			"needed", beside, path)
	default:
		return run.Scenario(), 0, AsConfigFault(err)
	}
	s := run.Scenario()
	if s.Actions, err = actionsOf(o.Actions); err != nil {
		return s, 0, err
	}
	if run.Choices != 0 && run.Choices != len(s.Actions) {
		return s, 0, failure.Usagef("%s has %d actions per decision, "+
			"but option \"actions\" lists %d; list an action for each number", beside, run.Choices, len(s.Actions))
	}
	return o.override(s, run.Seed)
}

func (o *TableSource) override(s tables.Scenario, seed int64) (tables.Scenario, int64, error) {
	if o.Network != "" {
		s.Network = o.Network
	}
	if o.Dataset != "" {
		s.Dataset = o.Dataset
	}
	if o.HasStart {
		s.Start = o.Start
	}
	if o.HasSeed {
		seed = o.Seed
	}
	return s, seed, nil
}

// actionsOf parses and normalises actions.
func actionsOf(texts []string) ([]string, error) {
	var actions []string
	for _, text := range texts {
		a, err := net2net.ParseAction(strings.TrimSpace(text))
		if err != nil {
			return nil, failure.Usagef("option \"actions\": %w", err)
		}
		if slices.Contains(actions, a.String()) {
			return nil, failure.Usagef("option \"actions\": duplicate %s; list each action once", a)
		}
		actions = append(actions, a.String())
	}
	return actions, nil
}

// readOriginalTable reads the original's table in a folder; config is the text of its configuration file, empty for
// none.
func readOriginalTable(fsys files.FS, folder, config string) (*tables.Table, error) {
	file, ok := OriginalTable(fsys, folder)
	if !ok {
		return nil, fmt.Errorf("%s: %w", folder, fs.ErrNotExist)
	}
	source := &TableSource{Actions: OriginalActions, config: config}
	report, err := source.ReadOriginal(fsys, file)
	if err != nil {
		return nil, err
	}
	return report.Table, nil
}
