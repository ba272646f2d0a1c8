package traces

import (
	"io"

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

// FailureInfo describes a fault trace. `graft trace failures --json` prints it.
type FailureInfo struct {
	Path string `json:"path"` // path of the trace, as given
	*failures.Statistics
	Fit       *FailureFit          `json:"fit"`       // fitted model; null unless requested
	Generated *failures.Statistics `json:"generated"` // statistics of the generated trace; null if there is none
}

// FailureFit is a fitted model, with statistics of the traces that it generates.
type FailureFit struct {
	*failures.Model
	Library   int                 `json:"bursts"`    // number of bursts in the trace
	Traces    int                 `json:"traces"`    // number of generated traces in Estimates
	Estimates []failures.Estimate `json:"estimates"` // statistics of the trace and of generated traces
}

// fitTraces is the number of generated traces that are compared with the trace.
const fitTraces = 20

// Failures reads a fault trace and computes its statistics. On request, it fits a model, and writes a trace that the
// model generates.
func Failures(env *app.Env, path string, o FailureOptions) (*FailureInfo, error) {
	if err := o.Validate(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.Out != "" {
		if err := app.MayWrite(env.Files, o.Out, o.Force); err != nil {
			return nil, err
		}
	}
	t, err := failures.Read(env.Files, path, o.ReadOptions)
	if err != nil {
		return nil, Coded(err)
	}
	info := &FailureInfo{Path: path, Statistics: t.Statistics()}
	if o.Fit {
		if info.Fit, err = fitted(t, o.Generate.Seed); err != nil {
			return nil, err
		}
	}
	if o.Out == "" {
		return info, nil
	}
	g, err := failures.Fit(t).Generate(o.Generate)
	if err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	info.Generated = g.Statistics()
	return info, files.WriteAtomic(env.Files, o.Out, func(w io.Writer) error { return g.Write(w) })
}

func fitted(t *failures.Trace, seed uint64) (*FailureFit, error) {
	m := failures.Fit(t)
	list, err := m.Estimates(t, seed, fitTraces)
	return &FailureFit{m, len(m.Bursts), fitTraces, list}, err
}
