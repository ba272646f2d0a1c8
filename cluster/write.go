package cluster

import (
	"fmt"
	"path/filepath"

	"graft/internal/files"
	"graft/results"
)

// Write writes the tables of an outcome into a folder, which it makes if it is missing: jobs.csv
// and, with a row every so many seconds, usage.csv; zero writes no usage. Each appears whole or
// not at all. Tables of an earlier attempt are replaced, and what a kill left of unfinished ones
// is deleted, so a simulation can be done again into its folder.
func (o *Outcome) Write(fsys files.FS, dir string, every int64) error {
	if err := fsys.MkdirAll(dir); err != nil {
		return fmt.Errorf("write the outcome: %w", err)
	}
	files.RemoveLeftovers(fsys, dir)
	if err := o.WriteJobs(fsys, filepath.Join(dir, "jobs.csv")); err != nil || every == 0 {
		return err
	}
	return o.WriteUsage(fsys, filepath.Join(dir, results.UsageFile), every)
}
