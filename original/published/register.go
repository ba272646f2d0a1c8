package published

import (
	"errors"
	"io/fs"
	"path/filepath"

	"graft/decider"
	"graft/internal/files"
	"graft/net2net"
	"graft/original"
	"graft/original/bilstm"
	"graft/simulation/tables"
	"graft/trainer"
)

// legacyProfile is the profile of the node in the original's experiments.
const legacyProfile = "v100-original"

// scenarioFile is a file in each of graft's own tables.
const scenarioFile = "scenario.json"

func init() {
	tables.RegisterForm(&tables.Form{Has: hasTable, Read: ReadTable, Profile: legacyProfile,
		Surgery: net2net.Options{Compat: net2net.Original}})
	decider.RegisterForm(&decider.Form{File: bilstm.FileName,
		Read: func(fsys files.FS, policy, vocabulary string, o decider.FormOptions) (decider.Foreign, error) {
			p, _, err := ReadPolicy(fsys, policy, vocabulary, bilstm.Options{Sample: o.Sample, Seed: o.Seed})
			if err != nil {
				return nil, err
			}
			return p, nil
		}})
	trainer.RegisterWeightsHistory(original.ReadHistory)
}

// hasTable reports whether a folder has a table of the original's. A policy refers to its training table.
func hasTable(fsys files.FS, folder string) (bool, error) {
	_, there := fsys.Stat(filepath.Join(folder, TableFile))
	_, own := fsys.Stat(filepath.Join(folder, scenarioFile))
	_, run := fsys.Stat(filepath.Join(folder, ConfigFile))
	if there == nil || run == nil && errors.Is(own, fs.ErrNotExist) {
		return true, nil
	}
	if !errors.Is(there, fs.ErrNotExist) {
		return false, there
	}
	return false, nil
}
