package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"graft/cluster/trace"
	"graft/internal/validate"
)

// NodeType is a type of nodes, such as the nodes with A100 GPUs. All devices of a job are on nodes of one type. Jobs
// that require a type (see [trace.Job]) run only on its nodes; other jobs start on the fastest type that has devices
// for them, and on the first one of equally fast types. The duration of a job in the trace is its time on the type on
// which it ran there or, if the study has no such type, on the first type.
type NodeType struct {
	Name  string         // name, as in the trace except for upper and lower case
	Nodes map[string]int // number of nodes by virtual cluster
	GPUs  int            // devices per node, up to 64; zero means the study's number
	CPUs  int            // processors per node; zero means the study's number
	// memory per node in MiB; zero means the study's memory
	Memory int64
	Speed  float64 // speed of a job relative to the other types; zero means 1
	// speed by the model that a job trains, for models with a speed other than Speed; may be nil
	Speeds map[string]float64
}

// speedOf returns the speed of jobs that train a model.
func (t *NodeType) speedOf(model string) float64 {
	if speed, known := t.Speeds[model]; known {
		return speed
	}
	if t.Speed == 0 {
		return 1
	}
	return t.Speed
}

// mostTypes is the maximum number of types: sets of types are 64-bit words.
const mostTypes = 64

// typeSeparator separates the names of types that a job of a trace accepts.
const typeSeparator = "|"

func (s *Study) validateTypes() (faults validate.Faults) {
	faults.When(len(s.Types) > mostTypes, "the cluster has %d types of nodes; expected at most %d", len(s.Types),
		mostTypes)
	seen := map[string]bool{}
	for _, t := range s.Types {
		name := strings.ToLower(t.Name)
		faults.When(name == "" || strings.Contains(name, typeSeparator),
			"a type of nodes has the name %q; expected a name without vertical bars", t.Name)
		faults.When(seen[name], "duplicate type of nodes %q; rename or remove one", t.Name)
		seen[name] = true
		faults.When(t.GPUs < 0 || t.GPUs > trace.MaxPerNode, "a node of type %q has %d devices; expected 1 to %d",
			t.Name, t.GPUs, trace.MaxPerNode)
		faults.When(t.CPUs < 0 || t.Memory < 0, "a node of type %q has %d processors and %d MiB of memory; expected "+
			"at least 0", t.Name, t.CPUs, t.Memory)
		for _, speed := range append(slices.Collect(maps.Values(t.Speeds)), t.speedOf("")) {
			faults.Unless(speed > 0 && speed <= math.MaxFloat64, "type %q has the speed %g; expected a positive, "+
				"finite number", t.Name, speed)
		}
	}
	for _, vc := range s.VCs {
		sum := 0
		for k := range s.Types {
			n := s.Types[k].Nodes[vc.Name]
			faults.When(n < 0, "virtual cluster %q has %d nodes of type %q; expected at least 0", vc.Name, n,
				s.Types[k].Name)
			sum += n
		}
		faults.When(len(s.Types) > 0 && sum != vc.Nodes, "virtual cluster %q has %d nodes, but the types have %d "+
			"nodes there; expected equal numbers", vc.Name, vc.Nodes, sum)
	}
	faults.When(len(s.Types) > 0 && s.Failures != nil && s.Failures.Spares > 0, "spare nodes have no type; remove "+
		"the spare nodes or the types of nodes")
	return faults
}

// sizeOf returns the number of devices of a node of a type.
func (s *Study) sizeOf(kind int) int { return cmp.Or(s.Types[kind].GPUs, s.perNode()) }

// largest returns the number of devices of the largest node.
func (s *Study) largest() (devices int) {
	if len(s.Types) == 0 {
		return s.perNode()
	}
	for k := range s.Types {
		devices = max(devices, s.sizeOf(k))
	}
	return devices
}

// Devices returns the number of devices of a virtual cluster, in total and by type. The list is nil if all nodes are
// alike.
func (s *Study) Devices(vc *trace.VC) (sum int, byType []int) {
	if len(s.Types) == 0 {
		return vc.Nodes * s.perNode(), nil
	}
	for k := range s.Types {
		n := s.Types[k].Nodes[vc.Name] * s.sizeOf(k)
		sum, byType = sum+n, append(byType, n)
	}
	return sum, byType
}

// nodesOf returns the number of nodes of a virtual cluster by type; nil if all nodes are alike.
func (s *Study) nodesOf(vc string) (list []int) {
	for k := range s.Types {
		list = append(list, s.Types[k].Nodes[vc])
	}
	return list
}

// TypeOf returns the name of the type of a job's current or last nodes; empty if unknown.
func (o *Outcome) TypeOf(j *Job) string {
	if o.last == nil || o.last[j.Index] == 0 {
		return ""
	}
	return o.Types[o.last[j.Index]-1].Name
}

// typed lists the types of nodes on which jobs can run. Jobs with the same requirement, type in the trace and speeds
// share one.
type typed struct {
	all   uint64    // one bit per type
	needs bool      // some types are excluded
	sets  []typeSet // fastest first
}

