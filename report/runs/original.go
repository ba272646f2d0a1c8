package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/config"
	"graft/internal/stat"
	"graft/original"
	"graft/report/document"
	"graft/simulation/tables"
)

// OriginalKind describes the folders that the original system wrote. Such a folder holds a training run, a table or a
// policy.
var OriginalKind = &Kind{Name: "original", By: "the original system",
	Title: "run of the original", Titles: "runs of the original",
	matches: isOriginal, read: readOriginalRun, list: originalOverview, series: originalSeries}

// isOriginal recognises a folder by its metric files, table or policy, or by its configuration's sections.
func isOriginal(f *Folder) bool {
	if f.Has(ManifestFile) || f.Has(LockFile) {
		return false
	}
	for _, entry := range f.Entries {
		if original.IsMetric(entry.Name()) && !entry.IsDir() {
			return true
		}
	}
	return f.Has("data.pkl") || f.Has(PolicyFile) || f.Has(ConfigFile) && f.hasSetting("runner.folder")
}

// hasSetting reports whether the given configuration has a key.
func (f *Folder) hasSetting(key string) bool {
	list, err := f.configuration(ConfigFile).Settings()
	return err == nil && slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == key })
}

func readOriginalRun(f *Folder, r *Run) error {
	l, err := r.Original()
	if err != nil && (l == nil || len(l.Metrics) == 0) {
		return err
	}
	r.Faults, r.Ended = err, true
	if l.Config != "" {
		if r.Settings, err = config.Loaded(f.Files, f.At(ConfigFile), l.Config).Settings(); err != nil {
			return err
		}
	}
	if text, given := r.Setting("runner.seed"); given {
		seed, err := strconv.ParseUint(text, 10, 64)
		r.Manifest.Seed, r.Seeded = seed, err == nil
	}
	r.Manifest.Network, _ = r.Setting("job.model")
	r.Quantities = append(trainingQuantities(l, int64(r.Manifest.Seed)),
		episodeQuantities(l, int64(r.Manifest.Seed))...)
	table, err := r.OriginalTable()
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

// Original reads the files of the run folder, which the original system wrote.
func (r *Run) Original() (*original.Folder, error) {
	return keep(&r.folder.kept, "files of the original", func() (*original.Folder, error) {
		return original.ReadFolder(r.Files, r.Path)
	})
}

// OriginalTable reads the table of a results folder of the original system. If the folder has no table, the error wraps
// fs.ErrNotExist.
func (r *Run) OriginalTable() (*tables.Table, error) {
	return keep(&r.folder.kept, "table of the original", func() (*tables.Table, error) {
		l, err := r.Original()
		if l == nil {
			return nil, err
		}
		return readOriginalTable(r.Files, r.Path, l.Config)
	})
}

// lastValues lists the last value of a metric in each training, and counts all rows.
func lastValues(l *original.Folder, metric string) (last []float64, rows int) {
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

// trainingQuantities lists the last accuracies of trainings. Several trainings took different actions and are not
// samples of one quantity: the list has both their mean and the best.
func trainingQuantities(l *original.Folder, seed int64) []Quantity {
	test, epochs := lastValues(l, "test_acc")
	train, _ := lastValues(l, "train_acc")
	var list []Quantity
	switch {
	case len(test) == 1:
		list = append(list, seeded("test_accuracy", document.UnitShare, Higher, seed, test[0]))
	case len(test) > 1:
		list = append(list, seeded("mean_test_accuracy", document.UnitShare, Higher, seed, stat.Mean(test)),
			seeded("best_test_accuracy", document.UnitShare, Higher, seed, slices.Max(test)))
	}
	if len(train) > 0 {
		list = append(list, seeded("train_accuracy", document.UnitShare, Higher, seed, stat.Mean(train)))
	}
	if len(test) > 0 {
		list = append(list, seeded("trainings", "", Neutral, seed, float64(len(test))),
			seeded("epochs", "", Neutral, seed, float64(epochs)))
	}
	return finite(list...)
}

// lastEpisodes is the number of episodes over which the end of learning is averaged.
const lastEpisodes = 100

// episodeQuantities lists the metrics of the original's agent, averaged over the last episodes.
func episodeQuantities(l *original.Folder, seed int64) []Quantity {
	var list []Quantity
	for _, m := range l.Metrics {
		if m.Granularity != "episode" || len(m.Rows) == 0 {
			continue
		}
		if m.Metric == "objective" {
			list = append(list, seeded("episodes", "", Neutral, seed, float64(len(m.Rows))))
		}
		last := seeded(fmt.Sprintf("%s_last_%d", m.Metric, lastEpisodes), "", Neutral, seed, lastMean(m.Rows))
		last.Signed = true
		list = append(list, last)
	}
	return finite(list...)
}

// lastMean averages the last numeric values; NaN if there are none.
func lastMean(rows []original.Row) float64 {
	var values []float64
	for _, row := range rows[max(0, len(rows)-lastEpisodes):] {
		if row.Value.Single {
			values = append(values, row.Value.Numbers[0])
		}
	}
	return stat.Mean(values)
}

// originalSeries makes a series per metric file: index, seconds and values.
func originalSeries(r *Run) ([]Series, error) {
	l, err := r.Original()
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
		columns[0].Values, columns[1].Values = append(columns[0].Values, float64(row.Index)),
			append(columns[1].Values, row.Seconds)
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
