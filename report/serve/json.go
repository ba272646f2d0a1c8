package serve

import (
	"encoding/json"
	"io"
	"time"

	"graft/report/page"
	"graft/report/runs"
)

// RunList is the response to GET /runs.json: the list of runs, with the same numbers as on the page.
type RunList struct {
	Folder string    `json:"folder"` // folder of the runs, as given
	Graft  string    `json:"graft"`  // version of graft; empty means unknown
	Runs   []RunItem `json:"runs"`   // runs, each followed by the runs inside it; running runs come first
	// number of runs that are not listed, because the list has a limit
	NotListed int               `json:"not_listed"`
	LeftOut   []runs.SkippedRun `json:"left_out"` // runs that cannot be read, and folders without a run
}

// RunItem is an entry in the list of runs.
type RunItem struct {
	Run    string `json:"run"`    // path in the folder
	Parent string `json:"parent"` // path of the run that contains the run; empty if none does
	Kind   string `json:"kind"`   // kind of the run, such as job or sweep
	// state: running, done, stopped or failed; "-" if the folder does not record it
	State State `json:"state"`
	// completed fraction of the work, between 0 and 1; null if unknown
	ProgressShare *float64 `json:"progress_share"`
	Done          *float64 `json:"done"`          // finished amount of work; null if unknown
	Of            *float64 `json:"of"`            // total amount of work; null if unknown
	ProgressUnit  string   `json:"progress_unit"` // unit of both amounts, such as cells or s; empty if unknown
	// estimated remaining time in seconds; null if the run is not running, or if the time is unknown
	LeftSeconds *float64 `json:"left_s"`
	Failed      string   `json:"failed"`   // reason of a failure; empty if the run did not fail
	Quantity    string   `json:"quantity"` // first quantity that has a better direction; empty if the run has none
	Unit        string   `json:"unit"`     // unit of the quantity; share means a fraction between 0 and 1
	Value       *float64 `json:"value"`    // value of the quantity, averaged over seeds; null if the run has none
	Trend       RunTrend `json:"trend"`    // main metric over the course of the run

	Network string     `json:"network"` // name of the initial network; empty means unknown
	Seed    *uint64    `json:"seed"`    // seed of the whole run; null if it has none
	Began   *time.Time `json:"began"`   // start of the run; null if unknown
	Written time.Time  `json:"written"` // time of the last write
}

// RunTrend is the main metric of a run over time.
type RunTrend struct {
	Metric string    `json:"metric"` // name of the metric; empty if the run has none
	Unit   string    `json:"unit"`   // unit of the metric; share means a fraction between 0 and 1
	Values []float64 `json:"values"` // values in order, at most 60
}

// json builds the list of all runs as JSON.
func (h *Handler) json(v *snapshot, _ page.Live) (content, error) {
	l, now := h.listing(v), h.index.now()
	list := RunList{Folder: h.index.dir, Graft: h.version, Runs: []RunItem{}, NotListed: l.over,
		LeftOut: []runs.SkippedRun{}}
	for k := range l.runs {
		list.Runs = append(list.Runs, l.runs[k].item(now))
		for m := range l.runs[k].members {
			list.Runs = append(list.Runs, l.runs[k].members[m].item(now))
		}
	}
	for _, b := range l.broken {
		list.LeftOut = append(list.LeftOut, runs.SkippedRun{Path: b.name, Why: b.why})
	}
	for _, o := range v.others[:min(len(v.others), maxOthers)] {
		list.LeftOut = append(list.LeftOut, runs.SkippedRun{Path: o.Path, Why: shortReason(o.Why)})
	}
	return jsonContent{list}, nil
}

// item returns the run for the JSON list.
func (l *listedRun) item(now time.Time) RunItem {
	r := RunItem{Run: l.name, Parent: l.parent, Kind: l.kind, State: l.state, Failed: l.summary.Failed,
		Trend:   RunTrend{l.summary.Trend.Metric, l.summary.Trend.Unit, append([]float64{}, l.summary.Trend.Values...)},
		Network: l.network, Seed: l.seed, Written: l.written.UTC()}
	if share, known := l.summary.Progress.Share(); known && l.state != Unknown {
		p := l.summary.Progress
		r.ProgressShare, r.Done, r.Of, r.ProgressUnit = &share, &p.Done, &p.Of, p.Unit
	}
	if left, known := l.left(now); known {
		seconds := left.Seconds()
		r.LeftSeconds = &seconds
	}
	if q := l.figure; q != nil {
		r.Quantity, r.Unit, r.Value = q.Quantity, q.Unit, &q.Mean
	}
	if !l.began.IsZero() {
		began := l.began.UTC()
		r.Began = &began
	}
	return r
}

// jsonContent is a value that is sent as JSON.
type jsonContent struct{ value any }

// Render writes the value as JSON.
func (c jsonContent) Render(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(c.value)
}

// Policy returns a Content-Security-Policy that prevents the response from loading any resource.
func (c jsonContent) Policy() string { return "default-src 'none'" }

// Type returns the media type of JSON.
func (c jsonContent) Type() string { return "application/json" }
