package study

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"graft/cluster"
)

// Cell identifies one simulation of a plan by the indexes of its point (combination of swept values), workload and
// scheduler, and by the number of its run.
type Cell struct {
	Point, Workload, Scheduler, Run int
	Seed                            uint64         // seed of the random draws, or number of the learned policy
	Quirks                          cluster.Quirks // quirks that replace the quirks of the file, for ablations only
	Ablated                         bool           // uses Quirks instead of the quirks of the file
	Tables                          *Tables        // writer of tables in the cell's folder; nil writes none
}

// Result holds the metrics of one simulation.
type Result struct {
	Values Values // values by key of the metric; a metric that does not apply is missing
	// Samples holds each job's value of the first metric in Plan.Rank, in the same order under every scheduler. The
	// value is NaN for a job that was left out.
	Samples []float64
	// States holds a digest of each job's history. Ablations use the digests to count changed jobs; without digests,
	// they compare samples.
	States []uint64
	Parts  []Part            // metrics of groups of the jobs
	Left   []LeftOut         // number of jobs that were left out, by reason
	Facts  map[string]string // texts about the cell, such as digests; each key ends with its unit
}

// Values maps the key of each metric to its value.
type Values map[string]Number

// Part holds metrics of a group of jobs.
type Part struct {
	Group  string `json:"group"`  // name of the grouping, such as size
	Name   string `json:"name"`   // name of the group, unique in its grouping
	Values Values `json:"values"` // values by key of the metric
}

// NodeNames is the name of the fact that maps names of nodes to their places, as VC/NODE.
const NodeNames = "node_names"

// NotScheduled explains why a simulation does not have a job, with a remedy.
const NotScheduled = "it is not in the trace, was left out (no GPUs, or never started), or is outside the simulated " +
	"part; check the ID, or change cluster.from_seconds and cluster.to_seconds"

// LeftOut counts the jobs that were omitted for one reason.
type LeftOut struct {
	Why     string `json:"why"`     // reason, worded as the end of a sentence
	Jobs    int    `json:"jobs"`    // number of jobs
	Example string `json:"example"` // first such job
}

// LeftOutText lists omitted jobs by reason, each with an example.
func LeftOutText(list []LeftOut) string {
	var texts []string
	for _, l := range list {
		texts = append(texts, fmt.Sprintf("%d %s, such as job %s", l.Jobs, l.Why, l.Example))
	}
	return strings.Join(texts, "; ")
}

// safeName replaces characters that are unsuitable in file names.
var safeName = strings.NewReplacer("/", "-", `\`, "-", ":", "-", " ", "-", ",", "")

// folder is the folder of a cell's tables in the run folder: SCHEDULER, inside POINT and WORKLOAD if there are several,
// and with suffix -seed-N if the scheduler has several simulations of a workload.
func (p *Plan) folder(c *Cell) string {
	s := &p.Schedulers[c.Scheduler]
	name := s.Name
	if s.runs() > 1 {
		name = fmt.Sprintf("%s-seed-%d", s.Name, c.Seed)
	}
	var parts []string
	if len(p.Points) > 1 {
		parts = append(parts, p.pointFolder(c.Point))
	}
	if len(p.Workloads) > 1 {
		parts = append(parts, safeName.Replace(p.Workloads[c.Workload]))
	}
	if c.Ablated {
		parts = append(parts, ablationFolder)
		name += "-" + safeName.Replace(strings.Join(append([]string{"with"}, c.Quirks...), "-"))
	}
	return filepath.Join(append(parts, name)...)
}

// ablationFolder holds the cells of ablations, which have no tables, until the outcome is written.
const ablationFolder = "ablation"

func (p *Plan) pointFolder(k int) string {
	if name := safeName.Replace(p.Points[k].Name); name != "" {
		return name
	}
	return "point-" + strconv.Itoa(k+1)
}

// cells lists the cells of a plan, point by point, workload by workload.
func (p *Plan) cells() (all []Cell) {
	for point := range p.Points {
		for workload := range p.Workloads {
			all = append(all, p.cellsOf(point, workload)...)
		}
	}
	return all
}

func (p *Plan) cellsOf(point, workload int) (all []Cell) {
	for k := range p.Schedulers {
		for run := range p.Schedulers[k].runs() {
			c := Cell{Point: point, Workload: workload, Scheduler: k, Run: run, Seed: p.Schedulers[k].seed(run)}
			all = append(all, c)
		}
	}
	return all
}

// ablations lists the cells of the ablations: for each scheduler the cells without quirks, unless the plan has them
// already, then the cells of each quirk.
func (p *Plan) ablations() (all []Cell) {
	for _, a := range p.Ablation {
		for point := range max(1, p.AblatePoints) {
			if !p.NoQuirks {
				all = append(all, p.ablated(a.Scheduler, point, nil)...)
			}
			for k := range a.Quirks {
				all = append(all, p.ablated(a.Scheduler, point, cluster.QuirksOf(a.Quirks[k:k+1]))...)
			}
		}
	}
	return all
}

// ablated lists the cells of a scheduler at a point with some quirks: for the first seed, or for every learned policy.
func (p *Plan) ablated(scheduler, point int, quirks cluster.Quirks) (all []Cell) {
	s := &p.Schedulers[scheduler]
	for workload := range max(1, p.AblateWorkloads) {
		for run := range max(1, s.Learned) {
			all = append(all, Cell{Point: point, Workload: workload, Scheduler: scheduler, Run: run, Seed: s.seed(run),
				Quirks: quirks, Ablated: true})
		}
	}
	return all
}
