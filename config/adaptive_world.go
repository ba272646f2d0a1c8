package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/adaptive"
	"graft/cluster/elastic"
	"graft/cluster/study"
	"graft/config/decode"
	"graft/internal/files"
)

// AdaptiveWorkload holds the jobs of a trace on the cluster.
type AdaptiveWorkload struct {
	Name  string // of its folder in a run, unique
	Path  string // of its file
	Study adaptive.Study
}

// adaptiveWorld holds the contents of the files that the section adaptive names.
type adaptiveWorld struct {
	workloads []AdaptiveWorkload
	contents  string // digest of all files
}

// read reads applications and workloads, and blames what is wrong.
func (w *adaptiveWorld) read(fsys files.FS, r *decode.Reading, a *Adaptive) {
	o := &a.Adaptive
	noted := &notedFiles{FS: fsys}
	apps, err := adaptive.ReadApplications(noted, o.Data, adaptive.KnownApplications())
	if err != nil {
		r.Blame("adaptive.data", r.Elsewhere("adaptive.data", err).Error())
		return
	}
	w.workloads = nil
	for k, trace := range o.Traces {
		path, err := findWorkload(fsys, o.Data, trace)
		var jobs []adaptive.Spec
		if err == nil {
			jobs, err = readWorkload(noted, path, apps, o.cluster())
		}
		if err != nil {
			r.Blame("adaptive.traces", fmt.Sprintf("traces[%d]: %v", k, r.Elsewhere("adaptive.traces", err, k)))
			continue
		}
		c := o.cluster()
		c.Quirks = a.Quirks()
		s := adaptive.Study{Jobs: jobs, Options: *c}
		if err := errors.Join(s.Validate(), a.requests(&s)); err != nil {
			r.Blame("adaptive.traces", fmt.Sprintf("traces[%d]: %s: %v", k, path, err))
			continue
		}
		w.workloads = append(w.workloads, AdaptiveWorkload{Path: path, Study: s})
	}
	if err := nameWorkloads(w.workloads); err != nil {
		r.Blame("adaptive.traces", err.Error())
	}
	if w.contents, err = noted.digest(); err != nil {
		r.Blame("adaptive.data", err.Error())
	}
}

// readWorkload reads a table of adaptive jobs, known by its columns, or a trace of a cluster, whose jobs get
// applications of their sizes.
func readWorkload(fsys files.FS, path string, apps map[string]*adaptive.Application,
	o *adaptive.Options) ([]adaptive.Spec, error) {
	head, err := files.Head(fsys, path)
	if err != nil {
		return nil, err
	}
	if line, _, _ := strings.Cut(string(head), "\n"); strings.Contains(line, "num_replicas") ||
		strings.Contains(line, ",application") {
		return adaptive.ReadWorkload(fsys, path, apps)
	}
	jobs, err := elastic.ReadClusterTrace(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("%w; or name a table with columns name, time, application, "+
			"num_replicas and batch_size", err)
	}
	return adaptive.FromTrace(jobs, apps, *o, seeded(study.TraceSeed, 0))
}

// requests checks that steps of all jobs have known times with what their users ask for, if a scheduler takes
// it, and those of their applications on one device.
func (a *Adaptive) requests(s *adaptive.Study) error {
	if s.Validate() != nil {
		return nil
	}
	for k := range s.Jobs {
		app := s.Jobs[k].App
		if slices.ContainsFunc(s.Jobs[:k], func(j adaptive.Spec) bool { return j.App == app }) {
			continue
		}
		if _, err := app.OneDevice(); err != nil {
			return fmt.Errorf("application %s alone on one device: %w", app.Name, err)
		}
	}
	for _, name := range a.Schedule.Schedulers {
		d, err := a.Scheduler(name, 0)
		if err == nil && d.Rigid != nil && d.Rigid.Profiles {
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

// besideProfiler checks that the largest job fits beside the profiler of lucid.
func besideProfiler(s *adaptive.Study) error {
	left := (s.Options.Nodes - rigidOptions.Lucid.Nodes) * s.Options.Devices
	for k := range s.Jobs {
		if j := &s.Jobs[k]; j.Devices > left {
			return fmt.Errorf("job %s asks for %d devices, and lucid keeps one node for its profiler, "+
				"which leaves %d; add nodes, or leave out lucid", j.Name, j.Devices, left)
		}
	}
	return nil
}

// findWorkload is the path of a table of jobs: that of a file, or of one in the folder of data or in that of
// its workloads.
func findWorkload(fsys files.FS, data, trace string) (string, error) {
	there := func(path string) bool {
		info, err := fsys.Stat(path)
		return err == nil && !info.IsDir()
	}
	if there(trace) || filepath.IsAbs(trace) {
		return trace, nil
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
		if path := filepath.Join(folder, trace); there(path) {
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: no such file, in %s and the folders of %s neither", trace, data, workloads)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s may be %s; name one with its folder", trace, strings.Join(found, " or "))
}

// nameWorkloads names workloads after their files, with the folder where that is not enough.
func nameWorkloads(list []AdaptiveWorkload) error {
	base := func(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
	count := map[string]int{}
	for _, w := range list {
		count[base(w.Path)]++
	}
	seen := map[string]string{}
	for k := range list {
		w := &list[k]
		if w.Name = base(w.Path); count[w.Name] > 1 {
			w.Name = filepath.Base(filepath.Dir(w.Path)) + "-" + w.Name
		}
		if other := seen[w.Name]; other != "" {
			return fmt.Errorf("traces %s and %s would have the same name %s in the run folder; rename a file", other,
				w.Path, w.Name)
		}
		seen[w.Name] = w.Path
	}
	return nil
}

// notedFiles notes the files that are opened.
type notedFiles struct {
	files.FS
	paths []string
}

// Open notes a file that is there.
func (n *notedFiles) Open(path string) (files.File, error) {
	f, err := n.FS.Open(path)
	if err == nil {
		n.paths = append(n.paths, path)
	}
	return f, err
}

// digest is the SHA-256 in hex of the names and the contents of all files that were opened.
func (n *notedFiles) digest() (string, error) {
	h := sha256.New()
	for _, path := range n.paths {
		f, err := n.FS.Open(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, filepath.Base(path))
		if _, err = io.Copy(h, f); err != nil {
			return "", errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
		}
		if err = f.Close(); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
