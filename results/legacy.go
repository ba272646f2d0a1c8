package results

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/files"
)

// Legacy is a results folder of the original adaptation system.
type Legacy struct {
	Path        string         // of the folder
	Config      string         // config.toml as it is; empty if there is none
	Description string         // description.txt; empty if there is none
	Metrics     []LegacyMetric // sorted by file name; the file runtimes is among them
	Logs        []LegacyLog    // sorted by file name
	Others      []string       // names of all other files, such as weights.pth
}

// LegacyMetric is a metric file, PREFIX.GRANULARITY.METRIC.
type LegacyMetric struct {
	File        string      // name of the file
	Prefix      string      // source of the metric, such as "training00"; empty for runtimes
	Granularity string      // unit of a row: "epoch", "episode" or "batch"; empty for runtimes
	Metric      string      // name of the metric, such as "test_acc"
	Rows        []LegacyRow // nil if the original wrote none
	Torn        bool        // the file ends in a torn row, which was skipped
}

// LegacyRow is a row of a metric file.
type LegacyRow struct {
	Index   int64       // of the epoch or episode, from 0
	Seconds float64     // since the logger was made
	Value   LegacyValue // the measured value
}

// LegacyValue is a value as Python has printed it. The zero value is an empty
// list.
type LegacyValue struct {
	None    bool      // there is no value
	Single  bool      // the value is a number, not a list
	Numbers []float64 // the number, or those of the list; nil for none
}

// LegacyLog is a log file, such as training00.log.
type LegacyLog struct {
	File string       // name of the file
	Name string       // without its extension
	Rows []LegacyLine // nil if it is empty
}

// granularities are the units of rows. Files of weights have names of three parts as
// well, such as agent.finalmodel.pth.
var granularities = map[string]bool{"epoch": true, "episode": true, "batch": true}

// runtimesName is the file of epoch times from which the original resumes. Its rows are
// those of the metric last_runtime.
const runtimesName = "runtimes"

// ReadLegacy reads a results folder of the original. Subfolders and torn last lines are
// skipped. If some files cannot be read, the result has the others, and the error names
// each with file and line.
func ReadLegacy(fsys files.FS, path string) (*Legacy, error) {
	path = filepath.Clean(path)
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read results of the original: %w", err)
	}
	l := &Legacy{Path: path}
	var faults []error
	for _, entry := range entries {
		if !entry.IsDir() {
			faults = append(faults, l.read(fsys, entry))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return l, fmt.Errorf("read results of the original: %w", err)
	}
	return l, nil
}

// ReadLegacyRuntimes reads a single file of epoch times, under any name.
func ReadLegacyRuntimes(fsys files.FS, path string) ([]LegacyRow, error) {
	rows, _, err := readLegacyRows(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read the epochs' times: %w", err)
	}
	return rows, nil
}

// read reads one file of the folder.
func (l *Legacy) read(fsys files.FS, entry fs.DirEntry) (err error) {
	name := entry.Name()
	path := filepath.Join(l.Path, name)
	m, isMetric := metricOf(name)
	switch {
	case name == ConfigFile:
		l.Config, err = readText(fsys, path)
	case name == "description.txt":
		l.Description, err = readText(fsys, path)
	case strings.HasSuffix(name, ".log"):
		log := LegacyLog{File: name, Name: strings.TrimSuffix(name, ".log")}
		if log.Rows, err = readLegacyLog(fsys, path); err == nil {
			l.Logs = append(l.Logs, log)
		}
	case isMetric:
		if m.Rows, m.Torn, err = readLegacyRows(fsys, path); err == nil {
			l.Metrics = append(l.Metrics, m)
		}
	default:
		l.Others = append(l.Others, name)
	}
	return err
}

func readText(fsys files.FS, path string) (string, error) {
	text, err := files.ReadAll(fsys, path, smallFile)
	return string(text), err
}

// IsLegacyMetric recognises metric files of the original by name.
func IsLegacyMetric(name string) bool {
	_, is := metricOf(name)
	return is
}

// metricOf parses the name of a metric file. The prefix may have dots.
func metricOf(file string) (LegacyMetric, bool) {
	if file == runtimesName {
		return LegacyMetric{File: file, Metric: file}, true
	}
	rest, metric, _ := cutLast(file)
	prefix, granularity, ok := cutLast(rest)
	if !ok || metric == "" || prefix == "" || !granularities[granularity] {
		return LegacyMetric{}, false
	}
	return LegacyMetric{File: file, Prefix: prefix, Granularity: granularity, Metric: metric}, true
}

// cutLast cuts at the last dot.
func cutLast(text string) (before, after string, found bool) {
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

// Metric finds a metric, such as "training00", "epoch", "test_acc"; nil if there
// is none.
func (l *Legacy) Metric(prefix, granularity, metric string) *LegacyMetric {
	for k := range l.Metrics {
		m := &l.Metrics[k]
		if m.Prefix == prefix && m.Granularity == granularity && m.Metric == metric {
			return m
		}
	}
	return nil
}

// Runtimes are the rows of the file runtimes; nil if there is none.
func (l *Legacy) Runtimes() []LegacyRow {
	if m := l.Metric("", "", runtimesName); m != nil {
		return m.Rows
	}
	return nil
}
