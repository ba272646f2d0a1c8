package world

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"graft/cluster/node"
	"graft/cluster/study"
	"graft/internal/stat"
)

// mostKinds is the maximum number of task kinds whose energy is listed. Further kinds, with the least work, are summed.
const mostKinds = 16

// Names of parts that are not kinds of tasks.
const (
	otherKinds = "other kinds"
	noTask     = "idle GPUs, switches"
)

// kindOf is the kind of a task, or its flow if it has no kind.
func kindOf(t *node.Spec) string { return cmp.Or(t.Kind, t.Flow) }

// kindsOf returns up to mostKinds task kinds of all workloads, sorted by name, and reports whether there are more.
func kindsOf(studies []node.Study) (names []string, others bool) {
	work := map[string]float64{}
	for _, s := range studies {
		for k := range s.Tasks {
			work[kindOf(&s.Tasks[k])] += s.Tasks[k].Work.Seconds() * s.Tasks[k].Cores
		}
	}
	names = slices.SortedFunc(maps.Keys(work), func(a, b string) int {
		return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), mostKinds)]
	slices.Sort(names)
	return names, len(work) > len(names)
}

// parts computes the mean time to completion per task kind, and divides the energy of all GPUs among the kinds. Tasks
// on one GPU share its energy.
func (s *simulations) parts(one *node.Study, r *node.Result) (parts []study.Part) {
	joules, times := make([]float64, len(s.kinds)+1), make([][]float64, len(s.kinds)+1) // others last
	for k := range r.Tasks {
		t := &r.Tasks[k]
		at, found := slices.BinarySearch(s.kinds, kindOf(&one.Tasks[k]))
		if !found {
			at = len(s.kinds)
		}
		joules[at] += t.Joules
		if v := jct(t); !math.IsNaN(v) {
			times[at] = append(times[at], v)
		}
	}
	names := s.kinds
	if s.others {
		names = append(names[:len(names):len(names)], otherKinds)
	}
	rest := r.Summary.Joules
	for k, name := range names {
		values := study.Values{energyKey: study.Number(joules[k])}
		if len(times[k]) > 0 {
			values[jctKey] = study.Number(stat.Mean(times[k]))
		}
		rest -= joules[k]
		parts = append(parts, study.Part{Group: "kind", Name: name, Values: values})
	}
	return append(parts, study.Part{Group: "kind", Name: noTask,
		Values: study.Values{energyKey: study.Number(max(0, rest))}})
}
