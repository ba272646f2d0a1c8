// Package traces reads traces of a cluster's jobs, converts them and generates synthetic ones.
package traces

import (
	"errors"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/runner/app"
)

// InfoOptions say how a trace is summarized.
type InfoOptions struct {
	Read        trace.Options // format and window; zero recognises the format and keeps all jobs
	Nodes       string        // file of the virtual clusters and their nodes; empty knows no sizes and no load
	GPUsPerNode int           // from 1 on; zero is an error
}

// Info is the summary of a trace. `graft trace info --json` prints it.
type Info struct {
	Path   string `json:"path"`   // as it was given
	Format string `json:"format"` // of the file
	*trace.Summary
}

// Summarize reads a trace. Where a fault ends reading, the summary of the jobs before it comes
// with an error of the code failure.Partial; where there is none, the summary is nil.
func Summarize(env *app.Env, path string, o InfoOptions) (*Info, error) {
	check := trace.CheckOptions{GPUsPerNode: o.GPUsPerNode}
	if err := errors.Join(o.Read.Validate(), check.Validate()); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.Nodes != "" {
		var err error
		if check.VCs, err = trace.ReadNodes(env.Files, o.Nodes); err != nil {
			return nil, Coded(err)
		}
	}
	reader, err := trace.Open(env.Files, path, o.Read)
	if err != nil {
		return nil, Coded(err)
	}
	summary, err := trace.Summarize(reader, check)
	err = errors.Join(Coded(err), reader.Close())
	if summary == nil || summary.Jobs == 0 && err != nil {
		return nil, err
	}
	if errors.Is(err, trace.ErrMalformed) {
		err = failure.With(failure.Partial, err)
	}
	return &Info{path, reader.Format(), summary}, err
}

// Coded gives the error of a malformed trace the code failure.Damaged. Other errors stay.
func Coded(err error) error {
	if errors.Is(err, trace.ErrMalformed) {
		return failure.With(failure.Damaged, err)
	}
	return err
}
