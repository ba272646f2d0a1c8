package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/config"
	"graft/files"
	"graft/results/failure"
	"graft/results/runs"
)

// clusterStudy is a trace and a cluster, as they were read, and what may be known of them.
type clusterStudy struct {
	*config.Cluster
	study     cluster.Study
	data      cluster.Data
	estimates map[string][]float64 // by where they come from
	format    string               // of the trace
	undivided bool                 // all jobs are in one virtual cluster, whatever the trace says
}

// dataFault gives an error of a file that is there, but not what it should be, its code.
func dataFault(err error) error {
	if err == nil || runs.NotThere(err) {
		return err
	}
	return failure.AsDamage(err)
}

func readClusterStudy(c *config.Cluster) (*clusterStudy, error) {
	s := &clusterStudy{Cluster: c, estimates: map[string][]float64{}}
	var err error
	if c.Cluster.Data != "" {
		if s.data, err = cluster.FindData(files.OS{}, c.Cluster.Data); err != nil {
			return nil, err
		}
	}
	if err := s.readNodes(); err != nil {
		return nil, err
	}
	spareCollection(c.Cluster.Trace)
	read, err := trace.ReadAll(files.OS{}, c.Cluster.Trace, c.Cluster.TraceOptions(s.names()))
	if err != nil {
		return nil, dataFault(err)
	}
	if len(read.Jobs) == 0 {
		return nil, fmt.Errorf("no job of %s is between the seconds %d and %d; give another --from and --to, or none", c.Cluster.Trace, c.Cluster.From, c.Cluster.To)
	}
	s.share(read.Jobs)
	s.study.Jobs, s.study.PerNode, s.study.CPUs, s.format = read.Jobs, c.Cluster.PerNode, c.Cluster.CPUs, read.Format
	s.study.Memory, s.study.WholeGPUs = c.Cluster.Memory, c.Cluster.WholeGPUs
	if s.study.Begin = c.Cluster.From; s.study.Begin == 0 {
		s.study.Begin = max(0, floorDay(read.Jobs[0].Submit)) // what is earlier is refused
	}
	return s, s.know(read)
}

// everybody is the one virtual cluster of a cluster that is not divided.
const everybody = "all"

// readNodes reads the virtual clusters; a number is that of the nodes of one for all jobs.
func (s *clusterStudy) readNodes() (err error) {
	nodes := cmp.Or(s.Cluster.Cluster.Nodes, s.data.Nodes)
	if nodes == "" {
		return failure.Usagef("there is no vc_config.csv in %s; name a file of the virtual clusters and their nodes with --nodes", s.Cluster.Cluster.Data)
	}
	if count, err := strconv.Atoi(nodes); err == nil {
		if count <= 0 || count > trace.MaxNodes {
			return failure.Usagef("a cluster has 1 to %d nodes, not %d", trace.MaxNodes, count)
		}
		s.study.VCs, s.undivided = []trace.VC{{Name: everybody, Nodes: count}}, true
		return nil
	}
	s.study.VCs, err = trace.ReadNodes(files.OS{}, nodes)
	return dataFault(err)
}

// names are the virtual clusters whose jobs count; none is all.
func (s *clusterStudy) names() []trace.VC {
	if s.undivided {
		return nil
	}
	return s.study.VCs
}

// share gives jobs to the one virtual cluster that there is: all of them where the cluster is
// not divided, else those of traces that name none.
func (s *clusterStudy) share(jobs []trace.Job) {
	if len(s.study.VCs) != 1 {
		return
	}
	for k := range jobs {
		if s.undivided || jobs[k].VC == "" {
			jobs[k].VC = s.study.VCs[0].Name
		}
	}
}

// Of a large trace little of what is allocated is ever given up, so that to wait with
// collection until twice of it is there would only waste memory; of a small one it is over
// before there is much to collect. GOGC has the last word.
const (
	largeTrace     = 32 << 20 // bytes of the file
	collectedAfter = 25       // percent more than what is used
	smallCollected = 400      // the same
)

