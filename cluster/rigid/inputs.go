package rigid

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"graft/cluster"
	"graft/cluster/curves"
	"graft/cluster/failures"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/failure"
)

// inputs hold jobs, their cluster, and the advance information that schedulers may use.
type inputs struct {
	*File
	env        study.Env
	base       cluster.Study        // without estimates, with the arrival times of the trace
	data       cluster.Data         // files in the data folder; zero value without a folder
	estimates  map[string][]float64 // of durations, keyed by source
	population *curves.Population   // curves of networks that grow; nil without curves
	failing    *failures.Source     // failures of nodes; nil if no node fails
	format     string               // of the trace
	undivided  bool                 // one virtual cluster has all jobs and overrides the trace
	replayed   replayed             // how the jobs of the trace are replayed
	left       []study.LeftOut      // jobs that simulations leave out
}

// mostChecked is the largest trace, in bytes, that a quick check reads completely.
const mostChecked = 64 << 20

// open finds the files of a study and reads its virtual clusters.
func (f *File) open(env study.Env) (s *inputs, err error) {
	s = &inputs{File: f, env: env, estimates: map[string][]float64{}}
	if f.Cluster.Data != "" {
		if s.data, err = cluster.FindData(env.Files, f.Cluster.Data); err != nil {
			return nil, err
		}
	}
	return s, s.readNodes()
}

// checkLarge reads the first job of a large trace.
func (f *File) checkLarge(env study.Env, path string) error {
	if _, err := f.open(env); err != nil {
		return err
	}
	r, err := trace.Open(env.Files, path, trace.Options{Format: f.Cluster.Format})
	if err != nil {
		return err
	}
	return errors.Join(r.Read(&trace.Job{}), r.Close())
}

