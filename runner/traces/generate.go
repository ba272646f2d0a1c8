package traces

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// GenerateOptions configures [Generate].
type GenerateOptions struct {
	trace.GenerateOptions        // jobs and cluster of the trace; zero resembles one month of the cluster Venus
	To                    string // format of the trace, one of Writable; empty means graft
	VCFile                string // path for the virtual clusters and their nodes; empty means that they are not written
	// path of a folder for the cluster and the model profiles, which `graft cluster run --data` reads; empty means that
	// they are not written
	Data  string
	Force bool // replaces existing files; if false, an existing file is an error
}

// Generated describes the result of Generate.
type Generated struct {
	Jobs  int       // number of written jobs
	Nodes int       // number of nodes in the cluster
	VCs   int       // number of virtual clusters
	To    string    // format of the trace
	Start time.Time // date of second zero
}

// Generate writes a synthetic trace. The same options always give byte-identical traces.
func Generate(env *app.Env, out string, o GenerateOptions) (*Generated, error) {
	if o.EnsureDefaults(); o.To == "" {
		o.To = ownFormat
	}
	generator, err := trace.Generate(o.GenerateOptions)
	if err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if err := o.mayGenerate(env.Files, out); err != nil {
		return nil, err
	}
	written := trace.WriterOptions{Format: o.To, Start: generator.Start(), Nodes: o.Nodes,
		Processors: o.Nodes * o.GPUsPerNode}
	kinds := map[cluster.Config]trace.Job{}
	if err := trace.WriteFile(env.Files, out, written, o.Force, generated(generator, kinds)); err != nil {
		return nil, err
	}
	if err := o.writeData(env.Files, generator.VCs(), kinds); err != nil {
		return nil, err
	}
	if o.VCFile != "" {
		if err := trace.WriteNodes(env.Files, o.VCFile, generator.VCs()); err != nil {
			return nil, err
		}
	}
	return &Generated{Jobs: o.Jobs, Nodes: o.Nodes, VCs: len(generator.VCs()), To: o.To, Start: generator.Start()}, nil
}

// mayGenerate returns an error, before writing, if a file cannot be written.
func (o *GenerateOptions) mayGenerate(fsys files.FS, out string) error {
	if err := mayFormat(o.To); err != nil {
		return err
	}
	if o.VCFile == out {
		return failure.Usagef("OUT and option \"vc-file-out\" are the same file; name two different files")
	}
	if o.Data != "" { // a folder to create
		if err := app.MayReplace(fsys, o.Data, o.Force); err != nil {
			return err
		}
	}
	for _, path := range []string{out, o.VCFile} {
		if path == "" {
			continue
		}
		if err := app.MayWrite(fsys, path, o.Force); err != nil {
			return err
		}
	}
	return nil
}

// writeData makes the folder of the data about the cluster for schedulers.
func (o *GenerateOptions) writeData(fsys files.FS, vcs []trace.VC, kinds map[cluster.Config]trace.Job) error {
	if o.Data == "" {
		return nil
	}
	if err := fsys.MkdirAll(o.Data); err != nil {
		return err
	}
	err := trace.WriteNodes(fsys, filepath.Join(o.Data, "vc_config.csv"), vcs)
	profiles := cluster.MakeProfiles(slices.Collect(maps.Values(kinds)))
	return errors.Join(err, profiles.Write(fsys, filepath.Join(o.Data, "single_data.csv"),
		filepath.Join(o.Data, "colocate_info.csv")))
}

// generated writes all jobs of a generator, and keeps one job per configuration.
func generated(generator *trace.Generator, kinds map[cluster.Config]trace.Job) func(*trace.Writer) error {
	return func(t *trace.Writer) error {
		var job trace.Job
		for {
			err := generator.Read(&job)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				kinds[cluster.ConfigOf(&job)] = job
				err = t.Write(&job)
			}
			if err != nil {
				return err
			}
		}
	}
}
