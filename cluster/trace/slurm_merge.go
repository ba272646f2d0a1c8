package trace

import (
	"cmp"
	"slices"
)

// sameSecond is the maximum time between the end of a start and the submission of the next one, in seconds. Slurm
// resubmits a requeued job when the previous start ends; the record of the end can be a few seconds late.
const sameSecond = 60

// continues reports whether a row belongs to the job of the group: it is another component of a heterogeneous job, or
// the next start of a component. Slurm also reuses IDs after a reset of its database; such a row is another job.
func (s *slurm) continues(group []slurmRow, row *slurmRow) bool {
	if group[0].job.ID != row.job.ID {
		return false
	}
	for k := len(group) - 1; k >= 0; k-- {
		if group[k].component == row.component {
			return isRestart(&group[k], row)
		}
	}
	return row.component != "" && group[0].component != ""
}

// restarts reports whether a later row can be another start of the group's job.
func restarts(group []slurmRow) bool {
	latest := &group[0]
	for k := range group {
		if group[k].job.Submit >= latest.job.Submit {
			latest = &group[k]
		}
	}
	return isInterrupted(latest.job.State)
}

// isInterrupted reports whether Slurm restarts jobs that end in a state, unless users forbid it.
func isInterrupted(s State) bool { return s == Requeued || s == Preempted || s == NodeFailed }

// maxWaiting is the maximum number of rows of jobs that wait for another start. A row takes about 400 bytes.
const maxWaiting = 1 << 16

// waitingRows holds the rows of jobs that may have another start later in the file: sacct sorts rows by their time of
// submission, and Slurm resubmits a job when it requeues it.
type waitingRows struct {
	of    map[string][]slurmRow // by ID
	order []string              // IDs, the oldest first; some are no longer waiting
	rows  int
}

// add holds a copy of a group. A waiting group with the same ID becomes part of it; this needs an ID that Slurm used
// again.
func (w *waitingRows) add(group []slurmRow) {
	if w.of == nil {
		w.of = map[string][]slurmRow{}
	}
	id := group[0].job.ID
	w.of[id] = append(w.of[id], group...)
	w.order = append(w.order, id)
	w.rows += len(group)
}

// take moves the rows of an ID to a group if the function continues accepts them.
func (w *waitingRows) take(id string, group []slurmRow, continues func([]slurmRow) bool) []slurmRow {
	rows, waits := w.of[id]
	if !waits || !continues(rows) {
		return group
	}
	delete(w.of, id)
	w.rows -= len(rows)
	return append(group, rows...)
}

// oldest moves the rows that wait longest to a group.
func (w *waitingRows) oldest(group []slurmRow) []slurmRow {
	for len(w.order) > 0 && len(group) == 0 {
		id := w.order[0]
		w.order = w.order[1:]
		group = w.take(id, group, func([]slurmRow) bool { return true })
	}
	return group
}

// isRestart reports whether two rows with the same ID are starts of one job, in either order.
func isRestart(a, b *slurmRow) bool {
	if b.job.Submit < a.job.Submit {
		a, b = b, a
	}
	if isInterrupted(a.job.State) {
		return true
	}
	return a.over != missing && b.job.Submit >= a.over-sameSecond && b.job.Submit <= a.over+sameSecond
}

// merged returns the job of the group's rows.
func (s *slurm) merged() Job {
	s.used, s.unlisted = s.used[:0], 0
	if len(s.group) == 1 {
		return s.withHistory(s.group, s.group[0].job)
	}
	slices.SortStableFunc(s.group, func(a, b slurmRow) int {
		return cmp.Or(cmp.Compare(len(a.component), len(b.component)), cmp.Compare(a.component, b.component),
			cmp.Compare(a.job.Submit, b.job.Submit))
	})
	var job Job
	for begin, end := 0, 0; begin < len(s.group); begin = end {
		for end = begin + 1; end < len(s.group) && s.group[end].component == s.group[begin].component; end++ {
		}
		one := s.withStarts(s.group[begin:end])
		if begin == 0 {
			job = one
		} else {
			joinComponent(&job, &one)
		}
	}
	return job
}

