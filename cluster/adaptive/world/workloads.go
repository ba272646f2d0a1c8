package world

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/adaptive"
	"graft/cluster/elastic"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/decode"
	"graft/internal/files"
)

const (
	dataKey   = "adaptive.data"
	tracesKey = "workload.traces"
)

// read reads the applications and the workloads, and reports faults.
func (f *File) read(fsys files.FS, r *decode.Reading) {
	noted := &study.Noted{FS: fsys}
	apps, err := adaptive.ReadApplications(noted, f.Adaptive.Data, adaptive.KnownApplications())
	if err != nil {
		r.Blame(dataKey, r.Elsewhere(dataKey, err).Error())
		return
	}
	f.studies, f.paths, f.omitted, f.clipped, f.parts = nil, nil, trace.Omitted{}, 0, 0
	for k, name := range f.Workload.Traces {
		path, err := findWorkload(fsys, f.Adaptive.Data, name)
		var s adaptive.Study
		if err == nil {
			s, err = f.workload(noted, path, apps)
		}
		if err != nil {
			r.Blame(tracesKey, r.Elsewhere(tracesKey, err, k).Error(), k)
			continue
		}
		f.studies, f.paths = append(f.studies, s), append(f.paths, path)
	}
	if len(f.paths) == len(f.Workload.Traces) {
		f.names = (&study.Workload{Traces: f.paths}).Names(r)
	}
	if f.contents, err = noted.Digest(); err != nil {
		r.Blame(dataKey, err.Error())
	}
}

// workload reads the jobs of a trace on the cluster.
func (f *File) workload(fsys files.FS, path string, apps map[string]*adaptive.Application) (adaptive.Study, error) {
	s := adaptive.Study{Options: *f.Adaptive.cluster()}
	var err error
	if s.Jobs, err = f.readWorkload(fsys, path, apps, &s.Options); err != nil {
		return s, err
	}
	if err = s.Validate(); err == nil {
		err = f.requests(&s)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// readWorkload reads a table of adaptive jobs, recognised by its columns, or a trace of a cluster, whose jobs get
// applications of their sizes.
func (f *File) readWorkload(fsys files.FS, path string, apps map[string]*adaptive.Application,
	o *adaptive.Options) ([]adaptive.Spec, error) {
	head, err := files.Head(fsys, path)
	if err != nil {
		return nil, err
	}
	if line, _, _ := strings.Cut(string(head), "\n"); strings.Contains(line, "num_replicas") ||
		strings.Contains(line, ",application") {
		return adaptive.ReadWorkload(fsys, path, apps)
	}
	jobs, left, err := elastic.ReadClusterTrace(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("%w; alternatively, name a table of jobs with the columns name, time, "+
			"application, num_replicas and batch_size", err)
	}
	specs, err := adaptive.FromTrace(jobs, apps, *o, rand.New(rand.NewPCG(study.TraceSeed, 0)))
	f.omitted.Join(left)
	f.parts += trace.PartsOf(jobs)
	for k := range specs {
		if specs[k].Devices < jobs[k].GPUs {
			f.clipped++
		}
	}
	return specs, err
}

// requests checks that step times are known for all jobs: alone on one device and, if a rigid scheduler is used, with
// the devices and the batch that their users request.
func (f *File) requests(s *adaptive.Study) error {
	for k := range s.Jobs {
		app := s.Jobs[k].App
		if slices.ContainsFunc(s.Jobs[:k], func(j adaptive.Spec) bool { return j.App == app }) {
			continue
		}
		if _, err := app.OneDevice(); err != nil {
			return fmt.Errorf("predict the run time of application %s on a single device: %w", app.Name, err)
		}
	}
	for k := range f.schedulers {
		d := &f.schedulers[k]
		var err error
		if d.Rigid != nil && d.Rigid.Profiles {
			err = besideProfiler(s)
		}
		if err == nil && !d.Kind.Adapts {
			_, err = s.Rigid()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// besideProfiler checks that the largest job fits in the nodes that lucid's profiler leaves free.
func besideProfiler(s *adaptive.Study) error {
	left := (s.Options.Nodes - rigidOptions.Lucid.Nodes) * s.Options.Devices
	for k := range s.Jobs {
		if j := &s.Jobs[k]; j.Devices > left {
			return fmt.Errorf("job %s requests %d devices, but lucid reserves one node for its profiler, "+
				"which leaves %d devices; add nodes, or remove scheduler lucid", j.Name, j.Devices, left)
		}
	}
	return nil
}

// findWorkload returns the path of a table of jobs. It looks for a file, then in the data folder, in its folder
// workloads and in the folders there.
func findWorkload(fsys files.FS, data, name string) (string, error) {
	there := func(path string) bool {
		info, err := fsys.Stat(path)
		return err == nil && !info.IsDir()
	}
	if there(name) || filepath.IsAbs(name) {
		return name, nil
	}
	workloads := filepath.Join(data, "workloads")
	folders := []string{data, workloads}
	entries, err := files.Entries(fsys, workloads)
	if err == nil {
		for _, e := range entries {
			folders = append(folders, filepath.Join(workloads, e.Name()))
		}
	}
	var found []string
	for _, folder := range folders {
		if path := filepath.Join(folder, name); there(path) {
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("file %q not found; looked in %s and in the subfolders of %s", name, data, workloads)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("trace %s is ambiguous: found %s; give the path of one of them", name,
		strings.Join(found, " and "))
}
