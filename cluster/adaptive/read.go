package adaptive

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/cluster"
	"graft/internal/files"
	"graft/trainer/goodput"
)

// Fixed holds the properties of an application that are not part of its measurements.
type Fixed struct {
	Epochs     int // number of epochs of a job; zero means the number of epochs in the shortest run
	DeviceMost int // maximum number of examples per device; zero means the measured maximum
	Alone      int // batch that jobs always compute on one device, in examples; zero means none
	// size class of the application's jobs, such as medium; if empty, graft derives the class from the run time of a
	// job on one device
	Size string
}

// Names of files in a folder of applications.
const (
	factsFile      = "applications.csv"
	placementsFile = "placements.csv"
	scalesFile     = "scalability.csv"
	stepsFile      = "steptime_tables.json.gz"
	meshFile       = "triangulations.json.gz"
	runPrefix      = "validation-"
)

// folders are the locations of the applications in a folder, most specific first.
var folders = []string{"traces-parsed", "traces", "."}

// Limits of a folder of applications.
const (
	mostApplications = 1000
	mostRuns         = 1000
	mostRows         = 1 << 20
)

// ReadApplications reads a folder that contains one subfolder per application. In a subfolder, placements.csv holds the
// step times by placement and by number of examples per device. The optional file scalability.csv holds step times by
// number of nodes and number of devices. Each file validation-B.csv holds the progress and the gradient statistics of
// each epoch, measured in a run with batch size B.
//
// In the folder itself, applications.csv lists further properties of the applications. If applications.csv is missing,
// ReadApplications takes these properties from its argument "fixed". Times that were not measured come from
// steptime_tables.json.gz and triangulations.json.gz if these files exist, otherwise from a fit of [goodput.Speed].
func ReadApplications(fsys files.FS, dir string, fixed map[string]Fixed) (map[string]*Application, error) {
	read, err := readFacts(fsys, filepath.Join(dir, factsFile))
	switch {
	case err == nil:
		fixed = read
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	root, names, err := findApplications(fsys, dir)
	if err != nil {
		return nil, err
	}
	found := map[string]*Application{}
	for _, name := range names {
		if found[name], err = readApplication(fsys, filepath.Join(root, name), name, fixed[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if found[name] == nil {
			return nil, fmt.Errorf("read %s: application %s has no folder in %s; add the folder, or remove the "+
				"application's row",
				factsFile, name, root)
		}
	}
	return found, readTimes(fsys, dir, found)
}

// readFacts reads applications.csv.
func readFacts(fsys files.FS, path string) (map[string]Fixed, error) {
	read := map[string]Fixed{}
	return read, cluster.ReadRows(fsys, path, func(r *cluster.Row) error {
		name := r.Text("application")
		_, twice := read[name]
		r.Expect(!twice, "application", "a unique name; an earlier row has the same name")
		f := Fixed{Epochs: r.Whole("epochs"), DeviceMost: r.Whole("device_most"), Alone: r.Whole("alone")}
		r.Expect(f.Epochs >= 0, "epochs", "a number of epochs, or 0 to use the length of the shortest run")
		r.Expect(f.DeviceMost >= 0, "device_most",
			"a number of examples per device, or 0 for the largest measured number")
		r.Expect(f.Alone >= 0, "alone", "a batch size, or 0 for none")
		if r.Has("size") {
			f.Size = r.Text("size")
			r.Expect(f.Size == "" || slices.Contains(sizes[:], f.Size), "size",
				"one of "+strings.Join(sizes[:], ", ")+", or an empty cell")
		}
		read[name] = f
		return nil
	})
}

// HasApplications reports whether a folder contains applications.
func HasApplications(fsys files.FS, dir string) bool {
	_, _, err := findApplications(fsys, dir)
	return err == nil
}

// findApplications returns the names of the folders with placements.csv.
func findApplications(fsys files.FS, dir string) (root string, names []string, err error) {
	for _, folder := range folders {
		root = filepath.Join(dir, folder)
		entries, err := files.Entries(fsys, root)
		if errors.Is(err, fs.ErrNotExist) && folder != "." {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("read applications: %w", err)
		}
		for _, e := range entries {
			if _, err := fsys.Stat(filepath.Join(root, e.Name(), placementsFile)); err == nil {
				names = append(names, e.Name())
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if len(names) == 0 || len(names) > mostApplications {
		return "", nil, fmt.Errorf("read applications: %s has %d folders that contain %s; expected 1 to "+
			"%d", dir, len(names),
			placementsFile, mostApplications)
	}
	return root, names, nil
}

func readApplication(fsys files.FS, dir, name string, fixed Fixed) (*Application, error) {
	a := &Application{Name: name, Alone: fixed.Alone, size: slices.Index(sizes[:], fixed.Size)}
	if err := a.readRuns(fsys, dir); err != nil {
		return nil, err
	}
	t, least, most, err := readPlacements(fsys, dir)
	if err != nil {
		return nil, err
	}
	if fixed.DeviceMost > 0 {
		most = fixed.DeviceMost
	}
	if least > most {
		return nil, fmt.Errorf("read application %s: device_most is %d; "+
			"expected at least %d, the smallest measured number of examples per device", name, most, least)
	}
	a.times = t
	a.Limits = goodput.Limits{Least: a.runs[0].batch, Most: a.runs[len(a.runs)-1].batch, DeviceLeast: least,
		DeviceMost: most}
	if a.Alone > 0 && (a.Alone < a.Limits.Least || a.Alone > a.Limits.Most) {
		return nil, fmt.Errorf("read application %s: column \"alone\" is %d; expected a batch size from %d to %d",
			name, a.Alone, a.Limits.Least, a.Limits.Most)
	}
	if a.Epochs = fixed.Epochs; a.Epochs == 0 {
		a.Epochs = slices.MinFunc(a.runs, func(x, y trained) int { return len(x.progress) - len(y.progress) }).epochs()
	}
	return a, a.complete()
}

func (r trained) epochs() int { return len(r.progress) }

// readRuns reads the runs of an application, sorted by batch.
func (a *Application) readRuns(fsys files.FS, dir string) error {
	entries, err := files.Entries(fsys, dir)
	if err != nil {
		return fmt.Errorf("read application %s: %w", a.Name, err)
	}
	for _, e := range entries {
		text, isRun := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".csv"), runPrefix)
		if !isRun || !strings.HasSuffix(e.Name(), ".csv") {
			continue
		}
		batch, err := strconv.Atoi(text)
		if err != nil || batch < 1 {
			return fmt.Errorf("read application %s: unexpected file name %s; expected %sBATCH.csv", a.Name, e.Name(),
				runPrefix)
		}
		r, err := readRun(fsys, filepath.Join(dir, e.Name()), batch)
		if err != nil {
			return err
		}
		a.runs = append(a.runs, r)
	}
	if len(a.runs) == 0 || len(a.runs) > mostRuns {
		return fmt.Errorf("read application %s: folder %s has %d files named %sBATCH.csv; expected 1 to %d", a.Name,
			dir, len(a.runs), runPrefix, mostRuns)
	}
	slices.SortFunc(a.runs, func(x, y trained) int { return x.batch - y.batch })
	return nil
}

func readRun(fsys files.FS, path string, batch int) (trained, error) {
	r := trained{batch: batch}
	var progress, iteration float64
	err := cluster.ReadRows(fsys, path, func(row *cluster.Row) error {
		before, steps := progress, iteration
		progress, iteration = row.Number("progress"), row.Number("iteration")
		square, variance := row.Number("grad_sqr"), row.Number("grad_var")
		row.Expect(progress >= before, "progress", fmt.Sprintf("at least %v, the value in the previous row", before))
		row.Expect(iteration >= steps, "iteration", fmt.Sprintf("at least %v, the value in the previous row", steps))
		row.Expect(square >= 0, "grad_sqr", "a number of at least 0")
		row.Expect(variance >= 0, "grad_var", "a number of at least 0")
		r.progress, r.iteration = append(r.progress, progress), append(r.iteration, iteration)
		r.square, r.variance = append(r.square, square), append(r.variance, variance)
		return tooMany(path, len(r.progress))
	})
	if err == nil && len(r.progress) == 0 {
		err = fmt.Errorf("read %s: the file has no rows; expected one row per epoch", path)
	}
	return r, err
}

func tooMany(path string, rows int) error {
	if rows > mostRows {
		return fmt.Errorf("read %s: the file has more than %d rows; remove rows", path, mostRows)
	}
	return nil
}
