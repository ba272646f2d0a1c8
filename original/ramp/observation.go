package ramp

import (
	"slices"

	"graft/cluster/fabric"
	"graft/internal/stat"
	"graft/learn"
)

// Scales holds the minimum and the maximum of each job property over the pool of jobs. PAC-ML's published simulator
// scales observations and rewards by these values.
type Scales struct {
	MinSequential float64 `json:"min_job_sequential_completion_times"`
	MaxSequential float64 `json:"max_job_sequential_completion_times"`
	MinLimit      float64 `json:"min_max_acceptable_job_completion_times"`
	MaxLimit      float64 `json:"max_max_acceptable_job_completion_times"`
	MinShare      float64 `json:"min_max_acceptable_job_completion_time_fracs"`
	MaxShare      float64 `json:"max_max_acceptable_job_completion_time_fracs"`
	MinMemory     float64 `json:"min_job_total_op_memory_costs"`
	MaxMemory     float64 `json:"max_job_total_op_memory_costs"`
	MinTransfer   float64 `json:"min_job_total_dep_sizes"`
	MaxTransfer   float64 `json:"max_job_total_dep_sizes"`
	MinOps        float64 `json:"min_job_total_num_ops"`
	MaxOps        float64 `json:"max_job_total_num_ops"`
	MinDeps       float64 `json:"min_job_total_num_deps"`
	MaxDeps       float64 `json:"max_job_total_num_deps"`
	MinSteps      float64 `json:"min_job_num_training_steps"`
	MaxSteps      float64 `json:"max_job_num_training_steps"`
	// maximum of an operation's memory divided by its time, in bytes per time unit
	MaxRate float64 `json:"max_job_max_op_compute_throughputs"`
}

// Graph returns the features of a model for PAC-ML's published policy. The features of an operation are its time and
// memory, relative to the largest values, and its depth. The feature of a transfer is its size. Flags mark the
// operation with the most memory and the largest transfer. As in the published simulator, the flag for the longest
// operation is always 0.
func Graph(m *fabric.Model) learn.Graph {
	g, d := m.Graph, &m.Details
	var read learn.Graph
	for k := range g.Ops {
		op := &g.Ops[k]
		read.Nodes = append(read.Nodes, []float64{op.Compute / d.MaxCompute.Value, 0, op.Memory / d.MaxMemory.Value,
			mark(k == d.MaxMemory.At),
			float64(d.Depth[k]) / d.MaxDepth.Value})
	}
	for k := range g.Deps {
		dep := &g.Deps[k]
		read.Edges = append(read.Edges, [2]int{dep.From, dep.To})
		read.Ties = append(read.Ties, []float64{dep.Size / d.MaxDep.Value, mark(k == d.MaxDep.At)})
	}
	return read
}

func mark(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Observe returns the observation of the waiting job and the cluster for PAC-ML's published policy: 17 values, then the
// availability of each degree from 0 to the largest degree.
func (s *Scales) Observe(w *fabric.World) learn.Observation {
	job := w.Waiting()
	m := &w.Study().Models[job.Model]
	d, time := &m.Details, w.Study().Sequential(job)
	values := []float64{
		scaled(float64(len(m.Graph.Ops)), s.MinOps, s.MaxOps), scaled(float64(len(m.Graph.Deps)), s.MinDeps, s.MaxDeps),
		scaled(time, s.MinSequential, s.MaxSequential), scaled(job.Limit*time, s.MinLimit, s.MaxLimit),
		scaled(job.Limit, s.MinShare, s.MaxShare), job.Limit, scaled(d.Memory, s.MinMemory, s.MaxMemory),
		scaled(d.Transfer, s.MinTransfer, s.MaxTransfer), scaled(float64(job.Steps), s.MinSteps, s.MaxSteps),
	}
	var compute, memory, sizes []float64
	for k := range m.Graph.Ops {
		compute, memory = append(compute, m.Graph.Ops[k].Compute/d.MaxCompute.Value),
			append(memory, m.Graph.Ops[k].Memory/d.MaxMemory.Value)
	}
	for k := range m.Graph.Deps {
		sizes = append(sizes, m.Graph.Deps[k].Size/d.MaxDep.Value)
	}
	for _, list := range [][]float64{compute, memory, sizes} {
		values = append(values, stat.DividedMean(list), median(list))
	}
	size := float64(w.Study().Network.Size())
	values = append(values, float64(w.Held())/size, float64(w.Running())/size)
	o := learn.Observation{Mask: make([]bool, w.Study().Options.MaxParts+1)}
	for _, degree := range w.Degrees() {
		o.Mask[degree] = true
	}
	for _, allowed := range o.Mask {
		values = append(values, mark(allowed))
	}
	o.Values = values
	return o
}

// scaled returns the relative position of a value between two others; 1 if these are equal.
func scaled(v, low, high float64) float64 {
	if high == low {
		return 1
	}
	return (v - low) / (high - low)
}

func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
