package main

import (
	"fmt"
)

// clusterRuns is the runs of graft cluster run.
var clusterRuns = &runKind{name: "cluster", title: "cluster simulation", titles: "cluster simulations", fits: isClusterRun, read: readClusterRun}

// isClusterRun says whether a folder's configuration is one of a cluster's.
func isClusterRun(f *runFolderView) bool {
	if !f.has(manifestFile) || !f.has(resolvedFile) {
		return false
	}
	return f.has(clusterTable)
}

// By its table a folder is known as a cluster's.
const (
	clusterStream = "simulations"
	clusterTable  = clusterStream + ".csv"
)

func readClusterRun(f *runFolderView, r *runData) error {
	report := &clusterReport{}
	if err := f.own(r, report); err != nil {
		return err
	}
	r.Seeded = false
	for _, c := range report.Cells {
		add := func(name, unit string, to aim, x *float64) {
			if x != nil {
				r.Quantities = append(r.Quantities, seedless(c.name()+"_"+name, unit, to, *x))
			}
		}
		add("completion", unitSeconds, downward, c.All.Completion.Mean)
		add("queue", unitSeconds, downward, c.All.Queue.Mean)
		add("queue_p999", unitSeconds, downward, c.All.Queue.P999)
		add("slowdown", "", downward, c.All.Slowdown)
		add("used", unitShare, upward, c.Used)
		r.Quantities = append(r.Quantities, seedless(c.name()+"_preemptions", "", noAim, float64(c.All.Preemptions)))
	}
	return nil
}

// readCluster reads the outcome of a simulation of a cluster; nil before its end.
func readCluster(r *runData) (*clusterReport, error) {
	f := &runFolderView{path: r.Path, fsys: r.fsys}
	var err error
	if f.entries, err = r.fsys.ReadDir(r.Path); err != nil {
		return nil, fmt.Errorf("read the outcome of %s: %w", r.Path, err)
	}
	if !f.has(outcomeFile) {
		return nil, nil
	}
	report := &clusterReport{}
	return report, f.own(&runData{}, report)
}

// clusterDetail is the outcome of a simulation of a cluster.
type clusterDetail struct {
	*clusterReport
	all bool
}

func readClusterDetail(r *runData, all bool) (runDetail, error) {
	report, err := readCluster(r)
	if report == nil || err != nil {
		return nil, err
	}
	return &clusterDetail{report, all}, nil
}

func (c *clusterDetail) write(d *document) {
	d.head("schedulers")
	c.clusterReport.write(d, true)
}
