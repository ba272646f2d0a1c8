package cluster

import (
	"cmp"
	"fmt"

	"graft/cluster/trace"
)

// Resource is a countable resource of a node other than its devices, such as memory.
type Resource struct {
	Name string // name such as "processors"
	Node int64  // amount per node
	// returns the total amount that a job requests, which is divided equally among its devices
	Of func(j *trace.Job) int64
	// amount per node of each type, in the order of the types; nil means that all types have the same amount
	ByType []int64
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
	add := func(name string, node int64, of func(t *NodeType) int64, asked func(j *trace.Job) int64) {
		if byType, counts := s.byType(node, of); counts {
			list = append(list, Resource{name, node, asked, byType})
		}
	}
	add("processors", int64(s.CPUs), func(t *NodeType) int64 { return int64(t.CPUs) },
		func(j *trace.Job) int64 { return int64(j.CPUs) })
	add("memory", s.Memory, func(t *NodeType) int64 { return t.Memory }, func(j *trace.Job) int64 { return j.RAM })
	return append(list, s.Others...)
}

// unlimited is the amount of a resource that is counted on other types of nodes only.
const unlimited = int64(1) << 50

// byType returns the amounts of a resource by type; nil if all types have the study's amount. It reports whether the
// resource is counted.
func (s *Study) byType(node int64, of func(t *NodeType) int64) (list []int64, counts bool) {
	differ := false
	for k := range s.Types {
		own := of(&s.Types[k])
		list, differ = append(list, cmp.Or(own, node, unlimited)), differ || own > 0
	}
	if !differ {
		list = nil
	}
	return list, node > 0 || differ
}

// limits returns the amounts of all resources on a node of a type. Without types, the type does not matter.
func (r *Run) limits(kind int) []int64 {
	var list []int64
	for _, resource := range r.resources {
		list = append(list, resource.on(kind))
	}
	return list
}

// on returns the amount on a node of a type.
func (r *Resource) on(kind int) int64 {
	if r.ByType == nil {
		return r.Node
	}
	return r.ByType[kind]
}

// sameNodes reports whether the nodes of two types have the same number of devices and the same processors and memory.
func (s *Study) sameNodes(a, b int) bool {
	t, o := &s.Types[a], &s.Types[b]
	return s.sizeOf(a) == s.sizeOf(b) && cmp.Or(t.CPUs, s.CPUs) == cmp.Or(o.CPUs, s.CPUs) &&
		cmp.Or(t.Memory, s.Memory) == cmp.Or(o.Memory, s.Memory)
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

// lacking returns the resource that prevents a job from running on the given number of idle nodes of a size and type;
// empty if none.
func (r *Run) lacking(nodes, size, kind int, j *Job) string {
	if r.holds(nodes, size, kind, j) {
		return ""
	}
	at := 0
	for k := range r.resources {
		if j.beside.wants[k] > r.resources[k].on(kind) {
			at = k
			break
		}
	}
	return fmt.Sprintf("more %s requested than the nodes have", r.resources[at].Name)
}

// Holds reports whether the given number of idle nodes has enough resources, other than devices, for a job. The nodes
// have the study's number of devices, and are of the first type.
func (r *Run) Holds(nodes int, j *Job) bool { return r.holds(nodes, r.perNode(), 0, j) }

func (r *Run) holds(nodes, size, kind int, j *Job) bool {
	if len(r.resources) == 0 || j.GPUs > nodes*size {
		return true
	}
	at := [3]int{nodes, size, kind}
	if r.empty[at] == nil {
		if r.empty == nil {
			r.empty = map[[3]int]*Nodes{}
		}
		r.empty[at] = newNodes(nodes, size, r.limits(kind))
	}
	_, ok := r.place.Place(r.empty[at].at(j), j.GPUs, nil)
	return ok
}
