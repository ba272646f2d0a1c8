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

// Study is a trace, a cluster, and what is known about the jobs beforehand. Simulations do not
// change it, so several can run at the same time.
type Study struct {
	Jobs    []trace.Job // in the order of submission; required
	VCs     []trace.VC  // virtual clusters; required
	PerNode int         // devices of a node, up to 64; zero is 8
	Begin   int64       // second at which simulations begin; earlier jobs are refused

	CPUs   int        // processors of a node, of which jobs get as many as they ask for; zero does not count them
	Memory int64      // MiB of a node's memory, likewise; zero does not count it
	Others []Resource // further resources of a node that are counted
	// gives a job that asks for a part of one device all of it; false gives it the part, so that others can
	// have the rest
	WholeGPUs bool

	Estimates []float64  // seconds that each job is expected to take, NaN where unknown; nil has none
	Profiles  *Profiles  // of the models that jobs train; nil has none
	Forecast  *Forecast  // of what will be submitted; nil is none
	Speed     SpeedModel // how fast jobs work; nil is [LinearSpeed] with the profiles
}

// Options say how a study is simulated. The zero value is one way to do it.
type Options struct {
	Placement string // name of one of [Placers]; empty is "consolidate"
	Quirks    Quirks // that are kept; nil keeps none
	Workers   int    // pools that are simulated at a time; zero is one for each processor
	Follow    string // id of the job whose changes are kept; empty keeps none
	Changes   bool   // whether to keep those of all jobs
	Series    bool   // whether to keep how pools were used over time
	Horizon   int64  // second up to which the use of devices is counted; zero is the last submission
}

// longest is the longest time that is simulated, in seconds: some ten thousand years.
const longest = int64(1) << 38

// maxGPUs bounds the devices of a virtual cluster, so that demands in thousandths fit into 31
// bits.
const maxGPUs = 1 << 21

// Validate lists all that is wrong with a study.
func (s *Study) Validate() error {
	faults := s.validateCluster()
	if s.Estimates != nil && len(s.Estimates) != len(s.Jobs) {
		faults = append(faults, fmt.Errorf("%d estimates of %d jobs; expected one for each", len(s.Estimates),
			len(s.Jobs)))
	}
	faults.When(s.Begin < 0, "simulations would begin at second %d; they begin at zero or later", s.Begin)
	if n := len(s.Jobs); n > 0 && s.Jobs[n-1].Submit > longest {
		faults = append(faults, fmt.Errorf("job %s was submitted at %d; no time is later than %d", s.Jobs[n-1].ID,
			s.Jobs[n-1].Submit, longest))
	}
	for k := range s.Jobs {
		if from := s.Jobs[max(0, k-1)].Submit; s.Jobs[k].Submit < from {
			faults = append(faults, fmt.Errorf("job %s was submitted at %d, before %d; "+
				"put jobs in the order of submission", s.Jobs[k].ID, s.Jobs[k].Submit, from))
			break
		}
	}
	return errors.Join(faults...)
}

func (s *Study) validateCluster() (faults validate.Faults) {
	faults.When(len(s.VCs) == 0, "there is no virtual cluster; name at least one with its nodes")
	seen, nodes := map[string]bool{}, 0
	for _, vc := range s.VCs {
		faults.When(vc.Nodes < 0 || seen[vc.Name], "virtual cluster %q has %d nodes or is named twice", vc.Name,
			vc.Nodes)
		seen[vc.Name] = true
		nodes += min(max(0, vc.Nodes), trace.MaxNodes+1)
		faults.When(vc.Nodes <= trace.MaxNodes && vc.Nodes*min(s.perNode(), 64) > maxGPUs,
			"virtual cluster %q has %d nodes of %d devices; it may have up to %d devices", vc.Name, vc.Nodes,
			s.perNode(), maxGPUs)
	}
	faults.When(nodes > trace.MaxNodes, "the cluster has more than %d nodes, which is the most that is simulated",
		trace.MaxNodes)
	faults.When(s.PerNode < 0 || s.PerNode > 64, "nodes of %d devices; there may be 1 to 64", s.PerNode)
	faults.When(s.CPUs < 0 || s.Memory < 0, "nodes of %d processors and %d MiB; neither is negative", s.CPUs, s.Memory)
	for _, resource := range s.Others {
		faults.When(resource.Node < 0 || resource.Of == nil, "resource %q: a node has %d; it has none or more, "+
			"and Of says what a job asks for", resource.Name, resource.Node)
	}
	return faults
}

func (s *Study) perNode() int { return cmp.Or(s.PerNode, 8) }

// estimate returns the expected seconds of a job; NaN is unknown.
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
