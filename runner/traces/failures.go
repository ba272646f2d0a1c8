package traces

import (
	"io"
	"time"

	"graft/cluster/failures"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// FailureOptions configures [Failures].
type FailureOptions struct {
	failures.ReadOptions                          // what the fault trace does not contain
	Fit                  bool                     // fits a model and compares it with the trace
	Out                  string                   // path of the generated fault trace; empty generates none
	Generate             failures.GenerateOptions // generated fault trace; zero resembles the trace
	Force                bool                     // replaces an existing file; if false, an existing file is an error
}

// FailureInfo describes a fault trace or a list of outages. `graft trace failures --json` prints it.
type FailureInfo struct {
	Path string `json:"path"` // path of the trace, as given
	*failures.Statistics
	Fit       *FailureFit          `json:"fit"`       // fitted model; null unless requested
	Generated *failures.Statistics `json:"generated"` // statistics of the generated trace; null if there is none
	// further statistics of a list of outages or of Slurm events; absent for a fault trace
	List *OutageInfo `json:"list,omitempty"`
}

// OutageInfo has the statistics of a list of outages that a fault trace does not have. Drains are not faults.
type OutageInfo struct {
	Format    string          `json:"format"`           // "outages" (CSV table) or "slurm"
	Start     string          `json:"start"`            // date of second zero; empty without dates
	Drains    int             `json:"drains"`           // number of drains
	Periods   int             `json:"drain_periods"`    // number of periods in which a node is drained
	Drain     failures.Spread `json:"drain"`            // durations of these periods
	InService float64         `json:"in_service_share"` // share of node time without a failure or a drain
	Others    int             `json:"cluster_events"`   // number of Slurm events that do not belong to a node
	// number of Slurm events with an end up to an hour before the start; an hour was added to their ends
	Shifted int                    `json:"shifted_ends"`
	Worst   []failures.NodeOutages `json:"worst"` // nodes with most failures, at most five
}

// mostWorst is the number of nodes in OutageInfo.Worst.
const mostWorst = 5

// FailureFit is a fitted model, with statistics of the traces that it generates.
type FailureFit struct {
	*failures.Model
	Library   int                 `json:"bursts"`    // number of bursts in the trace
	Traces    int                 `json:"traces"`    // number of generated traces in Estimates
	Estimates []failures.Estimate `json:"estimates"` // statistics of the trace and of generated traces
}

// fitTraces is the number of generated traces that are compared with the trace.
const fitTraces = 20

// Failures reads a fault trace, a list of outages or Slurm events, and computes its statistics. On request, it fits a
// model to the failures, and writes a trace that the model generates.
func Failures(env *app.Env, path string, o FailureOptions) (*FailureInfo, error) {
	if err := o.Validate(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.Out != "" {
		if err := app.MayWrite(env.Files, o.Out, o.Force); err != nil {
			return nil, err
		}
	}
	r, err := failures.ReadRecord(env.Files, path, o.ReadOptions)
	if err != nil {
		return nil, Coded(err)
	}
	info := &FailureInfo{Path: path, Statistics: r.Statistics(), List: outageInfo(r)}
	if err := info.model(env, r, o); err != nil {
		return nil, err
	}
	return info, nil
}

// model fits a model to the failures and generates a trace, on request.
func (info *FailureInfo) model(env *app.Env, r *failures.Record, o FailureOptions) (err error) {
	if (o.Fit || o.Out != "") && len(r.Nodes) == 0 {
		return failure.Usagef("%s has no failures to fit a model to; name a file with failures", info.Path)
	}
	if o.Fit {
		if info.Fit, err = fitted(r.Trace, o.Generate.Seed); err != nil {
			return err
		}
	}
	if o.Out == "" {
		return nil
	}
	g, err := failures.Fit(r.Trace).Generate(o.Generate)
	if err != nil {
		return failure.With(failure.Usage, err)
	}
	info.Generated = g.Statistics()
	return files.WriteAtomic(env.Files, o.Out, func(w io.Writer) error { return g.Write(w) })
}

// outageInfo returns the additional statistics of a list of outages; nil for a fault trace.
func outageInfo(r *failures.Record) *OutageInfo {
	if r.Drains == nil {
		return nil
	}
	drains := r.Drains.Statistics()
	info := &OutageInfo{Format: r.Format, Drains: drains.Faults, Periods: drains.Outages, Drain: drains.Duration,
		InService: r.InService(), Others: r.Others, Shifted: r.Shifted,
		Worst: r.Worst(mostWorst)}
	if !r.Start.IsZero() {
		info.Start = r.Start.Format(time.DateTime)
	}
	return info
}

func fitted(t *failures.Trace, seed uint64) (*FailureFit, error) {
	m := failures.Fit(t)
	list, err := m.Estimates(t, seed, fitTraces)
	return &FailureFit{m, len(m.Bursts), fitTraces, list}, err
}
