package rigid

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/cluster/trace"
)

// replayed describes how the jobs of traces are replayed.
type replayed struct {
	omitted  trace.Omitted       // jobs that are left out
	states   map[trace.State]int // jobs by their end states
	started  int                 // jobs whose waits on the traced cluster are known
	waits    float64             // seconds, sum over these jobs
	instant  int                 // jobs without a duration that are simulated
	parts    int                 // jobs that request parts of several GPUs, and get whole GPUs
	repeated float64             // GPU seconds of earlier starts
	drops    bool                // leaves out the work of earlier starts
}

// replay selects the jobs of a trace. It leaves out jobs without GPUs, jobs that never started, and jobs whose end is
// unknown to the accounting of Slurm.
func (s *inputs) replay(jobs []trace.Job) []trace.Job {
	s.replayed.states = map[trace.State]int{}
	s.replayed.drops = s.Cluster.EarlierStarts == DropStarts ||
		s.Cluster.EarlierStarts == "" && s.File.Failures.Enabled()
	if s.Cluster.Compat == compatNone {
		jobs = slices.DeleteFunc(jobs, func(j trace.Job) bool { return s.replayed.omitted.Leaves(&j, false) })
	}
	for k := range jobs {
		s.replayed.add(&jobs[k])
	}
	return jobs
}

func (r *replayed) add(j *trace.Job) {
	if j.Duration > 0 && j.GPUs > 0 {
		r.states[j.State]++
	}
	if j.Duration == 0 && j.GPUs > 0 {
		r.instant++
	}
	if j.Share > 0 && j.GPUs > 1 {
		r.parts++
	}
	h := j.History
	if h == nil {
		return
	}
	if h.Started {
		r.started++
		r.waits += float64(h.Wait)
	}
	if lost := min(h.Lost, j.Duration-1); lost > 0 {
		r.repeated += float64(lost) * j.Devices()
		if r.drops {
			j.Duration, h.Lost, h.Dropped = j.Duration-lost, h.Lost-lost, lost
		}
	}
}

// join adds the jobs of another trace.
func (r *replayed) join(o *replayed) {
	r.omitted.Join(o.omitted)
	r.instant += o.instant
	r.parts += o.parts
	r.started, r.waits, r.repeated = r.started+o.started, r.waits+o.waits, r.repeated+o.repeated
	r.drops = o.drops
	for state, n := range o.states {
		r.states[state] += n
	}
}

// sentences describe the replay.
func (r *replayed) sentences() (list []string) {
	add := func(is bool, format string, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	out := r.omitted.Sentence()
	add(out != "", "%s", out)
	add(r.instant > 0, "Jobs without a duration: %d. They end when they start, and count in all means.", r.instant)
	add(r.parts > 0, "Jobs that request parts of several GPUs: %d. They get whole GPUs.", r.parts)
	ends := r.endings()
	add(ends != "", "All jobs run for their durations in the trace, even jobs that did not complete there: %s.", ends)
	are := "are replayed; a simulation with failures leaves them out, and so does cluster.earlier_starts = \"drop\""
	if r.drops {
		are = "are left out (cluster.earlier_starts)"
	}
	add(r.repeated > 0, "%.0f GPU hours of earlier starts in the trace, before failures or preemptions, %s.",
		r.repeated/secondsOfHour, are)
	add(r.started > 0, "On the traced cluster, these jobs waited for %.1f s on average.", r.waits/float64(r.started))
	return list
}

// endings counts the jobs that did not complete on the traced cluster, by state.
func (r *replayed) endings() string {
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(r.states)) {
		if state != trace.Completed && state != trace.Unknown {
			parts = append(parts, fmt.Sprintf("%d %s", r.states[state], state))
		}
	}
	return strings.Join(parts, ", ")
}

// replayed describes the replay of all traces.
func (s *simulations) replayed() []string {
	all := replayed{states: map[trace.State]int{}}
	for _, w := range s.workloads {
		all.join(&w.replayed)
	}
	return all.sentences()
}
