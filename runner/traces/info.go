// Package traces reads traces of a cluster's jobs, converts them and generates synthetic traces.
package traces

import (
	"errors"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/runner/app"
)

// InfoOptions configures [Summarize].
type InfoOptions struct {
	Read trace.Options // options for reading; zero detects the format and keeps all jobs
	// path of the table with the number of nodes of each virtual cluster; if empty, the summary has neither the sizes
	// nor the load of clusters
	VCFile      string
	GPUsPerNode int // number of GPUs per node, at least 1
}

// Info is the summary of a trace. `graft trace info --json` prints it.
type Info struct {
	Path   string `json:"path"`   // path of the trace, as given
	Format string `json:"format"` // format of the file
	*trace.Summary
}

// Summarize reads a trace and computes its statistics. If it stops at an invalid job, it returns the summary of the
// jobs before that job, and an error whose code is failure.Partial. The summary is nil if the first job is invalid.
func Summarize(env *app.Env, path string, o InfoOptions) (*Info, error) {
	check := trace.CheckOptions{GPUsPerNode: o.GPUsPerNode}
	if err := errors.Join(o.Read.Validate(), check.Validate()); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.VCFile != "" {
		var err error
		if check.VCs, err = trace.ReadNodes(env.Files, o.VCFile); err != nil {
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

// Coded adds the exit code failure.Damaged to an error about a malformed trace. It returns other errors unchanged.
func Coded(err error) error {
	if errors.Is(err, trace.ErrMalformed) {
		return failure.With(failure.Damaged, err)
	}
	return err
}
