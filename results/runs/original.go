package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/config"
	"graft/files"
	"graft/net2net"
	"graft/original"
	"graft/original/published"
	"graft/results/document"
	"graft/results/failure"
	"graft/simulation/tables"
)

// OriginalKind is result folders of the original system: of its trainings, tables and
// policies.
var OriginalKind = &Kind{Name: "original", Title: "run of the original", Titles: "runs of the original", fits: isOriginal, read: readOriginalRun, series: originalSeries}

// isOriginal knows a folder by its metric files, its table or its policy, or by the
// sections of its configuration.
func isOriginal(f *Folder) bool {
	if f.Has(ManifestFile) || f.Has(LockFile) {
		return false
	}
	for _, entry := range f.Entries {
		if original.IsMetric(entry.Name()) && !entry.IsDir() {
			return true
		}
	}
	return f.Has("data.pkl") || f.Has(PolicyFile) || f.Has(GivenFile) && f.says("runner.folder")
}

// says says whether the configuration as given has a key.
func (f *Folder) says(key string) bool {
	list, err := config.ReadSettings(f.Fsys, f.At(GivenFile))
	return err == nil && slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == key })
}

func readOriginalRun(f *Folder, r *Run) error {
	l, err := original.ReadFolder(f.Fsys, f.Path)
	if err != nil && (l == nil || len(l.Metrics) == 0) {
		return err
	}
	r.Faults, r.Ended = err, true
	if l.Config != "" {
		if r.Settings, err = config.ReadSettings(f.Fsys, f.At(GivenFile)); err != nil {
			return err
		}
	}
	if text, given := r.Setting("runner.seed"); given {
		seed, err := strconv.ParseUint(text, 10, 64)
		r.Manifest.Seed, r.Seeded = seed, err == nil
	}
	r.Manifest.Network, _ = r.Setting("job.model")
	r.Quantities = append(trainingQuantities(l, int64(r.Manifest.Seed)), episodeQuantities(l, int64(r.Manifest.Seed))...)
	table, err := ReadOriginalTable(f.Fsys, f.Path)
	switch {
	case err == nil:
		r.Quantities = append(r.Quantities, tableQuantities(table)...)
	case !errors.Is(err, fs.ErrNotExist):
		r.Faults = errors.Join(r.Faults, err)
	}
	if len(r.Quantities) == 0 && r.Faults != nil {
		return r.Faults
	}
	return nil
}

// endings are the last values of a metric, one for each whose it is.
func endings(l *original.Folder, metric string) (last []float64, rows int) {
	for _, m := range l.Metrics {
		if m.Granularity != "epoch" || m.Metric != metric {
			continue
		}
		rows += len(m.Rows)
		if n := len(m.Rows); n > 0 && m.Rows[n-1].Value.Single {
			last = append(last, m.Rows[n-1].Value.Numbers[0])
		}
	}
	return last, rows
}

// trainingQuantities are what trainings ended with. Where there are many, each went
// another way, so that they are no sample of one thing: the mean stands beside the best.
func trainingQuantities(l *original.Folder, seed int64) []quantity {
	test, epochs := endings(l, "test_acc")
	train, _ := endings(l, "train_acc")
	var list []quantity
	switch {
	case len(test) == 1:
		list = append(list, one("test_accuracy", document.UnitShare, upward, seed, test[0]))
	case len(test) > 1:
		list = append(list, one("mean_test_accuracy", document.UnitShare, upward, seed, *Mean(test)), one("best_test_accuracy", document.UnitShare, upward, seed, slices.Max(test)))
	}
	if len(train) > 0 {
		list = append(list, one("train_accuracy", document.UnitShare, upward, seed, *Mean(train)))
	}
	if len(test) > 0 {
		list = append(list, one("trainings", "", noAim, seed, float64(len(test))), one("epochs", "", noAim, seed, float64(epochs)))
	}
	return finite(list...)
}

// lastEpisodes is over how many episodes the end of learning is looked at.
const lastEpisodes = 100

// episodeQuantities are what the original's agent ended with.
func episodeQuantities(l *original.Folder, seed int64) []quantity {
	var list []quantity
	for _, m := range l.Metrics {
		if m.Granularity != "episode" || len(m.Rows) == 0 {
			continue
		}
		if m.Metric == "objective" {
			list = append(list, one("episodes", "", noAim, seed, float64(len(m.Rows))))
		}
		list = append(list, one(fmt.Sprintf("%s_last_%d", m.Metric, lastEpisodes), "", noAim, seed, lastMean(m.Rows)))
	}
	return finite(list...)
}

