package rigid

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/cluster/trace"
	"graft/internal/words"
)

// replayed describes how the jobs of traces are replayed.
type replayed struct {
	never, runaway, cpu int                 // numbers of jobs that are left out
	states              map[trace.State]int // jobs by their end states
	started             int                 // jobs whose waits on the traced cluster are known
	waits               float64             // seconds, sum over these jobs
	repeated            float64             // GPU seconds of earlier starts
	drops               bool                // leaves out the work of earlier starts
}

// replay selects the jobs of a trace. It leaves out jobs without GPUs, jobs that never started, and jobs whose end is
// unknown to the accounting of Slurm.
func (s *inputs) replay(jobs []trace.Job) []trace.Job {
	s.replayed.states = map[trace.State]int{}
	s.replayed.drops = s.Cluster.EarlierStarts == DropStarts ||
		s.Cluster.EarlierStarts == "" && s.File.Failures.Enabled()
	if s.Cluster.Compat == compatNone {
		jobs = slices.DeleteFunc(jobs, s.replayed.leavesOut)
	}
	for k := range jobs {
		s.replayed.add(&jobs[k])
	}
	return jobs
}

func (r *replayed) leavesOut(j trace.Job) bool {
	switch {
	case j.NeverStarted():
		r.never++
	case j.Runaway():
		r.runaway++
	case j.GPUs == 0:
		r.cpu++
	default:
		return false
	}
	return true
}

func (r *replayed) add(j *trace.Job) {
	if j.Duration > 0 && j.GPUs > 0 {
		r.states[j.State]++
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
		r.repeated += float64(lost) * float64(j.GPUs)
		if r.drops {
			j.Duration, h.Lost, h.Dropped = j.Duration-lost, h.Lost-lost, lost
		}
	}
}

// join adds the jobs of another trace.
func (r *replayed) join(o *replayed) {
	r.never, r.runaway, r.cpu = r.never+o.never, r.runaway+o.runaway, r.cpu+o.cpu
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
	var out []string
	for _, group := range []struct {
		jobs int
		why  string
	}{{r.cpu, "without GPUs"}, {r.never, "that never started"},
		{r.runaway, "without an end, although the time limit passed more than an hour ago"}} {
		if group.jobs > 0 {
			out = append(out, words.Plural(group.jobs, "job")+" "+group.why)
		}
	}
	add(len(out) > 0, "Left out of the trace: %s.", strings.Join(out, ", "))
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