func spareCollection(path string) {
	if os.Getenv("GOGC") != "" {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Size() > largeTrace {
		debug.SetGCPercent(collectedAfter)
		return
	}
	debug.SetGCPercent(smallCollected)
}

func floorDay(second int64) int64 {
	return int64(math.Floor(float64(second)/runs.SecondsOfDay)) * runs.SecondsOfDay
}

// know reads what all schedulers may use, if it is there.
func (s *clusterStudy) know(read *trace.Trace) error {
	var err error
	if s.data.Alone != "" && s.data.Pairs != "" {
		if s.study.Profiles, err = cluster.ReadProfiles(files.OS{}, s.data.Alone, s.data.Pairs); err != nil {
			return dataFault(err)
		}
	}
	if s.data.Forecast == "" {
		return nil
	}
	s.study.Forecast, err = cluster.ReadForecast(files.OS{}, s.data.Forecast, s.study.Begin)
	if err == nil && !read.Start.IsZero() && s.Cluster.Cluster.Compat == config.CompatNone {
		s.study.Forecast.ShiftTo(read.Start)
	}
	return dataFault(err)
}

// policy is how a scheduler is called with what the file says.
func (s *clusterStudy) policy(name string) cluster.Policy {
	p, _ := s.Options.Named(name) // the file was checked
	return p
}

// with is the study with the estimates that a scheduler has, at a load.
func (s *clusterStudy) with(p cluster.Policy, load float64) (*cluster.Study, error) {
	study := s.study
	if p.Estimates != "" || s.Schedule.Estimates != "" {
		var err error
		if study.Estimates, err = s.estimated(p); err != nil {
			return nil, err
		}
	}
	if load != 1 {
		study.Jobs = slices.Clone(study.Jobs)
		for k := range study.Jobs {
			j := &study.Jobs[k]
			j.Submit = study.Begin + int64(float64(j.Submit-study.Begin)/load)
		}
	}
	return &study, nil
}

// ready reads what schedulers need before anything is written, and says what is missing.
// What is read is shared by simulations afterwards.
func (s *clusterStudy) ready() error {
	for _, name := range s.Schedule.Schedulers {
		p := s.policy(name)
		if _, err := s.with(p, 1); err != nil {
			return err
		}
		if p.Profiles && s.study.Profiles == nil {
			return failure.Usagef("%s needs the profiles of models alone and in pairs; name a folder with single_data.csv and colocate_info.csv with --data", name)
		}
	}
	return nil
}

// estimated are the estimates of a scheduler.
func (s *clusterStudy) estimated(policy cluster.Policy) ([]float64, error) {
	which := cmp.Or(s.Schedule.Estimates, policy.Estimates)
	if known := s.estimates[which]; known != nil {
		return known, nil
	}
	list, err := s.readEstimates(which, policy.Name)
	if err == nil {
		s.estimates[which] = list
	}
	return list, err
}

func (s *clusterStudy) readEstimates(which, policy string) ([]float64, error) {
	path := which
	switch which {
	case "exact":
		list := make([]float64, len(s.study.Jobs))
		for k := range list {
			list[k] = float64(s.study.Jobs[k].Duration)
		}
		return list, nil
	case "lgb":
		path = s.data.LGB
	case "ebm":
		path = s.data.EBM
	}
	if path == "" {
		return nil, failure.With(failure.Usage, fmt.Errorf("%s needs estimates of how long jobs take, and there is no file *_%s*.csv in --data; name a file with --estimates, make one with 'graft cluster estimate', or let it know with --estimates exact", policy, which))
	}
	list, err := cluster.ReadEstimates(files.OS{}, path, s.study.Jobs)
	return list, dataFault(err)
}

// quirks are those that are kept.
func (s *clusterStudy) quirks(policy cluster.Policy) cluster.Quirks {
	if s.Cluster.Cluster.Compat == config.CompatLucid {
		return policy.AllQuirks()
	}
	return nil
}
