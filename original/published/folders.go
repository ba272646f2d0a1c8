package published

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/original"
	"graft/original/bilstm"
	"graft/original/vocab"
	"graft/simulation/tables"
)

// TableFile is the file name of a table in its run folder.
const TableFile = "data.pkl"

// ReadPolicy reads a policy of the original system and the vocabulary that it was trained with. If policy is a run
// folder, the weights must have the sizes in the run's configuration; ReadPolicy also returns this configuration. For a
// weight file, the returned configuration is nil.
func ReadPolicy(fsys files.FS, policy, vocabulary string, o bilstm.Options) (*bilstm.Policy, *Run, error) {
	v, err := vocab.Read(fsys, vocabulary)
	if err != nil {
		return nil, nil, err
	}
	var run *Run
	if info, err := fsys.Stat(policy); err == nil && info.IsDir() {
		if run, err = Read(fsys, filepath.Join(policy, ConfigFile)); err != nil {
			return nil, nil, err
		}
		o.Want = run.Policy
	}
	p, err := bilstm.Read(fsys, policy, v, o)
	return p, run, err
}

// ReadFirstPolicy reads the initial policy of the training run in a folder. If a run started from an initial policy,
// the original system evaluated this policy instead of the trained policy. The folder of the initial policy is looked
// up by name next to the run folder, because the path in run.Source is outdated if the folders were moved.
func ReadFirstPolicy(fsys files.FS, folder string, run *Run, vocabulary string,
	o bilstm.Options) (*bilstm.Policy, error) {
	path := beside(folder, run.Source)
	p, _, err := ReadPolicy(fsys, path, vocabulary, o)
	if err != nil {
		return nil, fmt.Errorf("read the initial policy of %s (%s): %w", folder, run.Source, err)
	}
	return p, nil
}

// beside resolves a path of the original's relative to a folder that was moved with its siblings.
func beside(folder, path string) string {
	return filepath.Join(folder, "..", filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// TrainingTable is a table that a policy of the original system was trained on.
type TrainingTable struct {
	Name  string        // name of the table or, if it cannot be read, of its run folder
	Table *tables.Table // the table; nil if it cannot be read
}

// mostContinued limits the number of policies, each continued from the next, whose training tables are listed.
const mostContinued = 100

// TrainingTables lists the tables that the policy in a run folder was trained on, and the tables of the policies from
// which its training continued. The result whole is false if a run does not name its table, or if the run of a
// continued policy cannot be read; there may then be other tables.
func TrainingTables(fsys files.FS, folder string, run *Run) (list []TrainingTable, whole bool) {
	for range mostContinued {
		if run == nil || run.Table == "" {
			return list, false
		}
		there := filepath.Dir(beside(folder, run.Table))
		one := TrainingTable{Name: filepath.Base(there)}
		if t, _, err := ReadTable(fsys, there); err == nil {
			one = TrainingTable{t.Name, t}
		}
		list = append(list, one)
		if run.Source == "" {
			return list, true
		}
		var err error
		folder = filepath.Dir(beside(folder, run.Source))
		if run, err = Read(fsys, filepath.Join(folder, ConfigFile)); err != nil {
			return list, false
		}
	}
	return list, false
}

// ReadTable reads the table of a run of the original system, and creates the initial network of its sequences, without
// weights. The run folder of a policy contains no table. In this case, ReadTable reads the training table from the
// table's own run folder, which is next to the policy's run folder.
func ReadTable(fsys files.FS, folder string) (*tables.Table, *model.Network, error) {
	run, err := Read(fsys, filepath.Join(folder, ConfigFile))
	if err != nil {
		return nil, nil, err
	}
	_, err = fsys.Stat(filepath.Join(folder, TableFile))
	if there := filepath.Dir(beside(folder, run.Table)); errors.Is(err, fs.ErrNotExist) && run.Table != "" &&
		there != filepath.Clean(folder) {
		folder = there
		if run, err = Read(fsys, filepath.Join(folder, ConfigFile)); err != nil {
			return nil, nil, err
		}
	}
	if run.Network == "" {
		fault := decode.Fault{File: filepath.Join(folder, ConfigFile),
			Text: "job.model, the network of the table, is missing"}
		return nil, nil, fmt.Errorf("read table: %w", decode.Faults{fault})
	}
	n, err := model.Zoo(run.Network, model.ZooOptions{})
	if err != nil {
		return nil, nil, err
	}
	s := run.Scenario()
	s.Name, s.Actions = filepath.Base(folder), original.ScenarioActions(n)
	t, err := readTable(fsys, filepath.Join(folder, TableFile), s, run.Seed)
	return t, n, err
}

func readTable(fsys files.FS, path string, s tables.Scenario, seed int64) (*tables.Table, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w; expected a run folder of the original system with a file %s", err,
			TableFile)
	}
	t, err := original.ReadTable(f, s, seed)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%w; copy %s again", err, path)
	}
	return t, t.Complete()
}
