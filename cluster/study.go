package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"graft/cluster/trace"
	"graft/internal/validate"
)

// Study is a trace and a cluster, with estimated durations and profiles of the jobs. Simulations do not change a study,
// so several simulations can share it.
type Study struct {
	Jobs    []trace.Job // jobs in order of submission; required
	VCs     []trace.VC  // virtual clusters; required
	PerNode int         // devices per node, up to 64; zero means 8
	Begin   int64       // second at which the simulation begins; earlier jobs are refused

	// processors per node; the processors that a job requests are divided among its devices; zero ignores processors
	CPUs int
	// memory per node in MiB; the memory that a job requests is divided among its devices; zero ignores memory
	Memory int64
	Others []Resource // other counted resources of a node
	// gives a whole device to a job that requests a part of one; false gives it only the requested part, and other jobs
	// can use the remaining part
	WholeGPUs bool

	Estimates []float64  // expected duration of each job in seconds, NaN if unknown; nil without estimates
	Profiles  *Profiles  // profiles of the trained models; nil without profiles
	Forecast  *Forecast  // expected submissions; nil without a forecast
	Speed     SpeedModel // speed model; nil means [LinearSpeed] with the profiles
	// ends a job when it had devices for as long as its time limit; false lets jobs exceed their limits
	Limits bool
	// factor of the time limits in the jobs' deadlines; zero means 1
	DeadlineFactor float64
	Spot           *Spot      // eviction of spot jobs; nil means that spot jobs are as all other jobs
	Types          []NodeType // types of the nodes, at most 64; nil means that all nodes are alike
	Failures       *Failures  // failures of nodes; nil means that no node fails
	// reports whether a job may run on another number of devices than it requests; nil means that all jobs may
	Resizable func(j *trace.Job) bool
	// returns the learner of a pool with these jobs; nil means that no job adapts
	Learner func(jobs []*Job) Learner
}

// Options holds the options for simulating a study. The zero value is valid.
type Options struct {
	Placement string   // placement rule, one of [Placers]; empty means "consolidate"
	Quirks    Quirks   // quirks to keep; nil keeps none
	Workers   int      // number of pools simulated in parallel; zero means one per processor
	Follow    []string // IDs of the jobs whose changes are recorded; nil records none
	Changes   bool     // records the changes of all jobs
	Series    bool     // records the usage of pools over time
	Horizon   int64    // last second in which usage is counted; zero means the last submission
}

// longest is the longest simulated time in seconds: about ten thousand years.
const longest = int64(1) << 38

// maxGPUs is the maximum number of devices of a virtual cluster: demands in thousandths must fit into 31 bits.
const maxGPUs = 1 << 21

// Validate returns an error that lists every fault in a study.
func (s *Study) Validate() error {
	faults := s.validateCluster()
	if s.Estimates != nil && len(s.Estimates) != len(s.Jobs) {
		faults = append(faults, fmt.Errorf("got %d estimates for %d jobs; expected one estimate per "+
			"job", len(s.Estimates),
			len(s.Jobs)))
	}
	faults.When(s.Begin < 0, "the simulation begins at second %d; expected 0 or later", s.Begin)
	if n := len(s.Jobs); n > 0 && s.Jobs[n-1].Submit > longest {
		faults = append(faults, fmt.Errorf("job %s is submitted at second %d; expected at most %d", s.Jobs[n-1].ID,
			s.Jobs[n-1].Submit, longest))
	}
	for k := range s.Jobs {
		if from := s.Jobs[max(0, k-1)].Submit; s.Jobs[k].Submit < from {
			faults = append(faults, fmt.Errorf("job %s is submitted at second %d, after a job at second %d; "+
				"sort jobs by submission", s.Jobs[k].ID, s.Jobs[k].Submit, from))
			break
		}
	}
	return errors.Join(faults...)
}

func (s *Study) validateCluster() (faults validate.Faults) {
	faults.When(len(s.VCs) == 0, "there are no virtual clusters; name at least one and its nodes")
	seen, nodes := map[string]bool{}, 0
	for _, vc := range s.VCs {
		faults.When(vc.Nodes < 0, "virtual cluster %q has %d nodes; expected at least 0", vc.Name, vc.Nodes)
		faults.When(seen[vc.Name], "duplicate virtual cluster %q; rename or remove one", vc.Name)
		seen[vc.Name] = true
		nodes += min(max(0, vc.Nodes), trace.MaxNodes+1)
		faults.When(vc.Nodes <= trace.MaxNodes && vc.Nodes*min(s.largest(), trace.MaxPerNode) > maxGPUs,
			"virtual cluster %q has %d nodes with %d devices each; expected at most %d devices", vc.Name, vc.Nodes,
			s.largest(), maxGPUs)
	}
	faults.When(nodes > trace.MaxNodes, "the cluster has more than the maximum of %d nodes; remove nodes",
		trace.MaxNodes)
	faults.When(s.PerNode < 0 || s.PerNode > trace.MaxPerNode, "a node has %d devices; expected 1 to %d", s.PerNode,
		trace.MaxPerNode)
	faults.When(s.CPUs < 0 || s.Memory < 0, "a node has %d processors and %d MiB of memory; expected at least 0",
		s.CPUs,
		s.Memory)
	for _, resource := range s.Others {
		faults.When(resource.Node < 0 || resource.Of == nil, "a node has %d of resource %q; expected at least 0, "+
			"and a function Of that returns the demand of a job", resource.Node, resource.Name)
	}
	faults.Unless(s.DeadlineFactor >= 0 && s.DeadlineFactor <= math.MaxFloat64, "the deadline factor is %g; expected "+
		"a finite number of at least 0", s.DeadlineFactor)
	if s.Spot != nil {
		faults.When(min(s.Spot.Notice, s.Spot.Save, s.Spot.Checkpoint) < 0, "the notice is %d s, the time to write a "+
			"checkpoint is %d s and the time between checkpoints is %d s; expected at least 0", s.Spot.Notice,
			s.Spot.Save, s.Spot.Checkpoint)
	}
	return append(faults, s.validateTypes()...)
}

func (s *Study) perNode() int { return cmp.Or(s.PerNode, 8) }

// estimate returns the expected duration of a job in seconds; NaN if unknown.
func (s *Study) estimate(k int) float64 {
	if s.Estimates == nil {
		return math.NaN()
	}
	return s.Estimates[k]
}

// Run simulates a study under a policy.
func (s *Study) Run(ctx context.Context, policy Policy, o Options) (*Outcome, error) {
	r := &Run{Study: s, Options: o, policy: policy}
	out, err := r.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("simulate %s: %w", policy.Name, err)
	}
	return out, nil
}