// withStarts returns the job of one component. Its duration is the sum over its starts.
func (s *slurm) withStarts(starts []slurmRow) Job {
	job := starts[len(starts)-1].job
	job.Submit = starts[0].job.Submit
	for k := range starts[:len(starts)-1] {
		earlier := &starts[k].job
		job.Duration = clamped(job.Duration + earlier.Duration)
		if !s.table.history {
			job.addLost(earlier.Duration)
		}
		job.Spot = job.Spot || earlier.Spot
		if job.GPUs == 0 && job.CPUs == 0 {
			job.GPUs, job.CPUs, job.RAM = earlier.GPUs, earlier.CPUs, earlier.RAM
		}
		if job.GPUType == "" { // requested GPUs have a type only if the user named it
			job.GPUType = earlier.GPUType
		}
	}
	return s.withHistory(starts, job)
}

// withHistory adds the history of a component's starts to its job.
func (s *slurm) withHistory(starts []slurmRow, job Job) Job {
	if !s.table.history {
		return job
	}
	h := job.history()
	h.QOS = starts[0].qos
	before := -1
	for k := range starts {
		start := &starts[k]
		if start.began != missing {
			before++
		}
		if start.began != missing && !h.Started {
			h.Wait, h.Started = between(starts[0].job.Submit, start.began)
		}
		if start.job.State == NodeFailed {
			h.NodeFailures++
			h.FailedNodes = joinNodes(h.FailedNodes, start.nodes)
		}
		if k < len(starts)-1 {
			h.Lost = min(h.Lost+max(start.job.Duration, 0), maxSeconds)
		}
		h.Restarts = max(h.Restarts, start.restarts, before)
		s.addUse(start)
	}
	s.unlisted = max(s.unlisted, h.Restarts-(len(starts)-1))
	return job
}

// addUse adds the time in which a start had its GPUs. The end of a runaway start is unknown.
func (s *slurm) addUse(start *slurmRow) {
	job := &start.job
	if start.began != missing && job.GPUs > 0 && job.Duration > 0 && !job.Runaway() {
		s.used = append(s.used, change{start.began, job.GPUs}, change{start.began + job.Duration, -job.GPUs})
	}
}

// starts returns the starts and ends of the last job, and the number of its restarts without a row.
func (s *slurm) starts() (used []change, unlisted int) { return s.used, s.unlisted }

// between returns the time from one event to a later one. sacct prints local times. At the end of daylight saving time,
// clocks go back by an hour, so that the later event can have a time that is up to an hour earlier.
func between(from, to int64) (seconds int64, known bool) {
	const hour = 3600
	seconds = to - from
	if -hour <= seconds && seconds < 0 {
		seconds += hour
	}
	return clamped(max(seconds, 0)), seconds >= 0
}

// joinComponent adds a component of a heterogeneous job. All components start together. The job ends with the last one.
func joinComponent(job, other *Job) {
	if other.GPUs > job.GPUs {
		job.GPUType, job.NeedsType = other.GPUType, other.NeedsType
	}
	job.GPUs, job.CPUs = min(job.GPUs+other.GPUs, maxCount), min(job.CPUs+other.CPUs, maxCount)
	job.RAM = min(job.RAM+other.RAM, maxCount)
	job.Submit = min(job.Submit, other.Submit)
	job.Duration, job.Limit = max(job.Duration, other.Duration), max(job.Limit, other.Limit)
	job.lost = max(job.lost, other.lost)
	job.Spot = job.Spot || other.Spot
	if job.State == Completed || job.State == Unknown {
		job.State = other.State
	}
	if h, o := job.History, other.History; h != nil && o != nil {
		h.Started, h.Wait = h.Started || o.Started, max(h.Wait, o.Wait)
		h.Restarts, h.Lost = max(h.Restarts, o.Restarts), max(h.Lost, o.Lost)
		h.NodeFailures = min(h.NodeFailures+o.NodeFailures, maxCount)
		h.FailedNodes = joinNodes(h.FailedNodes, o.FailedNodes)
	}
}

// mostFailedNodes limits the text of a job's failed nodes, in bytes.
const mostFailedNodes = 4096

// joinNodes joins the nodes of several failures. It drops the nodes of the last ones if the text becomes too long.
func joinNodes(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	if len(first)+1+len(second) > mostFailedNodes {
		return first
	}
	return first + ";" + second
}
