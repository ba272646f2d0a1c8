package runs

import (
	"cmp"
	"path/filepath"
	"slices"

	"graft/internal/stat"
	"graft/report/document"
	"graft/results"
)

// overview holds the functions by which a kind of run describes itself in a list of runs. The zero value shows only
// progress.json. None of them may read more than a list of a thousand runs can afford.
type overview struct {
	// progress returns the finished part of a run. The argument is the content of progress.json; nil if there is none.
	// A nil function uses that content.
	progress func(r *Run, written *results.Progress) (*results.Progress, error)
	// trend returns the main metric over the course of a run. A nil function, an error and a trend without values use
	// the values in progress.json.
	trend func(r *Run) (Trend, error)
	// failed returns the reason why a run failed; empty if it did not. A nil function uses progress.json.
	failed func(r *Run) string
	// members lists the folders of the runs inside a run, as patterns relative to its folder; nil for none
	members []string
}

// Trend holds the main metric of a run over time. The zero value is an empty trend.
type Trend struct {
	Metric string    // name of the metric, such as validation_accuracy
	Unit   string    // unit; share means a fraction between 0 and 1, empty means a count
	Values []float64 // values in order, at most maxTrend; never NaN or infinite
}

// maxTrend is the maximum number of values of a trend.
const maxTrend = 60

// Summary holds the state of a run, as displayed in the list of runs.
type Summary struct {
	Progress *results.Progress // finished part of the run; nil if unknown
	Trend    Trend
	Failed   string // reason why the run failed; empty if it did not
}

// Summary returns the state of the run for the list of runs. Fields stay empty if their files are missing, damaged or
// incomplete.
func (r *Run) Summary() Summary {
	written, err := results.ReadProgress(r.Files, r.Path)
	if err != nil {
		written = nil
	}
	s := Summary{Progress: written}
	of := r.Kind.list
	if r.Begun {
		of = overview{}
	}
	if of.progress != nil {
		if p, err := of.progress(r, written); err == nil {
			s.Progress = p
		}
	}
	if of.trend != nil {
		if t, err := of.trend(r); err == nil {
			s.Trend = t.thinned()
		}
	}
	if written != nil && len(s.Trend.Values) == 0 {
		s.Trend = Trend{written.Metric, written.MetricUnit, written.Values}.thinned()
	}
	if r.Ended {
		s.Progress = completed(s.Progress)
		return s
	}
	if of.failed != nil {
		s.Failed = of.failed(r)
	}
	if written != nil {
		s.Failed = cmp.Or(s.Failed, written.Failed)
	}
	return s
}

// Members returns patterns that match the folders of runs inside a run of this kind. The patterns are relative to the
// run folder.
func (k *Kind) Members() []string { return k.list.members }

// completed returns the progress of a completed run.
func completed(p *results.Progress) *results.Progress {
	if p == nil || !(p.Of > 0) {
		return &results.Progress{Done: 1, Of: 1}
	}
	return &results.Progress{Done: p.Of, Of: p.Of, Unit: p.Unit}
}

// amount returns the progress of a completed run with an amount of work; before the end, it returns the written one.
func (r *Run) amount(written *results.Progress, of int, unit string) *results.Progress {
	if !r.Ended {
		return written
	}
	return &results.Progress{Done: float64(of), Of: float64(of), Unit: unit}
}

// thinned drops values that are not finite, and keeps at most maxTrend of the others, with the first and the last.
func (t Trend) thinned() Trend {
	finite := slices.DeleteFunc(slices.Clone(t.Values),
		func(v float64) bool { return !stat.Finite(v) })
	if t.Values = finite; len(finite) <= maxTrend {
		return t
	}
	t.Values = make([]float64, maxTrend)
	for k := range t.Values {
		t.Values[k] = finite[k*(len(finite)-1)/(maxTrend-1)]
	}
	return t
}

// streamTrend returns a column of a table over another column, averaged over rows with the same value of that column,
// such as the seeds at a step. It samples a large table.
func streamTrend(r *Run, table, over, metric, unit string) (Trend, error) {
	t, err := results.ReadStreamSample(r.Files, filepath.Join(r.Path, table), 2*maxTrend)
	if err != nil {
		return Trend{}, err
	}
	columns, err := t.Numbers(over, metric)
	if err != nil {
		return Trend{}, err
	}
	known := map[float64][]float64{}
	for k, at := range columns[over] {
		if v := columns[metric][k]; stat.Finite(v) {
			known[at] = append(known[at], v)
		}
	}
	trend := Trend{Metric: metric, Unit: unit}
	places := make([]float64, 0, len(known))
	for at := range known {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		trend.Values = append(trend.Values, stat.Mean(known[at]))
	}
	return trend, nil
}

// overStream returns the function of a trend in a table, such as a column over the steps.
func overStream(table, over, metric, unit string) func(*Run) (Trend, error) {
	return func(r *Run) (Trend, error) { return streamTrend(r, table, over, metric, unit) }
}

// bestSoFar returns the running maximum of accuracies.
func bestSoFar(accuracies []float64) Trend {
	t := Trend{Metric: "best_accuracy", Unit: document.UnitShare, Values: slices.Clone(accuracies)}
	for k := 1; k < len(t.Values); k++ {
		t.Values[k] = max(t.Values[k], t.Values[k-1])
	}
	return t
}
