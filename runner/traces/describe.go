// Package traces reads traces of a cluster's jobs, converts them and generates synthetic traces.
package traces

import (
	"errors"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/runner/app"
)

// DescribeOptions configures [Describe].
type DescribeOptions struct {
	Read trace.Options // options for reading; zero detects the format and keeps all jobs
	// path of the table with the number of nodes of each virtual cluster; if empty, the summary has neither the sizes
	// nor the load of clusters
	VCFile string
	// jobs of other names that belong to virtual clusters of VCFile, each as NAME=VC
	Aliases     []string
	GPUsPerNode int // number of GPUs per node, at least 1
	GPUs        int // number of GPUs of the cluster, without VCFile; zero means unknown
	// definition of the jobs that could have adapted; the zero value selects the defaults
	Adapt trace.AdaptOptions
}

// Description is the summary of a trace and its cluster. `graft trace describe --json` prints it.
type Description struct {
	Path   string `json:"path"`   // path of the trace, as given
	Format string `json:"format"` // format of the file
	*trace.Summary
}

// Describe reads a trace and computes its statistics. If it stops at an invalid job, it returns the summary of the
// jobs before that job, and an error whose code is failure.Partial. The summary is nil if the first job is invalid.
func Describe(env *app.Env, path string, o DescribeOptions) (*Description, error) {
	summary := trace.SummaryOptions{CheckOptions: trace.CheckOptions{GPUsPerNode: o.GPUsPerNode}, GPUs: o.GPUs,
		Adapt: o.Adapt}
	summary.Adapt.EnsureDefaults()
	if err := errors.Join(o.Read.Validate(), summary.Validate()); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	var err error
	if o.VCFile != "" {
		if summary.VCs, err = trace.ReadNodes(env.Files, o.VCFile); err != nil {
			return nil, Coded(err)
		}
		if err := summary.Validate(); err != nil {
			return nil, failure.With(failure.Usage, err)
		}
	}
	if summary.Aliases, err = o.aliases(summary.VCs); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	o.Read.History = true
	reader, err := trace.Open(env.Files, path, o.Read)
	if err != nil {
		return nil, Coded(err)
	}
	if err := spotless(path, reader.Format(), o.Read); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	made, err := trace.Summarize(reader, summary)
	err = errors.Join(Coded(err), reader.Close())
	if made == nil || made.Jobs == 0 && err != nil {
		return nil, err
	}
	if errors.Is(err, trace.ErrMalformed) {
		err = failure.With(failure.Partial, err)
	}
	if unused := summary.Aliases.Unused(); err == nil && unused != nil {
		return nil, failure.With(failure.Usage, unused)
	}
	return &Description{path, reader.Format(), made}, err
}

// aliases returns the other names of virtual clusters.
func (o *DescribeOptions) aliases(vcs []trace.VC) (*trace.Aliases, error) {
	a, err := trace.ParseAliases("option \"vc-alias\"", o.Aliases)
	switch {
	case err != nil || len(o.Aliases) == 0:
		return nil, err
	case len(vcs) == 0:
		return nil, errors.New("option \"vc-alias\" needs the virtual clusters; set option \"vc-file\", or remove it")
	}
	return a, a.Check(vcs)
}

// spotless returns an error if partitions with spot jobs are named for a trace without partitions.
func spotless(path, format string, o trace.Options) error {
	if len(o.Spot) == 0 || format == "slurm" {
		return nil
	}
	return failure.Usagef("option \"spot\" applies to traces in the format slurm, but %s has the format %s; omit it",
		path, format)
}

// Coded adds the exit code failure.Damaged to an error about a malformed trace. It returns other errors unchanged.
func Coded(err error) error {
	if errors.Is(err, trace.ErrMalformed) {
		return failure.With(failure.Damaged, err)
	}
	return err
}
