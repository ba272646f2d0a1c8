package world

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"graft/cluster/node"
	"graft/cluster/trace"
	"graft/internal/decode"
	"graft/internal/files"
)

const tracesKey = "workload.traces"

// trace is the path of the trace whose jobs are tasks; empty for none.
func (f *File) trace() string {
	if len(f.Workload.Traces) == 0 {
		return ""
	}
	return f.Workload.Traces[0]
}

// readTasks reads the tasks of the file or of a trace. It returns false on an error.
func (f *File) readTasks(fsys files.FS, r *decode.Reading) bool {
	switch {
	case len(f.Task) > 0 && f.trace() != "":
		r.Blame(tracesKey, "traces and [[task]] are both set; remove one of them")
		return false
	case len(f.Workload.Traces) > 1:
		r.Blame(tracesKey, "traces has several files; expected one trace, because the trace is divided into workloads")
		return false
	}
	var err error
	key, items := "task", []any(nil)
	switch {
	case len(f.Task) > 0:
		f.specs, err = expand(f.Task)
	case f.trace() != "":
		key, items = tracesKey, []any{0}
		if f.specs, err = f.traceTasks(fsys); err != nil {
			err = r.Elsewhere(key, err, 0)
		}
	default:
		return true
	}
	if err == nil {
		s := f.study(f.specs)
		s.EnsureDefaults()
		err = s.Validate()
	}
	if err != nil {
		r.Blame(key, err.Error(), items...)
	}
	return err == nil
}

// traceTasks converts the jobs of a trace that ran on one GPU or a part of one to tasks. It leaves out jobs without a
// duration and runaway jobs.
func (f *File) traceTasks(fsys files.FS) ([]node.Spec, error) {
	t, err := trace.ReadAll(fsys, f.trace(), trace.Options{})
	if err != nil {
		return nil, err
	}
	random, errs := seeded(f.Tasks.Seed, traceStream), seeded(f.Tasks.Seed, errorStream)
	types := node.UsualTypes()
	var specs []node.Spec
	f.clipped = 0
	for _, j := range t.Jobs {
		if j.GPUs != 1 || j.Duration <= 0 || j.Runaway() {
			continue
		}
		s := traceTask(&j, types, f.Machine.smallest(), random)
		if largest := f.Machine.largest(); s.Memory > largest {
			s.Memory, f.clipped = largest, f.clipped+1
		}
		if e := f.Tasks.EstimateError; e > 0 {
			s.Estimate = time.Duration(float64(s.Work) * (1 + e*(2*errs.Float64()-1)))
		}
		specs = append(specs, s)
	}
	f.omitted = len(t.Jobs) - len(specs)
	if len(specs) == 0 {
		return nil, fmt.Errorf("%s has no jobs with one GPU that have a duration and are not runaway jobs; name "+
			"another trace", f.trace())
	}
	slices.SortStableFunc(specs, func(a, b node.Spec) int { return cmp.Compare(a.Arrival, b.Arrival) })
	first := specs[0].Arrival
	for k := range specs {
		specs[k].Arrival -= first
		specs[k].Name = fmt.Sprintf("%s-%d", cmp.Or(specs[k].Name, "job"), k+1)
	}
	return specs, nil
}

// traceTask converts a job, and draws the values that the trace does not have.
func traceTask(j *trace.Job, types []node.TaskType, memory float64, random *rand.Rand) node.Spec {
	t := types[random.IntN(len(types))]
	in := func(r [2]int) float64 { return float64(r[0] + random.IntN(r[1]-r[0]+1)) }
	training := j.Trains()
	s := node.Spec{Name: j.ID, Kind: cmp.Or(training.Model, t.Name), Flow: j.User, Cores: in(t.Cores),
		Memory: in(t.Memory) / 100 * memory, Work: time.Duration(j.Duration) * time.Second,
		Arrival: time.Duration(j.Submit) * time.Second}
	if training.GPUUtil > 0 {
		s.Cores = min(100, training.GPUUtil)
	}
	if j.Share > 0 {
		s.Cores = float64(j.Share) / 10
	}
	if training.Memory > 0 {
		s.Memory = training.Memory
	}
	return s
}
