package original

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/internal/files"
	"graft/results"
)

// Folder holds the contents of a results folder of the original system.
type Folder struct {
	Path        string   // path of the folder
	Config      string   // text of config.toml; empty if it does not exist
	Description string   // text of description.txt; empty if it does not exist
	Metrics     []Metric // metric files, sorted by name, including the file runtimes
	Logs        []Log    // log files, sorted by name
	Others      []string // names of all other files, such as weights.pth
}

// Metric holds the contents of a metric file, whose name is PREFIX.GRANULARITY.METRIC.
type Metric struct {
	File        string // name of the file
	Prefix      string // source of the metric, such as "training00"; empty for the file runtimes
	Granularity string // what a row describes: "epoch", "episode" or "batch"; empty for the file runtimes
	Metric      string // name of the metric, such as "test_acc"
	Rows        []Row  // rows of the file; nil if it has none
	Torn        bool   // whether the last row of the file was incomplete and skipped
}

// Row is a row of a metric file.
type Row struct {
	Index   int64   // index of the epoch or episode, from 0
	Seconds float64 // seconds since the logger was created
	Value   Value   // measured value
}

// Value is a number or a list of numbers printed by Python. The zero value is an empty list.
type Value struct {
	None    bool      // whether Python printed None
	Single  bool      // whether the value is a number, not a list
	Numbers []float64 // the number, or the numbers in the list; nil means none
}

// Log holds the contents of a log file, such as training00.log.
type Log struct {
	File string    // name of the file
	Name string    // name of the file without its extension
	Rows []LogLine // entries of the log; nil if it is empty
}

// granularities are the units of rows. File names of weights also have three parts, such as agent.finalmodel.pth.
var granularities = map[string]bool{"epoch": true, "episode": true, "batch": true}

// largestText limits the bytes of a file that is read completely.
const largestText = 64 << 20

// runtimesName is the file of epoch times from which the original resumes. Its rows equal the rows of the metric
// last_runtime.
const runtimesName = "runtimes"

// ReadFolder reads a results folder of the original system. It skips subfolders and incomplete last lines. If some
// files cannot be read, it returns the other files, and the error names each faulty file and line.
func ReadFolder(fsys files.FS, path string) (*Folder, error) {
	path = filepath.Clean(path)
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read results of the original system: %w", err)
	}
	l := &Folder{Path: path}
	var faults []error
	for _, entry := range entries {
		if !entry.IsDir() {
			faults = append(faults, l.read(fsys, entry))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return l, fmt.Errorf("read results of the original system: %w", err)
	}
	return l, nil
}

// ReadRuntimes reads a single file of epoch times. The file can have any name.
func ReadRuntimes(fsys files.FS, path string) ([]Row, error) {
	rows, _, err := readRows(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read the epoch times: %w", err)
	}
	return rows, nil
}

func (l *Folder) read(fsys files.FS, entry fs.DirEntry) (err error) {
	name := entry.Name()
	path := filepath.Join(l.Path, name)
	m, isMetric := metricOf(name)
	switch {
	case name == results.ConfigFile:
		l.Config, err = readText(fsys, path)
	case name == "description.txt":
		l.Description, err = readText(fsys, path)
	case strings.HasSuffix(name, ".log"):
		log := Log{File: name, Name: strings.TrimSuffix(name, ".log")}
		if log.Rows, err = readLog(fsys, path); err == nil {
			l.Logs = append(l.Logs, log)
		}
	case isMetric:
		if m.Rows, m.Torn, err = readRows(fsys, path); err == nil {
			l.Metrics = append(l.Metrics, m)
		}
	default:
		l.Others = append(l.Others, name)
	}
	return err
}

func readText(fsys files.FS, path string) (string, error) {
	text, err := files.ReadAll(fsys, path, largestText)
	return string(text), err
}

// IsMetric reports whether a file with this name is a metric file of the original system.
func IsMetric(name string) bool {
	_, is := metricOf(name)
	return is
}

// metricOf parses the name of a metric file. The prefix may contain dots.
func metricOf(file string) (Metric, bool) {
	if file == runtimesName {
		return Metric{File: file, Metric: file}, true
	}
	parts := strings.Split(file, ".")
	n := len(parts)
	if n < 3 || parts[n-1] == "" || !granularities[parts[n-2]] {
		return Metric{}, false
	}
	m := Metric{File: file, Prefix: strings.Join(parts[:n-2], "."), Granularity: parts[n-2], Metric: parts[n-1]}
	return m, m.Prefix != ""
}
