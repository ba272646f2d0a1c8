package config

import (
	"graft/internal/files"
	"graft/model"
	"graft/simulation"
	"graft/simulation/tables"
	"graft/trainer/clock"
)

// ReadTree reads the table in a folder, in graft's format or a registered format, and creates the tree of its
// sequences. It returns an error if a sequence is missing.
func ReadTree(fsys files.FS, folder string) (*simulation.Tree, error) {
	table, n, form, err := tables.ReadFolder(fsys, folder, NetworkOf)
	if err != nil {
		return nil, err
	}
	if form == nil {
		return simulation.NewTree(table, simulation.TreeOptions{Network: n, Profile: profileOf(fsys, table)})
	}
	profile, err := clock.FindProfile(form.Profile)
	if err != nil {
		return nil, err
	}
	return simulation.NewTree(table, simulation.TreeOptions{Network: n, Surgery: form.Surgery, Profile: profile})
}

// NetworkOf creates a network from the zoo by its name, or reads a network file.
func NetworkOf(fsys files.FS, name string) (*model.Network, error) {
	if files.IsPath(name) {
		return ReadNetwork(fsys, name)
	}
	return model.Zoo(name, model.ZooOptions{})
}

// profileOf reads the profile that the records of a table name. It returns nil if the profile cannot be read; then the
// time of a step is unknown.
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
