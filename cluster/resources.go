package cluster

import (
	"fmt"

	"graft/cluster/trace"
)

// Resource is a countable resource of a node other than its devices, such as memory.
type Resource struct {
	Name string // name such as "processors"
	Node int64  // amount per node
	// returns the total amount that a job requests, which is divided equally among its devices
	Of func(j *trace.Job) int64
}

// Fits reports whether used + times·demand stays within the limits for every kind of resource.
func Fits[N int | int64](used, demand, limits []N, times N) bool {
	for k, wanted := range demand {
		if used[k]+times*wanted > limits[k] {
			return false
		}
	}
	return true
}

// resources returns the counted resources: processors, memory and others, in this order.
func (s *Study) resources() []Resource {
	var list []Resource
	if s.CPUs > 0 {
		list = append(list, Resource{"processors", int64(s.CPUs), func(j *trace.Job) int64 { return int64(j.CPUs) }})
	}
	if s.Memory > 0 {
		list = append(list, Resource{"memory", s.Memory, func(j *trace.Job) int64 { return j.RAM }})
	}
	return append(list, s.Others...)
}

func (r *Run) limits() []int64 {
	var list []int64
	for _, resource := range r.resources {
		list = append(list, resource.Node)
	}
	return list
}

// demand sets a job's demand other than whole devices.
func (r *Run) demand(j *Job) {
	parted := j.Trace.Share > 0 && j.Trace.Share < Whole && j.GPUs == 1 && !r.WholeGPUs
	if !parted && len(r.resources) == 0 {
		return
	}
	j.beside = &beside{}
	if parted {
		j.beside.share, r.varied = j.Trace.Share, true
	}
	for _, resource := range r.resources {
		asked, devices := resource.Of(j.Trace), int64(j.GPUs)
		j.beside.wants = append(j.beside.wants, max(0, (asked+devices-1)/devices))
	}
}

// lacking returns the resource that prevents a job from running on the given number of idle nodes of a size; empty if
// none.
func (r *Run) lacking(nodes, size int, j *Job) string {
	if r.holds(nodes, size, j) {
		return ""
	}
	at := 0
	for k, resource := range r.resources {
		if j.beside.wants[k] > resource.Node {
			at = k
			break
		}
	}
	return fmt.Sprintf("more %s requested than the nodes have", r.resources[at].Name)
}

// Holds reports whether the given number of idle nodes has enough resources, other than devices, for a job. The nodes
// have the study's number of devices.
func (r *Run) Holds(nodes int, j *Job) bool { return r.holds(nodes, r.perNode(), j) }

func (r *Run) holds(nodes, size int, j *Job) bool {
	if len(r.resources) == 0 || j.GPUs > nodes*size {
		return true
	}
	at := [2]int{nodes, size}
	if r.empty[at] == nil {
		if r.empty == nil {
			r.empty = map[[2]int]*Nodes{}
		}
		r.empty[at] = newNodes(nodes, size, r.limits())
	}
	_, ok := r.place.Place(r.empty[at].at(j), j.GPUs, nil)
	return ok
}
