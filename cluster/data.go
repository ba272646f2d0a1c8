package cluster

import (
	"fmt"
	"path/filepath"
	"strings"

	"graft/internal/files"
)

// Data holds the paths of a cluster's data files. An empty path means that the file is missing.
type Data struct {
	Nodes    string // list of virtual clusters and their nodes
	LGB      string // job durations estimated by boosted trees
	EBM      string // job durations estimated by an additive model
	Alone    string // profiles of single models
	Pairs    string // profiles of pairs of models
	Forecast string // forecast of submissions
}

// FindData finds the data files in a folder by their names. It returns an error if the names of two files match the
// same kind of data.
func FindData(fsys files.FS, dir string) (Data, error) {
	var d Data
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return d, fmt.Errorf("read cluster data: %w; name a folder with vc_config.csv", err)
	}
	for _, e := range entries {
		name := e.Name()
		var field *string
		switch {
		case e.IsDir() || !strings.HasSuffix(name, ".csv"):
			continue
		case name == "vc_config.csv":
			field = &d.Nodes
		case strings.HasSuffix(name, "_lgb.csv"):
			field = &d.LGB
		case strings.Contains(name, "_ebm"):
			field = &d.EBM
		case name == "single_data.csv":
			field = &d.Alone
		case name == "colocate_info.csv":
			field = &d.Pairs
		case strings.HasSuffix(name, "throughput_pred.csv"):
			field = &d.Forecast
		default:
			continue
		}
		if *field != "" {
			return d, fmt.Errorf("read cluster data: %[3]s has two files for the same data, %[1]s and %[2]s; remove "+
				"one",
				filepath.Base(*field), name, dir)
		}
		*field = filepath.Join(dir, name)
	}
	return d, nil
}
