package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original/published"
	"graft/simulation"
	"graft/simulation/tables"
	"graft/trainer/clock"
)

// scenarioFile is in each of graft's own tables.
const scenarioFile = "scenario.json"

// legacyProfile is the profile of the node of the original's experiments.
const legacyProfile = "v100-original"

// ReadTree reads a table's folder, graft's own or the original's, and follows its
// sequences, all of which must be there. As in published.ReadTable, a policy of the original's
// stands for the table that it learned from.
func ReadTree(fsys files.FS, folder string) (*simulation.Tree, error) {
	table, n, original, err := readTableFolder(fsys, folder)
	if err != nil {
		return nil, err
	}
	if !original {
		return simulation.NewTree(table, simulation.TreeOptions{Network: n, Profile: profileOf(fsys, table)})
	}
	profile, err := clock.FindProfile(legacyProfile)
	if err != nil {
		return nil, err
	}
	return simulation.NewTree(table,
		simulation.TreeOptions{Network: n, Surgery: net2net.Options{Compat: net2net.Original}, Profile: profile})
}

// readTableFolder reads a table's folder, graft's own or the original's, and the initial
// network of its sequences.
func readTableFolder(fsys files.FS, folder string) (t *tables.Table, n *model.Network, original bool, err error) {
	_, there := fsys.Stat(filepath.Join(folder, published.TableFile))
	_, own := fsys.Stat(filepath.Join(folder, scenarioFile))
	_, legacyRun := fsys.Stat(filepath.Join(folder, published.ConfigFile))
	switch {
	case there == nil, legacyRun == nil && errors.Is(own, fs.ErrNotExist):
		t, n, err := published.ReadTable(fsys, folder)
		return t, n, true, err
	case !errors.Is(there, fs.ErrNotExist):
		return nil, nil, false, fmt.Errorf("read table: %w", there)
	}
	if t, err = tables.Read(fsys, folder); err != nil {
		return nil, nil, false, err
	}
	if t.Origin != nil {
		n, err = t.Origin.Network()
	} else {
		n, err = networkOf(fsys, t.Network)
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read table %s: %w", folder, err)
	}
	return t, n, false, nil
}

// networkOf makes a network of the zoo, or reads the one of a file.
func networkOf(fsys files.FS, name string) (*model.Network, error) {
	if isPath(name) {
		return ReadNetwork(fsys, name)
	}
	return model.Zoo(name, model.ZooOptions{})
}

// profileOf reads the profile that the records of a table name; nil where it cannot be
// read, and the time of a step is unknown.
func profileOf(fsys files.FS, t *tables.Table) *clock.Profile {
	if len(t.Records) == 0 || t.Records[0].Profile == "" {
		return nil
	}
	p, err := FindProfile(fsys, t.Records[0].Profile)
	if err != nil {
		return nil
	}
	return p
}
