package fabric

import (
	"math"
	"math/bits"

	"graft/cluster"
)

// Rings is a [cluster.LinkModel] of jobs that train data-parallel on the nodes of a cluster. In each step, a job
// computes and then exchanges gradients in a ring over its nodes. The nodes are servers of a tree, whose links the
// rings share.
//
// A job that shares links alternates between computing and transfers over links, and so do the others. While all of
// them transfer, they share links with max-min fairness. The transfers of a job therefore take 1 + (s-1)u times as long
// as alone, where s is this slowdown, and u is the mean fraction of time in which the other jobs on its links use them
// if they are alone. The phases of different jobs are assumed to be independent; schedulers that interleave them, such
// as CASSINI (Rajasekaran et al., NSDI 2024), do better.
type Rings struct {
	Tree  *Tree
	Of    map[string]Ring    // jobs by ID
	Other cluster.SpeedModel // model of jobs that are not in Of, or that share devices, and of lost work
}

// Ring holds the step times of a job. A ring with equal step times is equal, so jobs can share them.
type Ring struct {
	// returns the times of a step without other jobs; the placement lists the number of devices on each node
	Step  func(placement []int) (RingStep, error)
	Asked []int // requested placement, on which the rate is 1
}

// RingStep holds the times of a step in seconds. The exchange inside the nodes, or the devices, may take longer than
// the transfers over the links between nodes, which run at the same time.
type RingStep struct {
	Time     float64 // time of the step
	Exchange float64 // part of the step in which the job exchanges gradients
	Transfer float64 // part of the exchange in which it uses links between nodes
}

// crowded returns the time of the step if its transfers take longer by a factor.
func (s *RingStep) crowded(longer float64) float64 {
	return s.Time + max(0, longer*s.Transfer-s.Exchange)
}

var _ cluster.LinkModel = (*Rings)(nil)

// Rates implements [cluster.SpeedModel]. If the step time of a placement is unknown, Rates returns 0, which is invalid
// and ends the simulation.
func (r *Rings) Rates(p cluster.Placement) (job, partner float64) {
	of, known := r.Of[p.Job.Trace.ID]
	if !known || p.Partner != nil {
		return r.Other.Rates(p)
	}
	return of.rate(p.Nodes, 1), 1
}

// Lost implements [cluster.SpeedModel].
func (r *Rings) Lost(j *cluster.Job) float64 { return r.Other.Lost(j) }

// rate returns the rate on some nodes if transfers take longer by a factor; 0 if a step time is unknown.
func (r *Ring) rate(nodes []cluster.Share, longer float64) float64 {
	asked, err1 := r.Step(r.Asked)
	now, err2 := r.Step(placement(nodes))
	if err1 != nil || err2 != nil {
		return 0
	}
	return asked.Time / now.crowded(longer)
}

// placement returns the number of devices on each node.
func placement(nodes []cluster.Share) (devices []int) {
	for _, s := range nodes {
		devices = append(devices, bits.OnesCount64(s.GPUs))
	}
	return devices
}

// Together implements [cluster.LinkModel]. Jobs that are not in Of keep their rates.
func (r *Rings) Together(running []*cluster.Job, rates []float64) {
	var flows [][2]int
	var rings []sharing
	for k, j := range running {
		rates[k] = j.Rate()
		of, known := r.Of[j.Trace.ID]
		if !known {
			continue
		}
		s := sharing{job: k, ring: of, from: len(flows)}
		if step, err := of.Step(placement(j.Nodes)); err == nil && step.Time > 0 {
			s.busy = step.Transfer / step.Time
		}
		for at := range j.Nodes {
			flows = append(flows, [2]int{j.Nodes[at].Node, j.Nodes[(at+1)%len(j.Nodes)].Node})
		}
		s.to = len(flows)
		if !r.inside(flows[s.from:]) {
			rates[k] = 0 // the tree lacks a node of the job
			return
		}
		s.links = r.links(flows[s.from:])
		rings = append(rings, s)
	}
	all := make([]float64, len(flows))
	r.Tree.share(flows, all)
	for k := range rings {
		s := &rings[k]
		rates[s.job] = s.ring.rate(running[s.job].Nodes, r.longer(rings, k, flows, all))
	}
}

// sharing is a ring while rates are computed.
type sharing struct {
	job      int // index in the running jobs
	ring     Ring
	from, to int // its flows
	links    map[int]bool
	busy     float64 // fraction of time in which it uses links if it is alone
}

// inside reports whether all flows are between servers of the tree.
func (r *Rings) inside(flows [][2]int) bool {
	for _, f := range flows {
		if max(f[0], f[1]) >= r.Tree.Size() {
			return false
		}
	}
	return true
}

// longer returns the factor by which transfers of a ring take longer than alone. The argument all has the rates of the
// flows of all rings together.
func (r *Rings) longer(rings []sharing, k int, flows [][2]int, all []float64) float64 {
	s := &rings[k]
	own := flows[s.from:s.to]
	alone := make([]float64, len(own))
	r.Tree.share(own, alone)
	slowdown := least(alone) / least(all[s.from:s.to])
	busy, others := 0.0, 0
	for other := range rings {
		if other != k && meets(s.links, rings[other].links) {
			busy, others = busy+rings[other].busy, others+1
		}
	}
	if others == 0 {
		return 1
	}
	return 1 + max(0, slowdown-1)*busy/float64(others)
}

// least returns the smallest rate: the slowest flow determines the rate of a ring.
func least(rates []float64) float64 {
	low := math.Inf(1)
	for _, rate := range rates {
		low = min(low, rate)
	}
	return low
}

// links returns the links of flows.
func (r *Rings) links(flows [][2]int) map[int]bool {
	all := map[int]bool{}
	for _, f := range flows {
		for _, l := range r.Tree.way(f[0], f[1], nil) {
			all[l] = true
		}
	}
	return all
}

func meets(a, b map[int]bool) bool {
	for l := range a {
		if b[l] {
			return true
		}
	}
	return false
}