// typeSet is a set of types on which a job has the same speed, and whose nodes have the same resources.
type typeSet struct {
	types uint64  // one bit per type
	rate  float64 // speed relative to the type on which the job ran in the trace
}

// accepts reports whether jobs can run on a type, numbered from one. Zero is no type.
func (t *typed) accepts(on uint8) bool { return t == nil || on == 0 || t.all>>(on-1)&1 == 1 }

// rate returns the rate of jobs on a type, numbered from one. The rate on no type is one.
func (t *typed) rate(on uint8) float64 {
	if t != nil && on > 0 {
		for _, set := range t.sets {
			if set.types>>(on-1)&1 == 1 {
				return set.rate
			}
		}
	}
	return 1
}

// types returns the types of nodes on which a job can run; nil if all nodes are alike.
func (j *Job) types() *typed {
	if j.beside == nil {
		return nil
	}
	return j.beside.types
}

func (j *Job) typeRate() float64 { return j.types().rate(j.running.on) }

// typings holds how the jobs of a study use the types of its nodes.
type typings struct {
	known  map[typedKey]*beside // demands of jobs that need nothing else
	last   []uint8              // type of the current or last nodes of each job of the study, from one; zero if none
	sets   []uint64             // sets of types that some job tries together, except single types
	differ bool                 // some job does not accept all types, or has different speeds on them
}

// typedKey is the part of a job that decides how it uses types.
type typedKey struct {
	types string
	needs bool
	model string // empty if the model has no speed of its own
}

// allow sets the types of nodes on which a job can run.
func (r *Run) allow(j *Job) {
	if len(r.Types) == 0 {
		return
	}
	key := typedKey{j.Trace.GPUType, j.Trace.NeedsType && j.Trace.GPUType != "", ""}
	for k := range r.Types {
		if _, own := r.Types[k].Speeds[j.Trace.Trains().Model]; own {
			key.model = j.Trace.Trains().Model
		}
	}
	demand := r.typed.known[key]
	if demand == nil {
		demand = r.typed.add(key, r.Study)
		r.varied = r.varied || demand.types.needs
	}
	if j.beside == nil {
		j.beside = demand
	} else {
		j.beside.types = demand.types
	}
}

func (t *typings) add(key typedKey, s *Study) *beside {
	types := s.Types
	named := typesNamed(key.types, types)
	from := 0
	if len(named) > 0 {
		from = named[0]
	}
	if !key.needs {
		named = named[:0]
		for k := range types {
			named = append(named, k)
		}
	}
	speed := func(k int) float64 { return types[k].speedOf(key.model) }
	slices.SortFunc(named, func(a, b int) int { return cmp.Or(cmp.Compare(speed(b), speed(a)), a-b) })
	one := &typed{needs: len(named) < len(types)}
	for _, k := range named {
		rate := speed(k) / speed(from)
		at := slices.IndexFunc(one.sets, func(set typeSet) bool {
			return set.rate == rate && s.sameNodes(bits.TrailingZeros64(set.types), k)
		})
		if at < 0 {
			at, one.sets = len(one.sets), append(one.sets, typeSet{rate: rate})
		}
		one.sets[at].types |= 1 << k
		one.all |= 1 << k
	}
	if t.known == nil {
		t.known = map[typedKey]*beside{}
	}
	t.known[key] = &beside{types: one}
	t.differ = t.differ || one.needs || len(one.sets) > 1 || len(one.sets) == 1 && one.sets[0].rate != 1
	for _, set := range one.sets {
		if bits.OnesCount64(set.types) > 1 && !slices.Contains(t.sets, set.types) {
			t.sets = append(t.sets, set.types)
		}
	}
	return t.known[key]
}

// typesNamed returns the positions of the types that a text names, without unknown types.
func typesNamed(text string, types []NodeType) (named []int) {
	for name := range strings.SplitSeq(text, typeSeparator) {
		name = strings.TrimSpace(name)
		k := slices.IndexFunc(types, func(t NodeType) bool { return strings.EqualFold(t.Name, name) })
		if k >= 0 && !slices.Contains(named, k) {
			named = append(named, k)
		}
	}
	return named
}

// tooLargeOfType returns the demand of a job that no type of nodes in its pool can satisfy; empty if one can.
func (r *Run) tooLargeOfType(pool *PoolRun, j *Job) string {
	largest, all, nodes, lacks := 0, 0, 0, ""
	for k, n := range pool.types {
		n = min(n, pool.Nodes-nodes) // a policy may take the last nodes
		size := r.sizeOf(k)
		nodes, all = nodes+n, all+n*size
		if j.Accepts(k) {
			largest = max(largest, n*size)
			if j.GPUs <= n*size {
				if lacks = r.lacking(n, size, k, j); lacks == "" {
					return ""
				}
			}
		}
	}
	switch {
	case largest == 0 && j.types().needs:
		return fmt.Sprintf("requires GPU type %s, which its virtual cluster does not have", j.Trace.GPUType)
	case j.GPUs > all:
		return "larger than its virtual cluster"
	}
	return cmp.Or(lacks, "more devices requested than its virtual cluster has of one type")
}