// read reads the files of a configuration for the jobs of a trace.
func (f *File) read(env study.Env, path string) (*inputs, error) {
	s, err := f.open(env)
	if err != nil {
		return nil, err
	}
	read, err := trace.ReadAll(env.Files, path, f.Cluster.TraceOptions(s.names()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read trace %s: %w; name another file in workload.traces (option trace), or create "+
			"one with 'graft trace generate'", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	if len(read.Jobs) == 0 {
		return nil, invalid("%s has no jobs%s", path, f.Cluster.outside())
	}
	if !slices.ContainsFunc(read.Jobs, func(j trace.Job) bool { return j.Duration > 0 }) {
		return nil, invalid("%s has no jobs with a duration; name another trace, or set "+
			"adaptive.data to a folder of applications to simulate adaptive jobs", path)
	}
	s.replayed.omitted.Untimed = read.Skipped
	first := read.Jobs[0].Submit
	if read.Jobs = s.replay(read.Jobs); len(read.Jobs) == 0 {
		return nil, invalid("%s has no job that ran on GPUs and whose end is known; name another trace%s", path,
			remedyFor(read.Format))
	}
	if err := s.rename(read.Jobs); err != nil {
		return nil, err
	}
	s.share(read.Jobs)
	s.base.Jobs, s.base.PerNode, s.base.CPUs, s.format = read.Jobs, f.Cluster.PerNode, f.Cluster.CPUs, read.Format
	s.base.Memory, s.base.WholeGPUs, s.base.Spot = f.Cluster.Memory, f.Cluster.WholeGPUs, f.spot()
	s.base.Limits, s.base.DeadlineFactor = f.Cluster.EnforceLimits, f.Schedule.DeadlineFactor
	if s.base.Begin = f.Cluster.From; s.base.Begin == 0 {
		s.base.Begin = max(0, midnight(first)) // earlier jobs are refused
	}
	if err := errors.Join(s.readKnowledge(read), s.readTraining(), s.readGrowth()); err != nil {
		return nil, err
	}
	if err := s.readFailures(read); err != nil {
		return nil, err
	}
	return s, s.ready()
}

// invalid formats an error about the configuration.
func invalid(format string, args ...any) error {
	return failure.With(failure.Configuration, fmt.Errorf(format, args...))
}

// outside describes a trace without jobs in the simulated part.
func (o *Options) outside() string {
	const remedy = "; change or remove cluster.from_seconds and cluster.to_seconds"
	switch {
	case o.From > 0 && o.To > 0:
		return fmt.Sprintf(" between seconds %d and %d", o.From, o.To) + remedy
	case o.To > 0:
		return fmt.Sprintf(" before second %d", o.To) + remedy
	case o.From > 0:
		return fmt.Sprintf(" after second %d", o.From) + remedy
	}
	return "; name another trace"
}

// remedyFor returns a further remedy for a trace without GPUs.
func remedyFor(format string) string {
	if format != "slurm" {
		return ""
	}
	return ", or export it with the columns AllocTRES and ReqTRES from a Slurm whose AccountingStorageTRES has gres/gpu"
}

// readFailures reads the failures of nodes, and plans them once to find faults before anything is written.
func (s *inputs) readFailures(read *trace.Trace) (err error) {
	if !s.File.Failures.Enabled() {
		return nil
	}
	if s.failing, err = s.File.Failures.Read(s.env.Files); err == nil {
		s.failing.Start, s.failing.Begin = read.Start, s.base.Begin
		s.failing.Last = read.Jobs[len(read.Jobs)-1].Submit
		if err = s.failing.FitRows(s.base.VCs, s.base.Begin); err == nil {
			_, err = s.failures(s.Schedule.Seed)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; set failures.file (option failures) to another file", err)
	}
	return failure.With(failure.Configuration, err)
}

// failures plans the failures of nodes with a seed; nil if no node fails.
func (s *inputs) failures(seed uint64) (*cluster.Failures, error) {
	if s.failing == nil {
		return nil, nil
	}
	o := &s.failing.Options
	plans, err := s.failing.Schedules(s.base.VCs, s.base.Begin, seed)
	return &cluster.Failures{Pools: plans, Spares: o.SpareNodes, Checkpoint: o.Checkpoint, Restart: o.Restart,
		Shrink: o.OnFailure == failures.ByShrink, Preempt: o.OnDrain == failures.ByPreempt}, err
}

const secondsOfDay = 86_400

// midnight is the last midnight before or at a second of the trace. Second zero is a midnight.
func midnight(second int64) int64 {
	return second - (second%secondsOfDay+secondsOfDay)%secondsOfDay
}

// undividedName is the name of the single virtual cluster of an undivided cluster.
const undividedName = "all"

// readNodes reads the virtual clusters, or makes one for all jobs from a number of nodes.
func (s *inputs) readNodes() (err error) {
	if s.Cluster.VCFile == "" && len(s.Cluster.Types) > 0 {
		s.base.Types = s.Cluster.types(nil)
		s.base.VCs, s.undivided = []trace.VC{{Name: undividedName, Nodes: s.Cluster.typedNodes()}}, true
		return nil
	}
	if s.Cluster.Nodes > 0 {
		s.base.VCs, s.undivided = []trace.VC{{Name: undividedName, Nodes: s.Cluster.Nodes}}, true
		return nil
	}
	path := cmp.Or(s.Cluster.VCFile, s.data.Nodes)
	if path == "" {
		return invalid("%s has no vc_config.csv; set cluster.vc_file (option vc-file) to a file of virtual clusters "+
			"and their nodes", s.Cluster.Data)
	}
	if s.base.VCs, err = trace.ReadNodes(s.env.Files, path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read virtual clusters %s: %w; set cluster.vc_file (option vc-file) to another file, or "+
			"cluster.nodes (option nodes) to a number of nodes", path, fs.ErrNotExist)
	}
	if err == nil {
		s.base.Types, err = s.Cluster.types(s.base.VCs), s.Cluster.checkTypes(s.base.VCs, path)
	}
	return err
}

// names returns the virtual clusters whose jobs count; nil means all.
func (s *inputs) names() []trace.VC {
	if s.undivided {
		return nil
	}
	return s.base.VCs
}

// share assigns jobs to the only virtual cluster: all jobs if the cluster is undivided, otherwise the jobs without a
// virtual cluster.
func (s *inputs) share(jobs []trace.Job) {
	if len(s.base.VCs) != 1 {
		return
	}
	for k := range jobs {
		if s.undivided || jobs[k].VC == "" {
			jobs[k].VC = s.base.VCs[0].Name
		}
	}
}

// readKnowledge reads profiles of models and a forecast if their files exist.
func (s *inputs) readKnowledge(read *trace.Trace) error {
	var err error
	if s.data.Alone != "" && s.data.Pairs != "" {
		if s.base.Profiles, err = cluster.ReadProfiles(s.env.Files, s.data.Alone, s.data.Pairs); err != nil {
			return err
		}
	}
	if s.data.Forecast == "" {
		return nil
	}
	s.base.Forecast, err = cluster.ReadForecast(s.env.Files, s.data.Forecast, s.base.Begin)
	if err == nil && !read.Start.IsZero() && s.corrected() {
		s.base.Forecast.ShiftTo(read.Start)
	}
	return err
}
