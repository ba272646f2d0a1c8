package adaptive

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/internal/files"
	"graft/trainer/goodput"
)

// Recording holds the measured training runs and step times of an application.
type Recording struct {
	Runs []Run // training runs with different batches, smallest first
	// number of epochs of a job at the smallest batch size; zero means the largest number of epochs whose progress
	// every run reached
	Epochs int
	Steps  []Step // measured step times
}

// Run is a training run at a constant batch size.
type Run struct {
	Batch  int
	Epochs []RunEpoch
}

// RunEpoch is an epoch of a training run.
type RunEpoch struct {
	Steps    int64           // number of steps from the start of the run to the end of the epoch
	Gradient goodput.Moments // moments of the gradients of single examples
}

// EqualEpoch is a part of a run that makes as much progress as one epoch at the smallest batch size.
type EqualEpoch struct {
	Progress float64       // progress at the end of the part, in steps of the smallest batch
	Steps    float64       // number of steps from the start of the run to the end of the part
	Trained  float64       // number of epochs from the start of the run to the end of the part
	Noise    goodput.Noise // gradient statistics of the part
}

// Equal divides a run into parts of equal progress. Larger batches need more examples per part.
func (r *Recording) Equal(run Run) (list []EqualEpoch) {
	least := r.Runs[0]
	unit := float64(least.Epochs[0].Steps)
	var progress, steps float64 // at the beginning of the training epoch
	for k, e := range run.Epochs {
		noise := e.noise(least.Batch)
		gain, more := noise.Gain(float64(run.Batch)/float64(least.Batch)), float64(e.Steps)-steps
		for next := unit * float64(len(list)+1); next <= progress+gain*more; next += unit {
			share := (next - progress) / gain
			list = append(list, EqualEpoch{next, steps + share, float64(k) + share/more, noise})
		}
		progress, steps = progress+gain*more, float64(e.Steps)
	}
	return list
}

// Step is a measured step time with its placement and batch size per device.
type Step struct {
	Placement  []int   // number of devices on each node
	Device     int     // examples per device
	Time, Sync float64 // seconds per step, and the part of them for the gradient exchange
}

// noise returns the noise of a step with the smallest batch.
func (e RunEpoch) noise(least int) goodput.Noise {
	return goodput.Noise{Square: e.Gradient.Square, Variance: e.Gradient.Variance / float64(least)}
}

// Misses returns, for each measured step time, the relative error of a speed model that is fitted to all measured step
// times.
func (r *Recording) Misses() (off []float64) {
	var measured []goodput.Measured
	for _, s := range r.Steps {
		measured = append(measured, goodput.Measured{Nodes: len(s.Placement), Devices: s.devices(), Device: s.Device,
			Compute: s.Time - s.Sync, Step: s.Time})
	}
	speed := goodput.Fit(measured)
	for _, s := range r.Steps {
		if fitted, _, err := speed.Step(s.Placement, s.Device); err == nil {
			off = append(off, math.Abs(fitted/s.Time-1))
		}
	}
	return off
}

func (s Step) devices() (n int) {
	for _, d := range s.Placement {
		n += d
	}
	return n
}

// Write writes the application into a folder of applications, in the format of [ReadApplications]. An existing
// application with the same name is replaced if replace is true; otherwise Write returns an error. The file
// placements.csv, which marks a folder as an application, is written last, so a killed process leaves no partial
// application. Write also returns an error if properties of an application with this name are already set, since they
// would override the measurements. Properties are set in applications.csv or, if that file is missing, in the argument
// "fixed".
func (r *Recording) Write(fsys files.FS, dir, name string, fixed map[string]Fixed, replace bool) error {
	root, others, err := findApplications(fsys, dir)
	if err != nil {
		root = dir // without applications, or missing
	}
	facts, err := readFacts(fsys, filepath.Join(dir, factsFile))
	if errors.Is(err, fs.ErrNotExist) {
		facts, err = fixed, nil
	}
	switch {
	case err != nil:
		return err
	case !plainName(name):
		return fmt.Errorf("write application %s: invalid name; expected letters, digits, '-' and '_'", name)
	case slices.Contains(others, name) && !replace:
		return fmt.Errorf("write application %s: an application with this name exists in %s; "+
			"choose another name, or replace the application with option force", name, root)
	case facts[name] != Fixed{}:
		return fmt.Errorf("write application %s: this name has preset properties (from Pollux or from its row in "+
			"%s), which would override the measurements; choose another name, or delete the row", name, factsFile)
	}
	folder := filepath.Join(root, name)
	if err := clearFolder(fsys, folder); err != nil {
		return fmt.Errorf("write application %s: %w", name, err)
	}
	for _, run := range r.Runs {
		if err := writeRows(fsys, filepath.Join(folder, fmt.Sprintf("%s%d.csv", runPrefix, run.Batch)),
			r.rows(run)); err != nil {
			return err
		}
	}
	if err := writeRows(fsys, filepath.Join(folder, scalesFile), stepRows(r.Steps, true)); err != nil {
		return err
	}
	return writeRows(fsys, filepath.Join(folder, placementsFile), stepRows(r.Steps, false))
}

func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_')
	})
}

// clearFolder creates the folder of an application and deletes the tables of an earlier one.
func clearFolder(fsys files.FS, folder string) error {
	if err := fsys.MkdirAll(folder); err != nil {
		return err
	}
	files.RemoveLeftovers(fsys, folder)
	entries, err := files.Entries(fsys, folder)
	if err != nil {
		return err
	}
	if files.HasName(entries, placementsFile) { // first, so that a killed deletion leaves no application
		if err := fsys.Remove(filepath.Join(folder, placementsFile)); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), runPrefix) && strings.HasSuffix(e.Name(), ".csv") {
			err = errors.Join(err, fsys.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

func (r *Recording) rows(run Run) [][]string {
	rows := [][]string{{"progress", "iteration", "grad_sqr", "grad_var"}}
	for k, e := range r.Equal(run) {
		if r.Epochs == 0 || k < r.Epochs {
			rows = append(rows, []string{exact(e.Progress), exact(e.Steps), exact(e.Noise.Square),
				exact(e.Noise.Variance)})
		}
	}
	return rows
}

// stepRows returns the rows of placements.csv, or of scalability.csv for steps on more nodes than a placement has
// digits.
func stepRows(steps []Step, scales bool) [][]string {
	rows := [][]string{{"placement", "local_bsz", "step_time", "sync_time"}}
	if scales {
		rows[0] = append([]string{"num_nodes", "num_replicas"}, rows[0][1:]...)
	}
	for _, s := range steps {
		text := ""
		for _, n := range s.Placement {
			text += strconv.Itoa(n)
		}
		if isPlacement(text) == scales {
			continue
		}
		where := []string{text}
		if scales {
			where = []string{strconv.Itoa(len(s.Placement)), strconv.Itoa(s.devices())}
		}
		rows = append(rows, append(where, strconv.Itoa(s.Device), exact(s.Time), exact(s.Sync)))
	}
	return rows
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func writeRows(fsys files.FS, path string, rows [][]string) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}
