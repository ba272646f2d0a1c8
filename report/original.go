package report

import (
	"fmt"

	"graft/internal/words"
	"graft/original"
	"graft/report/document"
	"graft/report/runs"
)

// OriginalDetail holds the contents of a results folder of the original system.
type OriginalDetail struct {
	Description string         `json:"description"` // text of the folder's description; empty means none
	Metrics     []metricReport `json:"metrics"`     // metrics, one entry per file
	rankedDetail
	Logs   []logReport `json:"logs"`
	Others []string    `json:"others"` // names of files of other kinds
}

// metricReport describes a metric file.
type metricReport struct {
	File  string   `json:"file"`
	Of    string   `json:"of"` // owner of the metric, such as a job; empty for none
	Per   string   `json:"per"`
	What  string   `json:"metric"`
	Rows  int      `json:"rows"`
	From  *float64 `json:"from_s"` // time of the first row; null without rows
	To    *float64 `json:"to_s"`
	First *float64 `json:"first"` // first value that is a single number; null if there is none
	Last  *float64 `json:"last"`
	Torn  bool     `json:"torn"` // whether the file ends in an incomplete row
}

// logReport describes a log file.
type logReport struct {
	File  string `json:"file"`
	Lines int    `json:"lines"`
	Last  string `json:"last"` // text of the last entry
}

func readOriginalDetail(r *runs.Run, all bool) (Detail, error) {
	l, err := r.Original()
	if l == nil {
		return nil, err
	} // unreadable files are already among the run's faults
	d := &OriginalDetail{Description: l.Description, Metrics: []metricReport{}, Logs: []logReport{},
		Others: append([]string{}, l.Others...), rankedDetail: rankedDetail{all: all}}
	for _, m := range l.Metrics {
		d.Metrics = append(d.Metrics, reportMetric(m))
	}
	for _, log := range l.Logs {
		one := logReport{File: log.File, Lines: len(log.Rows)}
		if n := len(log.Rows); n > 0 {
			one.Last = log.Rows[n-1].Text
		}
		d.Logs = append(d.Logs, one)
	}
	if table, err := r.OriginalTable(); err == nil {
		d.Table = runs.NewTableReport(table)
	}
	return d, nil
}

func reportMetric(m original.Metric) metricReport {
	r := metricReport{File: m.File, Of: m.Prefix, Per: m.Granularity, What: m.Metric, Rows: len(m.Rows), Torn: m.Torn}
	for k := range m.Rows {
		row := &m.Rows[k]
		if r.From == nil {
			r.From = &row.Seconds
		}
		r.To = &row.Seconds
		if !row.Value.Single {
			continue
		}
		if r.First == nil {
			r.First = &row.Value.Numbers[0]
		}
		r.Last = &row.Value.Numbers[0]
	}
	return r
}

// maxFiles is the number of metric files shown without --all.
const maxFiles = 20

func (o *OriginalDetail) write(d *document.Document) {
	d.Say(o.Description)
	o.rankedDetail.write(d)
	if len(o.Metrics) > 0 {
		d.Head("%s", words.Plural(len(o.Metrics), "metric file"))
	}
	t := document.NewTable("of", "per", "metric").Numbers("", "", "rows").
		Numbers(document.UnitSeconds, "%.1f", "from", "to").Numbers("", "%.4g", "first", "last")
	for k, m := range o.Metrics {
		if k == maxFiles && !o.all {
			t.Add(fmt.Sprintf("… %d more", len(o.Metrics)-k))
			break
		}
		t.Add(m.Of, m.Per, m.What, m.Rows, m.From, m.To, m.First, m.Last)
	}
	d.Show(t)
	if len(o.Others) > 0 {
		d.Say("besides: " + document.SomeOf(o.Others, 8))
	}
}
