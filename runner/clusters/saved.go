package clusters

import (
	"encoding/json"
	"path/filepath"

	"graft/cluster"
	"graft/internal/files"
	"graft/report/runs"
)

// cellFile keeps a simulation that ended, in its folder, until the run has its outcome.
const cellFile = "cell.json"

// largestCell limits the size of a cellFile, in bytes.
const largestCell = 4 << 30

// savedCell is the content of a cellFile.
type savedCell struct {
	Inputs      string // digest of what was simulated, by inputs
	Cell        *runs.ClusterCell
	Refused     []cluster.Refusal // which the cell's JSON leaves out
	Completions []int64           // by job
}

// inputs is the digest of the files that simulations depend on beside the configuration, and
// of the version that simulates.
func (s *study) inputs() (string, error) {
	c, d := s.Cluster, s.data
	var paths []string
	for _, path := range []string{c.Cluster.Trace, c.Cluster.Nodes, c.Schedule.Estimates, d.Nodes, d.LGB, d.EBM,
		d.Alone, d.Pairs, d.Forecast} {
		if path != "" && runs.IsFile(s.env.Files, path) {
			paths = append(paths, path)
		}
	}
	digest, err := runs.DigestOf(s.env.Files, paths...)
	return runs.DigestOfTexts(digest, s.env.Version), err
}

func (r *replay) cellPath(c *runs.ClusterCell) string {
	return filepath.Join(r.folder, c.Name(), cellFile)
}

// restore reads the simulation of a cell that ended before the run was killed, and returns
// whether there is one of the same inputs.
func (r *replay) restore(c *runs.ClusterCell) bool {
	if r.folder == "" {
		return false
	}
	text, err := files.ReadAll(r.env.Files, r.cellPath(c), largestCell)
	var saved savedCell
	if err != nil || json.Unmarshal(text, &saved) != nil || saved.Inputs != r.from || saved.Cell == nil {
		return false
	}
	*c = *saved.Cell
	c.Refused = saved.Refused
	r.complete(c, saved.Completions)
	return true
}

// save writes the files of a simulation, and last the one from which it is restored.
func (r *replay) save(c *runs.ClusterCell, o *cluster.Outcome, completions []int64) error {
	if r.folder == "" {
		return nil
	}
	if err := o.Write(r.env.Files, filepath.Join(r.folder, c.Name()), r.Output.Every); err != nil {
		return err
	}
	text, err := json.Marshal(savedCell{r.from, c, c.Refused, completions})
	if err != nil {
		return err
	}
	return r.env.WriteText(r.cellPath(c), string(text))
}

// forget removes what was saved: the run has its outcome.
func (s *study) forget(folder string, report *runs.ClusterOutcome) error {
	for _, c := range report.Cells {
		if err := s.env.Files.Remove(filepath.Join(folder, c.Name(), cellFile)); err != nil && !runs.NotThere(err) {
			return err
		}
	}
	return nil
}
