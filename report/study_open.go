package report

import (
	"slices"
	"strings"

	"graft/cluster/study"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// openStudyDetail lists the finished simulations of a cluster simulation that has not ended.
type openStudyDetail struct {
	Finished []runs.FinishedCell `json:"finished"` // finished simulations, sorted by folder
}

// readOpenStudy reads the finished simulations. It returns nil if there are none.
func readOpenStudy(r *runs.Run) (Detail, error) {
	list, err := r.FinishedCells()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &openStudyDetail{list}, nil
}

// openKeys selects metrics for the table: means and shares, at most this number of them.
const openKeys = 6

func (o *openStudyDetail) keys() (keys []string) {
	for key := range o.Finished[0].Values {
		if strings.Contains(key, "_mean") || strings.HasSuffix(key, "_"+document.UnitShare) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return later(a) - later(b) })
	return keys[:min(openKeys, len(keys))]
}

// later is zero for completion times, which come first.
func later(key string) int {
	if strings.HasPrefix(key, "jct") {
		return 0
	}
	return 1
}

func (o *openStudyDetail) write(d *document.Document) {
	d.Head("finished simulations")
	d.Say("The cluster run has not ended: " + words.Plural(len(o.Finished), "simulation") + " finished so far. " +
		"Differences and rankings follow at its end.")
	keys := o.keys()
	t := document.NewTable("simulation")
	for _, key := range keys {
		t.Numbers("", "%.6g", wordsOf(key))
	}
	for _, c := range o.Finished {
		row := []any{document.Cell{Text: c.Folder, Link: c.Folder}}
		for _, key := range keys {
			row = append(row, valueCell(c.Values, key))
		}
		t.Add(row...)
	}
	d.Show(t)
}

// valueCell returns the value of a metric.
func valueCell(values study.Values, key string) document.Cell {
	if v, has := values[key]; has && v.Known() {
		return document.Value(float64(v), "")
	}
	return document.Missing()
}
