package node

import (
	"graft/cluster/node/world"
	"graft/cluster/study"
	"graft/config"
	"graft/internal/files"
)

// Read reads the configuration of a machine's tasks.
func Read(fsys files.FS, path string, set []string) (*world.File, error) {
	f, err := config.ReadNamed[study.File](world.World().Name, config.Open(fsys, path), set)
	if err != nil {
		return nil, err
	}
	return f.(*world.File), nil
}
