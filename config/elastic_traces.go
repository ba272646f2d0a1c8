package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"graft/cluster/elastic"
	"graft/cluster/trace"
	"graft/internal/files"
)

// isClusterTrace reports whether a file of jobs is the trace of a cluster. One of elastic jobs is an object
// of JSON; a damaged one is known by its name.
func isClusterTrace(fsys files.FS, path string) (bool, error) {
	head, err := headOf(fsys, path)
	if err != nil {
		return false, err
	}
	begin := bytes.TrimLeft(head, "\ufeff \t\r\n")
	if filepath.Ext(path) == ".json" {
		return bytes.HasPrefix(begin, []byte("[")), nil
	}
	return !bytes.HasPrefix(begin, []byte("{")), nil
}

// headOf returns the first bytes of a file.
func headOf(fsys files.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return head[:n], nil
}

// readJobs reads a trace of elastic jobs.
func (w *elasticWorld) readJobs(fsys files.FS, path string) (*elastic.Trace, error) {
	return readJSON(fsys, path, func(in io.Reader) (*elastic.Trace, error) {
		return elastic.ReadTrace(in, len(w.types))
	})
}

// traceSeed draws the types of jobs without a known model.
const traceSeed = 1

// readTrace reads a trace of either kind. All of the world but its own trace has been read.
func (w *elasticWorld) readTrace(fsys files.FS, path string, given *ElasticOptions) (*elastic.Trace, error) {
	clustered, err := isClusterTrace(fsys, path)
	if err != nil {
		return nil, err
	}
	if !clustered {
		return w.readJobs(fsys, path)
	}
	jobs, err := elastic.ReadClusterTrace(fsys, path)
	if err != nil {
		return nil, err
	}
	t, err := w.workload(jobs, elastic.TraceOptions{}, traceSeed, given)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// workload makes elastic jobs of jobs of a cluster, with the settings of the world's trace.
func (w *elasticWorld) workload(jobs []trace.Job, o elastic.TraceOptions, seed uint64,
	given *ElasticOptions) (*elastic.Trace, error) {
	t := &elastic.Trace{}
	if w.trace != nil {
		t.Settings = w.trace.Settings
	}
	var err error
	t.Jobs, _, err = elastic.FromTrace(jobs, w.study(t, given), o, elastic.NewDraws(seed))
	return t, err
}

// divide makes the workloads of the trace of a cluster.
func (l *ElasticLearning) divide(fsys files.FS) error {
	o := &l.Workloads
	jobs, err := elastic.ReadClusterTrace(fsys, o.From)
	if err != nil {
		return err
	}
	t := &elastic.Trace{Settings: l.settings()}
	size := t.Settings.Generate
	size.EnsureDefaults()
	gap := int64(math.Ceil(l.world.study(t, &l.Elastic).Options.Slot))
	parts, err := elastic.Divide(jobs, size.Jobs, gap, o.TrainCount, o.ValidationCount, o.TestCount)
	if err != nil {
		return fmt.Errorf("%s: %w", o.From, err)
	}
	for purpose, into := range []*[]elastic.Study{&l.train, &l.validation, &l.test} {
		for k, jobs := range parts[purpose] {
			t, err := l.world.workload(jobs, elastic.TraceOptions{MaxEpochs: o.Epochs, EpochError: o.EpochError},
				o.seed(purpose, k), &l.Elastic)
			s := elastic.Study{}
			if err == nil {
				s = l.world.study(t, &l.Elastic)
				err = s.Validate()
			}
			if err != nil {
				return fmt.Errorf("%s: %w", o.From, err)
			}
			*into = append(*into, s)
		}
	}
	return nil
}

// seed is that of the k-th workload of a purpose.
func (o *WorkloadOptions) seed(purpose, k int) uint64 {
	return o.Seed<<32 + uint64(purpose*mostWorkloads+k)
}
