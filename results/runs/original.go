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
	"graft/results"
	"graft/results/document"
	"graft/results/failure"
	"graft/simulation"
)

// OriginalKind covers result folders of the original system: trainings, tables and policies.
var OriginalKind = &Kind{Name: "original", Title: "run of the original", Titles: "runs of the original", matches: isOriginal, read: readOriginalRun, series: originalSeries}

// isOriginal recognises a folder by its metric files, table or policy, or by its configuration's
// sections.
func isOriginal(f *Folder) bool {
	if f.Has(ManifestFile) || f.Has(LockFile) {
		return false
	}
	for _, entry := range f.Entries {
		if results.IsLegacyMetric(entry.Name()) && !entry.IsDir() {
			return true
		}
	}
	return f.Has("data.pkl") || f.Has(PolicyFile) || f.Has(ConfigFile) && f.hasSetting("runner.folder")
}

// hasSetting reports whether the given configuration has a key.
func (f *Folder) hasSetting(key string) bool {
	list, err := config.ReadSettings(f.Files, f.At(ConfigFile))
	return err == nil && slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == key })
}

func readOriginalRun(f *Folder, r *Run) error {
	l, err := results.ReadLegacy(f.Files, f.Path)
	if err != nil && (l == nil || len(l.Metrics) == 0) {
		return err
	}
	r.Faults, r.Ended = err, true
	if l.Config != "" {
		if r.Settings, err = config.ReadSettings(f.Files, f.At(ConfigFile)); err != nil {
			return err
		}
	}
	if text, given := r.Setting("runner.seed"); given {
		seed, err := strconv.ParseUint(text, 10, 64)
		r.Manifest.Seed, r.Seeded = seed, err == nil
	}
	r.Manifest.Network, _ = r.Setting("job.model")
	r.Quantities = append(trainingQuantities(l, int64(r.Manifest.Seed)), episodeQuantities(l, int64(r.Manifest.Seed))...)
	table, err := ReadOriginalTable(f.Files, f.Path)
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

// lastValues lists the last value of a metric in each training, and counts all rows.
func lastValues(l *results.Legacy, metric string) (last []float64, rows int) {
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

// trainingQuantities lists the last accuracies of trainings. Several trainings took different
// actions and are no sample of one thing: their mean stands beside the best.
func trainingQuantities(l *results.Legacy, seed int64) []Quantity {
	test, epochs := lastValues(l, "test_acc")
	train, _ := lastValues(l, "train_acc")
	var list []Quantity
	switch {
	case len(test) == 1:
		list = append(list, seeded("test_accuracy", document.UnitShare, Higher, seed, test[0]))
	case len(test) > 1:
		list = append(list, seeded("mean_test_accuracy", document.UnitShare, Higher, seed, *Mean(test)), seeded("best_test_accuracy", document.UnitShare, Higher, seed, slices.Max(test)))
	}
	if len(train) > 0 {
		list = append(list, seeded("train_accuracy", document.UnitShare, Higher, seed, *Mean(train)))
	}
	if len(test) > 0 {
		list = append(list, seeded("trainings", "", Neutral, seed, float64(len(test))), seeded("epochs", "", Neutral, seed, float64(epochs)))
	}
	return finite(list...)
}

// lastEpisodes is the number of episodes over which the end of learning is averaged.
const lastEpisodes = 100

// episodeQuantities lists the metrics of the original's agent, averaged over the last episodes.
func episodeQuantities(l *results.Legacy, seed int64) []Quantity {
	var list []Quantity
	for _, m := range l.Metrics {
		if m.Granularity != "episode" || len(m.Rows) == 0 {
			continue
		}
		if m.Metric == "objective" {
			list = append(list, seeded("episodes", "", Neutral, seed, float64(len(m.Rows))))
		}
		list = append(list, seeded(fmt.Sprintf("%s_last_%d", m.Metric, lastEpisodes), "", Neutral, seed, lastMean(m.Rows)))
	}
	return finite(list...)
}

// lastMean averages the last numeric values; NaN without any.
func lastMean(rows []results.LegacyRow) float64 {
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

// originalSeries makes a series of each metric file: index, seconds and values.
func originalSeries(r *Run) ([]Series, error) {
	l, err := results.ReadLegacy(r.Files, r.Path)
	if l == nil {
		return nil, err
	}
	var list []Series
	for _, m := range l.Metrics {
		list = append(list, metricSeries(m))
	}
	return list, err
}

func metricSeries(m results.LegacyMetric) Series {
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

// metricUnits maps the original's metrics to their units; others have none.
var metricUnits = map[string]string{"last_runtime": document.UnitSeconds, "runtimes": document.UnitSeconds}

// TableSource describes a table of the original's where its config.toml does not.
type TableSource struct {
	Actions  []string // that the numbers stand for
	Network  string   // empty is as config.toml says
	Dataset  string
	Start    float64 // seconds
	Seed     int64
	HasStart bool // start is given; else config.toml says it
	HasSeed  bool // seed is given; else config.toml says it
}

// OriginalActions lists the actions of the published tables by number.
var OriginalActions = []string{"deepen:0", "deepen:1", "deepen:2", "none"}

// Read reads a table's folder or a data.pkl, which its folder may name. For a partly damaged folder
// it returns both a report and an error.
func (o *TableSource) Read(fsys files.FS, path string) (*simulation.Report, error) {
	if _, err := fsys.Stat(path); err != nil {
		return nil, err
	}
	if file, original := OriginalTable(fsys, path); original {
		return o.ReadOriginal(fsys, file)
	}
	report, err := simulation.Check(fsys, path)
	if errors.Is(err, simulation.ErrNoTable) {
		err = failure.With(failure.Damaged, err)
	}
	if err != nil {
		return nil, err
	}
	return report, ReportFault(report)
}

// OriginalTable returns the file of an original's table at a path or in a folder; false for others.
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

// ReportFault is the error of a checked table, with the exit code Damaged where nothing can be
// used, else Partial.
func ReportFault(report *simulation.Report) error {
	if report.Table == nil || report.Records == 0 {
		return failure.With(failure.Damaged, report.Err())
	}
	return failure.With(failure.Partial, report.Err())
}

// ReadOriginal reads a table of the original system.
func (o *TableSource) ReadOriginal(fsys files.FS, path string) (*simulation.Report, error) {
	s, seed, err := o.scenario(fsys, path)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := simulation.ReadLegacy(file, s, seed)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s: %w", path, err))
	}
	if err := table.Validate(); err != nil {
		code := failure.Damaged
		if o.HasStart {
			code = failure.Usage
		}
		return nil, failure.With(code, fmt.Errorf("%s: %w", path, err))
	}
	report := &simulation.Report{Dir: path, Table: table, Records: len(table.Records)}
	for _, r := range table.Records {
		cause := simulation.Cause{Scenario: table.Digest(), Network: table.Network, Data: table.Dataset, Code: "original", Sequence: r.Sequence, Seeds: r.Seeds}
		report.Entries = append(report.Entries, &simulation.Entry{Record: r, Key: cause.Key()})
	}
	return report, nil
}

// scenario describes a data.pkl by the config.toml beside it and the options that override it.
func (o *TableSource) scenario(fsys files.FS, path string) (simulation.Scenario, int64, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return simulation.Scenario{}, 0, err
	}
	run := &config.LegacyRun{Folder: filepath.Base(folder)}
	beside := filepath.Join(filepath.Dir(path), "config.toml")
	found, err := config.ReadLegacyScenario(fsys, beside)
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

func (o *TableSource) override(s simulation.Scenario, seed int64) (simulation.Scenario, int64, error) {
	if o.Network != "" {
		s.Network = o.Network
	}
	if o.Dataset != "" {
		s.Dataset = o.Dataset
	}
	if o.HasStart {
		s.Start = o.Start
	}
	if o.HasSeed {
		seed = o.Seed
	}
	return s, seed, nil
}

// actionsOf parses and normalises actions.
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