// lastMean is the mean of the last values that are numbers; NaN where there are none.
func lastMean(rows []original.Row) float64 {
	var values []float64
	for _, row := range rows[max(0, len(rows)-lastEpisodes):] {
		if row.Value.Single {
			values = append(values, row.Value.Numbers[0])
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return *Mean(values)
}

// originalSeries has a series for each metric file: index, seconds, and the numbers of
// its values.
func originalSeries(r *Run) ([]Series, error) {
	l, err := original.ReadFolder(r.Fsys, r.Path)
	if l == nil {
		return nil, err
	}
	var list []Series
	for _, m := range l.Metrics {
		list = append(list, metricSeries(m))
	}
	return list, err
}

func metricSeries(m original.Metric) Series {
	width := 1
	for _, row := range m.Rows {
		width = max(width, len(row.Value.Numbers))
	}
	columns := []Column{{Name: m.Granularity}, {Name: "time", Unit: document.UnitSeconds}}
	for k := range width {
		name := m.Metric
		if width > 1 {
			name += "_" + strconv.Itoa(k)
		}
		columns = append(columns, Column{Name: name, Unit: metricUnits[m.Metric]})
	}
	for _, row := range m.Rows {
		columns[0].Values, columns[1].Values = append(columns[0].Values, float64(row.Index)), append(columns[1].Values, row.Seconds)
		for k := range width {
			v := math.NaN()
			if k < len(row.Value.Numbers) {
				v = row.Value.Numbers[k]
			}
			columns[2+k].Values = append(columns[2+k].Values, v)
		}
	}
	return Series{Name: strings.TrimPrefix(m.Prefix+"."+m.Granularity+"."+m.Metric, ".."), Columns: columns}
}

// metricUnits are the units of the original's metrics that have one.
var metricUnits = map[string]string{"last_runtime": document.UnitSeconds, "runtimes": document.UnitSeconds}

// TableSource says how a table is read. All of it is for the original's.
type TableSource struct {
	Actions []string // that the numbers stand for
	Network string   // empty is as config.toml says
	Dataset string
	Start   float64 // seconds
	Seed    int64
	Begun   bool // start is given; else config.toml says it
	Seeded  bool // seed is given; else config.toml says it
}

// OriginalActions are those of the published tables.
var OriginalActions = []string{"deepen:0", "deepen:1", "deepen:2", "none"}

// Read reads a table's folder or a data.pkl, which may be named by its folder. Of a
// folder that is damaged in part it gives both what can be read and an error.
func (o *TableSource) Read(fsys files.FS, path string) (*tables.Report, error) {
	if _, err := fsys.Stat(path); err != nil {
		return nil, err
	}
	if file, original := OriginalTable(fsys, path); original {
		return o.ReadOriginal(fsys, file)
	}
	report, err := tables.Check(fsys, path)
	if errors.Is(err, tables.ErrNoTable) {
		err = failure.With(failure.Damaged, err)
	}
	if err != nil {
		return nil, err
	}
	return report, CodedFaults(report)
}

// OriginalTable is the file of a table of the original's, which may be named by its
// folder; false where the path is another.
func OriginalTable(fsys files.FS, path string) (file string, is bool) {
	inside := filepath.Join(path, "data.pkl")
	switch {
	case IsFile(fsys, path):
		return path, true
	case IsFile(fsys, inside) && !IsFile(fsys, filepath.Join(path, "scenario.json")):
		return inside, true
	}
	return "", false
}

// IsFile reports whether path is a regular file.
func IsFile(fsys files.FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// CodedFaults is what is wrong with a folder, with the exit code that says how much of
// it can be used.
func CodedFaults(report *tables.Report) error {
	if report.Table == nil || report.Records == 0 {
		return failure.With(failure.Damaged, report.Err())
	}
	return failure.With(failure.Partial, report.Err())
}

// ReadOriginal reads a table of the original system's.
func (o *TableSource) ReadOriginal(fsys files.FS, path string) (*tables.Report, error) {
	s, seed, err := o.scenario(fsys, path)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := original.ReadTable(file, s, seed)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s: %w", path, err))
	}
	if err := table.Validate(); err != nil {
		code := failure.Damaged
		if o.Begun {
			code = failure.Usage
		}
		return nil, failure.With(code, fmt.Errorf("%s: %w", path, err))
	}
	report := &tables.Report{Dir: path, Table: table, Records: len(table.Records)}
	for _, r := range table.Records {
		cause := tables.Cause{Scenario: table.Digest(), Network: table.Network, Data: table.Dataset, Code: "original", Sequence: r.Sequence, Seeds: r.Seeds}
		report.Entries = append(report.Entries, &tables.Entry{Record: r, Key: cause.Key()})
	}
	return report, nil
}

// scenario says what a data.pkl is of: what config.toml beside it says, and what flags
// say otherwise.
func (o *TableSource) scenario(fsys files.FS, path string) (tables.Scenario, int64, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return tables.Scenario{}, 0, err
	}
	run := &published.Run{Folder: filepath.Base(folder)}
	beside := filepath.Join(filepath.Dir(path), "config.toml")
	found, err := published.ReadScenario(fsys, beside)
	switch {
	case err == nil:
		run = found
	case errors.Is(err, fs.ErrNotExist) && o.Network != "" && o.Dataset != "":
	case errors.Is(err, fs.ErrNotExist):
		return run.Scenario(), 0, failure.Usagef("%s is not there to say what %s is a table of: give --network and --dataset, and --start and --seed if they matter", beside, path)
	default:
		return run.Scenario(), 0, AsConfigFault(err)
	}
	s := run.Scenario()
	if s.Actions, err = actionsOf(o.Actions); err != nil {
		return s, 0, err
	}
	if run.Choices != 0 && run.Choices != len(s.Actions) {
		return s, 0, failure.Usagef("%s says that each decision chose from %d actions: name as many with --actions, and not %d", beside, run.Choices, len(s.Actions))
	}
	return o.override(s, run.Seed)
}

func (o *TableSource) override(s tables.Scenario, seed int64) (tables.Scenario, int64, error) {
	if o.Network != "" {
		s.Network = o.Network
	}
	if o.Dataset != "" {
		s.Dataset = o.Dataset
	}
	if o.Begun {
		s.Start = o.Start
	}
	if o.Seeded {
		seed = o.Seed
	}
	return s, seed, nil
}

// actionsOf brings actions into the form in which tables have them.
func actionsOf(texts []string) ([]string, error) {
	var actions []string
	for _, text := range texts {
		a, err := net2net.ParseAction(strings.TrimSpace(text))
		if err != nil {
			return nil, failure.Usagef("--actions: %w", err)
		}
		if slices.Contains(actions, a.String()) {
			return nil, failure.Usagef("--actions: %s stands twice", a)
		}
		actions = append(actions, a.String())
	}
	return actions, nil
}
