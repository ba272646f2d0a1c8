package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/config"
	"graft/original"
)

// originalRuns is result folders of the original system: of its trainings, tables and
// policies.
var originalRuns = &runKind{name: "original", title: "run of the original", titles: "runs of the original", fits: isOriginal, read: readOriginalRun, series: originalSeries, detail: readOriginalDetail}

// isOriginal knows a folder by its metric files, its table or its policy, or by the
// sections of its configuration.
func isOriginal(f *runFolderView) bool {
	if f.has(manifestFile) || f.has(lockFile) {
		return false
	}
	for _, entry := range f.entries {
		if original.IsMetric(entry.Name()) && !entry.IsDir() {
			return true
		}
	}
	return f.has("data.pkl") || f.has(policyFile) || f.has(givenFile) && f.says("runner.folder")
}

// says says whether the configuration as given has a key.
func (f *runFolderView) says(key string) bool {
	list, err := config.ReadSettings(f.fsys, f.at(givenFile))
	return err == nil && slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == key })
}

func readOriginalRun(f *runFolderView, r *runData) error {
	l, err := original.ReadFolder(f.fsys, f.path)
	if err != nil && (l == nil || len(l.Metrics) == 0) {
		return err
	}
	r.Faults, r.Ended = err, true
	if l.Config != "" {
		if r.Settings, err = config.ReadSettings(f.fsys, f.at(givenFile)); err != nil {
			return err
		}
	}
	if text, given := r.setting("runner.seed"); given {
		seed, err := strconv.ParseUint(text, 10, 64)
		r.Manifest.Seed, r.Seeded = seed, err == nil
	}
	r.Manifest.Network, _ = r.setting("job.model")
	r.Quantities = append(trainingQuantities(l, int64(r.Manifest.Seed)), episodeQuantities(l, int64(r.Manifest.Seed))...)
	table, err := readOriginalTable(f.path)
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
		list = append(list, one("test_accuracy", unitShare, upward, seed, test[0]))
	case len(test) > 1:
		list = append(list, one("mean_test_accuracy", unitShare, upward, seed, *mean(test)), one("best_test_accuracy", unitShare, upward, seed, slices.Max(test)))
	}
	if len(train) > 0 {
		list = append(list, one("train_accuracy", unitShare, upward, seed, *mean(train)))
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
	return *mean(values)
}

// originalSeries has a series for each metric file: index, seconds, and the numbers of
// its values.
func originalSeries(r *runData) ([]runSeries, error) {
	l, err := original.ReadFolder(r.fsys, r.Path)
	if l == nil {
		return nil, err
	}
	var list []runSeries
	for _, m := range l.Metrics {
		list = append(list, metricSeries(m))
	}
	return list, err
}

func metricSeries(m original.Metric) runSeries {
	width := 1
	for _, row := range m.Rows {
		width = max(width, len(row.Value.Numbers))
	}
	columns := []runColumn{{Name: m.Granularity}, {Name: "time", Unit: unitSeconds}}
	for k := range width {
		name := m.Metric
		if width > 1 {
			name += "_" + strconv.Itoa(k)
		}
		columns = append(columns, runColumn{Name: name, Unit: metricUnits[m.Metric]})
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
	return runSeries{Name: strings.TrimPrefix(m.Prefix+"."+m.Granularity+"."+m.Metric, ".."), Columns: columns}
}

// metricUnits are the units of the original's metrics that have one.
var metricUnits = map[string]string{"last_runtime": unitSeconds, "runtimes": unitSeconds}
