package world

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"graft/cluster/elastic"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/files"
)

// isClusterTrace reports whether a file of jobs is a trace of a cluster. A trace of elastic jobs is a JSON object; a
// damaged one is recognised by its name.
func isClusterTrace(fsys files.FS, path string) (bool, error) {
	head, err := files.Head(fsys, path)
	if err != nil {
		return false, err
	}
	begin := bytes.TrimLeft(head, "\ufeff \t\r\n")
	if filepath.Ext(path) == ".json" {
		return bytes.HasPrefix(begin, []byte("[")), nil
	}
	return !bytes.HasPrefix(begin, []byte("{")), nil
}

// readJobs reads a trace of elastic jobs.
func (w *Inputs) readJobs(fsys files.FS, path string) (*elastic.Trace, error) {
	return readJSON(fsys, path, func(in io.Reader) (*elastic.Trace, error) {
		return elastic.ReadTrace(in, len(w.types))
	})
}

// ReadTrace reads a trace of elastic jobs or a cluster trace. Call it after all other inputs have been read.
func (w *Inputs) ReadTrace(fsys files.FS, path string, given *Options) (*elastic.Trace, error) {
	clustered, err := isClusterTrace(fsys, path)
	if err != nil {
		return nil, err
	}
	if !clustered {
		return w.readJobs(fsys, path)
	}
	w.clustered = true
	jobs, left, err := elastic.ReadClusterTrace(fsys, path)
	if err != nil {
		return nil, err
	}
	w.omitted.Join(left)
	w.parts += trace.PartsOf(jobs)
	t, err := w.Workload(jobs, elastic.TraceOptions{}, study.TraceSeed, given)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	most := w.Study(t, given).Options.Most
	for k := range jobs {
		if jobs[k].GPUs > most {
			w.clipped++
		}
	}
	return t, nil
}

// Workload converts the jobs of a cluster trace to elastic jobs, with the settings of the first trace.
func (w *Inputs) Workload(jobs []trace.Job, o elastic.TraceOptions, seed uint64,
	given *Options) (*elastic.Trace, error) {
	t := &elastic.Trace{}
	if w.trace != nil {
		t.Settings = w.trace.Settings
	}
	var err error
	t.Jobs, _, err = elastic.FromTrace(jobs, w.Study(t, given), o, elastic.NewDraws(seed))
	return t, err
}
