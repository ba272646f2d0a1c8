package world

import (
	"cmp"
	"fmt"
	"io"

	"graft/cluster/elastic"
	"graft/cluster/trace"
	"graft/internal/decode"
	"graft/internal/files"
)

// Inputs holds the contents of the files that the elastic section names.
type Inputs struct {
	types []elastic.JobType
	trace *elastic.Trace // nil if no trace is named
	table elastic.Table  // nil if speeds are analytic or come from applications
	steps elastic.Steps  // step times of applications; nil without applications

	contents string // digest of the application files

	analytic  bool
	clustered bool          // jobs come from a cluster trace
	clipped   int           // jobs of cluster traces that requested more GPUs than a job may have workers
	parts     int           // jobs of cluster traces that requested a part of a GPU
	omitted   trace.Omitted // jobs of cluster traces that are left out
}

// Read reads the files that the elastic section names, and the first trace if there is one. It returns false if a file
// is invalid. The settings of the first trace also apply to the other traces.
func (w *Inputs) Read(fsys files.FS, r *decode.Reading, o *Options, path string) bool {
	w.clipped, w.parts, w.omitted = 0, 0, trace.Omitted{}
	if !w.readTypes(fsys, r, o) {
		return false
	}
	clustered := false
	if path != "" {
		var err error
		if clustered, err = isClusterTrace(fsys, path); err == nil && !clustered {
			w.trace, err = w.readJobs(fsys, path)
		}
		if err != nil {
			r.Blame(tracesKey, r.Elsewhere(tracesKey, err, 0).Error(), 0)
			return false
		}
	}
	if !w.readSpeeds(fsys, r, o) {
		return false
	}
	if clustered {
		var err error
		if w.trace, err = w.ReadTrace(fsys, path, o); err != nil {
			r.Blame(tracesKey, err.Error(), 0)
			return false
		}
	}
	return true
}

const tracesKey = "workload.traces"

// readTypes reads the types of jobs. It returns false on an error.
func (w *Inputs) readTypes(fsys files.FS, r *decode.Reading, o *Options) bool {
	if info, err := fsys.Stat(o.Speeds); o.Speeds != "" && err == nil && info.IsDir() {
		return w.readApplications(fsys, r, o)
	}
	var err error
	if w.types = elastic.PublishedTypes(); o.Types != "" {
		if w.types, err = readJSON(fsys, o.Types, elastic.ReadTypes); err != nil {
			r.Blame("elastic.types", err.Error())
		}
	}
	return err == nil
}

// Types returns the job types.
func (w *Inputs) Types() []elastic.JobType { return w.types }

// Trace returns the first trace, or nil if the configuration names no trace.
func (w *Inputs) Trace() *elastic.Trace { return w.trace }

// Contents writes the speeds, the job types and the contents of the application files, so that the caller can compute a
// digest of them.
func (w *Inputs) Contents(to io.Writer) {
	fmt.Fprintln(to, w.table, w.types, w.analytic)
	_, _ = io.WriteString(to, w.contents)
}

// readSpeeds reads the speeds unless they are analytic. It returns false on an error.
func (w *Inputs) readSpeeds(fsys files.FS, r *decode.Reading, o *Options) bool {
	if w.steps != nil {
		return true
	}
	if w.analytic = o.Speeds == speedsAnalytic || w.trace != nil && w.trace.Settings.Analytic; w.analytic {
		return true
	}
	if o.Speeds == "" {
		r.Blame("elastic.speeds", "speeds is missing; expected a JSON file with the speed of each model for each "+
			"number of servers and workers, a folder of applications, or \"analytic\"")
		return false
	}
	var err error
	if w.table, err = readJSON(fsys, o.Speeds, elastic.ReadTable); err != nil {
		r.Blame("elastic.speeds", err.Error())
	}
	return err == nil
}

// Study returns the jobs of a trace on the cluster that the elastic section configures.
func (w *Inputs) Study(t *elastic.Trace, given *Options) elastic.Study {
	o := t.Settings.Options
	o.Nodes, o.Most, o.Slot, o.Limit = cmp.Or(given.Nodes, o.Nodes), cmp.Or(given.Most, o.Most),
		cmp.Or(given.Slot, o.Slot), cmp.Or(given.Limit, o.Limit)
	o.PerNode = elastic.Resources{elastic.CPU: cmp.Or(given.CPUs, o.PerNode[elastic.CPU], usualSlots),
		elastic.GPU: cmp.Or(given.GPUs, o.PerNode[elastic.GPU], usualSlots)}
	o.Scaling, o.SpeedError = given.Scaling, cmp.Or(given.SpeedError, o.SpeedError)
	compatible := given.Compat == CompatDL2
	if compatible {
		o.Quirks = elastic.Compatible().Quirks
	}
	s := elastic.Study{Types: w.types, Jobs: t.Jobs, Speed: w.table, Options: o}
	switch {
	case w.steps != nil:
		s.Speed, s.Options.AllReduce = w.steps, true
	case w.analytic:
		s.Speed = elastic.Analytic{WholeShares: compatible}
	}
	s.Options.EnsureDefaults()
	return s
}

// readJSON reads a file.
func readJSON[T any](fsys files.FS, path string, read func(io.Reader) (T, error)) (value T, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return value, err
	}
	defer f.Close()
	if value, err = read(f); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return value, err
}
