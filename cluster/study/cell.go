package study

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"graft/cluster"
)

// Cell identifies a simulation by places in the lists of the plan.
type Cell struct {
	Point, Workload, Scheduler, Run int
	Seed                            uint64         // of the draws, or number of the policy
	Quirks                          cluster.Quirks // in place of those of the file; used in ablations alone
	Ablated                         bool           // Quirks count
	Tables                          *Tables        // of the cell's folder; nil writes none
}

// Result is the result of a cell.
type Result struct {
	Values Values // by key of the metric; what does not apply is missing
	// Samples has the first ranked metric for each job of the workload, in the same order under every scheduler;
	// NaN for a job that was left out.
	Samples []float64
	// States are digests of what happened to each job, by which ablations count changed jobs; nil compares samples.
	States []uint64
	Parts  []Part            // metrics of groups of the jobs
	Left   []LeftOut         // jobs that were left out, by reason
	Facts  map[string]string // texts about the cell, such as digests; a key ends in the unit of its value
}

// Values are values of metrics by key.
type Values map[string]Number

// Part holds metrics of some of the jobs.
type Part struct {
	Group  string `json:"group"`  // how jobs are grouped, such as size
	Name   string `json:"name"`   // of the part, unique in its group
	Values Values `json:"values"` // by key of the metric
}

// LeftOut counts jobs that were left out for one reason.
type LeftOut struct {
	Why     string `json:"why"`     // reason, as the end of a sentence
	Jobs    int    `json:"jobs"`    // number of jobs
	Example string `json:"example"` // first of them
}

// safeName replaces characters that file names should not have.
var safeName = strings.NewReplacer("/", "-", `\`, "-", ":", "-", " ", "-", ",", "")

// folder is the folder of a cell's tables in the run folder: SCHEDULER, below POINT and WORKLOAD where there
// are several, and with -seed-N where the scheduler has several simulations of a workload.
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

// ablationFolder holds the cells of ablations, which have no tables, until the run has its outcome.
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

// ablations lists the cells of the ablations: for each scheduler those without quirks, then those of each quirk.
func (p *Plan) ablations() (all []Cell) {
	for _, a := range p.Ablation {
		for point := range max(1, p.AblatePoints) {
			all = append(all, p.ablated(a.Scheduler, point, nil)...)
			for k := range a.Quirks {
				all = append(all, p.ablated(a.Scheduler, point, cluster.QuirksOf(a.Quirks[k:k+1]))...)
			}
		}
	}
	return all
}

// ablated lists the cells of a scheduler at a point with some quirks: the first seed, or every learned policy.
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
