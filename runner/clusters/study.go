package clusters

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/config"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/app"
)

// study is jobs on a cluster, and what schedulers may know of them beforehand.
type study struct {
	*config.Cluster
	env       *app.Env
	base      cluster.Study        // without estimates, at a load of one
	data      cluster.Data         // files in the folder of data; the zero value has none
	estimates map[string][]float64 // of durations, by source
	format    string               // of the trace; empty for jobs that were handed in
	undivided bool                 // one virtual cluster has all jobs, whatever the trace says
}

// mostChecked is the size in bytes of a trace of which Check reads all.
const mostChecked = 64 << 20

// Check returns what keeps Run from simulating: it reads all files that a configuration
// names, and of a trace above 64 MiB the first job.
func Check(env *app.Env, c *config.Cluster) error {
	if info, err := env.Files.Stat(c.Cluster.Trace); err == nil && info.Size() > mostChecked {
		return checkLarge(env, c)
	}
	s, err := readStudy(env, c)
	if err != nil {
		return err
	}
	return s.ready()
}

func checkLarge(env *app.Env, c *config.Cluster) error {
	if _, err := openStudy(env, c); err != nil {
		return err
	}
	r, err := trace.Open(env.Files, c.Cluster.Trace, trace.Options{Format: c.Cluster.Format})
	if err != nil {
		return app.ReadFault(err)
	}
	return app.ReadFault(errors.Join(r.Read(&trace.Job{}), r.Close()))
}

// openStudy finds the files of a study and reads its virtual clusters.
func openStudy(env *app.Env, c *config.Cluster) (s *study, err error) {
	s = &study{Cluster: c, env: env, estimates: map[string][]float64{}}
	if c.Cluster.Data != "" {
		if s.data, err = cluster.FindData(env.Files, c.Cluster.Data); err != nil {
			return nil, err
		}
	}
	return s, s.readNodes()
}

// readStudy reads the files that a configuration names.
func readStudy(env *app.Env, c *config.Cluster) (*study, error) {
	s, err := openStudy(env, c)
	if err != nil {
		return nil, err
	}
	read, err := trace.ReadAll(env.Files, c.Cluster.Trace, c.Cluster.TraceOptions(s.names()))
	if err != nil {
		return nil, app.ReadFault(err)
	}
	if len(read.Jobs) == 0 {
		return nil, fmt.Errorf("no job of %s is between the seconds %d and %d; "+
			"give another option from and option to, or none", c.Cluster.Trace, c.Cluster.From, c.Cluster.To)
	}
	if !slices.ContainsFunc(read.Jobs, func(j trace.Job) bool { return j.Duration > 0 }) {
		return nil, fmt.Errorf("no job of %s has a duration; name another trace, or run it as adaptive jobs, "+
			"with the folder of its applications", c.Cluster.Trace)
	}
	s.share(read.Jobs)
	s.base.Jobs, s.base.PerNode, s.base.CPUs, s.format = read.Jobs, c.Cluster.PerNode, c.Cluster.CPUs, read.Format
	s.base.Memory, s.base.WholeGPUs = c.Cluster.Memory, c.Cluster.WholeGPUs
	if s.base.Begin = c.Cluster.From; s.base.Begin == 0 {
		s.base.Begin = max(0, app.Midnight(read.Jobs[0].Submit)) // earlier jobs are refused
	}
	return s, s.readKnowledge(read)
}

// undividedName is the one virtual cluster of a cluster that is not divided.
const undividedName = "all"

// readNodes reads the virtual clusters. A number is the nodes of one for all jobs.
func (s *study) readNodes() (err error) {
	nodes := cmp.Or(s.Cluster.Cluster.Nodes, s.data.Nodes)
	if nodes == "" {
		return failure.Usagef("there is no vc_config.csv in %s; "+
			"name a file of the virtual clusters and their nodes with option nodes", s.Cluster.Cluster.Data)
	}
	if count, err := strconv.Atoi(nodes); err == nil || errors.Is(err, strconv.ErrRange) {
		if count < 1 || count > trace.MaxNodes {
			return failure.Usagef("a cluster has 1 to %d nodes, not %s", trace.MaxNodes, nodes)
		}
		s.base.VCs, s.undivided = []trace.VC{{Name: undividedName, Nodes: count}}, true
		return nil
	}
	s.base.VCs, err = trace.ReadNodes(s.env.Files, nodes)
	return app.ReadFault(err)
}

// names are the virtual clusters whose jobs count; none is all.
func (s *study) names() []trace.VC {
	if s.undivided {
		return nil
	}
	return s.base.VCs
}

// share gives jobs to the only virtual cluster: all of them where the cluster is not divided,
// else those without one.
func (s *study) share(jobs []trace.Job) {
	if len(s.base.VCs) != 1 {
		return
	}
	for k := range jobs {
		if s.undivided || jobs[k].VC == "" {
			jobs[k].VC = s.base.VCs[0].Name
		}
	}
}

// readKnowledge reads profiles of models and a forecast, where there are files of them.
func (s *study) readKnowledge(read *trace.Trace) error {
	var err error
	if s.data.Alone != "" && s.data.Pairs != "" {
		if s.base.Profiles, err = cluster.ReadProfiles(s.env.Files, s.data.Alone, s.data.Pairs); err != nil {
			return app.ReadFault(err)
		}
	}
	if s.data.Forecast == "" {
		return nil
	}
	s.base.Forecast, err = cluster.ReadForecast(s.env.Files, s.data.Forecast, s.base.Begin)
	if err == nil && !read.Start.IsZero() && s.corrected() {
		s.base.Forecast.ShiftTo(read.Start)
	}
	return app.ReadFault(err)
}

// report returns the part of the outcome that is known before any simulation.
func (s *study) report() *runs.ClusterOutcome {
	c := s.Cluster.Cluster
	report := &runs.ClusterOutcome{Trace: c.Trace, Format: s.format, Jobs: len(s.base.Jobs), Pools: len(s.base.VCs),
		Begin: s.base.Begin, Placement: c.Placement, Compat: c.Compat}
	for _, vc := range s.base.VCs {
		report.GPUs += vc.Nodes * s.base.PerNode
	}
	return report
}
