package trace

import (
	"cmp"
	"slices"
	"strings"
)

// StateSummary summarises the jobs with an end state.
type StateSummary struct {
	State    string  `json:"state"`     // name of the state; empty means unknown
	Jobs     int     `json:"jobs"`      // number of jobs
	Share    float64 `json:"share"`     // fraction of all jobs
	GPUHours float64 `json:"gpu_hours"` // sum of GPU hours over these jobs
	GPUShare float64 `json:"gpu_share"` // fraction of the GPU hours of all jobs
}

// Waste is the GPU time without a result: the time of jobs that failed, exceeded their memory or time limit, were
// cancelled or evicted, or lost a node, and the time of the earlier starts of all other jobs. Checkpoints may have
// saved a part of it.
type Waste struct {
	Jobs     int     `json:"jobs"`      // number of jobs that ended without a result
	Ended    float64 `json:"gpu_hours"` // GPU hours of these jobs
	Restarts int     `json:"restarts"`  // number of starts after the first one, over all jobs
	// number of restarts without a row in a trace of Slurm; their node failures and lost GPU hours are unknown
	Unlisted int     `json:"restarts_without_row"`
	Lost     float64 `json:"lost_gpu_hours"` // GPU hours of the earlier starts of the other jobs
	GPUShare float64 `json:"gpu_share"`      // both GPU hours as a fraction of the GPU hours of all jobs
}

// wastes reports whether a job in an end state has no result.
func wastes(s State) bool {
	switch s {
	case Cancelled, Failed, TimedOut, NodeFailed, Preempted, OutOfMemory:
		return true
	}
	return false
}

func (t *tally) addState(job *Job, gpuSeconds float64) {
	w, s := &t.sum.Waste, &t.states[min(int(job.State), len(t.states)-1)]
	s.Jobs++
	s.GPUHours += gpuSeconds // in seconds until the end
	lost := 0.0
	if job.History != nil {
		w.Restarts += job.History.Restarts
		lost = job.Devices() * float64(job.History.Lost)
	}
	if wastes(job.State) {
		w.Jobs++
		w.Ended += gpuSeconds // in seconds until the end
	} else {
		w.Lost += lost // in seconds until the end
	}
}

func (t *tally) finishStates() {
	s := &t.sum
	s.States = []StateSummary{}
	share := func(hours float64) float64 { return hours / max(s.GPUHours, 1e-300) } // zero of zero hours
	for k, state := range t.states {
		if state.Jobs == 0 {
			continue
		}
		state.State, state.Share = State(k).String(), float64(state.Jobs)/float64(s.Jobs)
		state.GPUHours /= secondsOfHour
		state.GPUShare = share(state.GPUHours)
		s.States = append(s.States, state)
	}
	slices.SortStableFunc(s.States, func(a, b StateSummary) int {
		return cmp.Or(cmp.Compare(b.GPUHours, a.GPUHours), cmp.Compare(b.Jobs, a.Jobs))
	})
	s.Waste.Ended /= secondsOfHour
	s.Waste.Lost /= secondsOfHour
	s.Waste.GPUShare = share(s.Waste.Ended + s.Waste.Lost)
	s.Adapt.GPUHours /= secondsOfHour
	s.Adapt.Share, s.Adapt.GPUShare = float64(s.Adapt.Jobs)/float64(max(s.Jobs, 1)), share(s.Adapt.GPUHours)
}

// NodeFailures summarises the failures of nodes that ended jobs or their starts.
type NodeFailures struct {
	Failures int     `json:"failures"`  // number of starts of jobs that a node failure ended
	Jobs     int     `json:"jobs"`      // number of jobs with such a start
	GPUHours float64 `json:"gpu_hours"` // GPU hours of these jobs before their last start, or all if it failed too
	// failures for each 1000 days in which a job used a GPU; null if no job did
	Rate  *float64     `json:"per_1000_gpu_days"`
	Worst []FailedNode `json:"worst"` // nodes with most failures, at most five; only failures of jobs on one node
}

// FailedNode counts the failures of a node.
type FailedNode struct {
	Node     string `json:"node"`     // name of the node
	Failures int    `json:"failures"` // number of starts that ran only on this node when it failed
}

func (t *tally) addFailures(job *Job) {
	f, n, seconds := &t.sum.Failures, 0, int64(0)
	if h := job.History; h != nil {
		n, seconds = h.NodeFailures, h.Lost
		for nodes := range strings.SplitSeq(h.FailedNodes, ";") {
			if nodes != "" && !strings.ContainsAny(nodes, "[,") {
				t.failed[nodes]++
			}
		}
	}
	if job.State == NodeFailed {
		n, seconds = max(n, 1), job.Duration
	}
	if n > 0 {
		f.Failures += n
		f.Jobs++
		f.GPUHours += job.Devices() * float64(max(seconds, 0)) / secondsOfHour
	}
}

func (t *tally) finishFailures() {
	const most = 5
	f := &t.sum.Failures
	f.Worst = []FailedNode{}
	for node, n := range t.failed {
		f.Worst = append(f.Worst, FailedNode{node, n})
	}
	slices.SortFunc(f.Worst, func(a, b FailedNode) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Node, b.Node))
	})
	f.Worst = f.Worst[:min(len(f.Worst), most)]
	if days := t.sum.GPUHours / 24; days > 0 {
		rate := 1000 * float64(f.Failures) / days
		f.Rate = &rate
	}
}

// TypeSummary summarises the jobs with a type of GPU.
type TypeSummary struct {
	Type     string  `json:"type"`      // type, or accepted types separated by vertical bars; empty if unknown
	Jobs     int     `json:"jobs"`      // number of jobs
	Needed   int     `json:"needed"`    // number of jobs that run only on this type
	GPUHours float64 `json:"gpu_hours"` // sum of GPU hours over these jobs
}

func (t *tally) addType(job *Job, gpuSeconds float64) {
	if job.Spot {
		t.sum.Spot++
	}
	if job.GPUs == 0 {
		return
	}
	s := t.types[job.GPUType]
	if s == nil {
		s = &TypeSummary{Type: job.GPUType}
		t.types[job.GPUType] = s
	}
	s.Jobs++
	s.GPUHours += gpuSeconds / secondsOfHour
	if job.NeedsType {
		s.Needed++
	}
}

func (t *tally) finishTypes() {
	t.sum.Types = []TypeSummary{}
	if len(t.types) == 1 && t.types[""] != nil {
		return
	}
	for _, s := range t.types {
		t.sum.Types = append(t.sum.Types, *s)
	}
	slices.SortFunc(t.sum.Types, func(a, b TypeSummary) int {
		return cmp.Or(cmp.Compare(b.GPUHours, a.GPUHours), cmp.Compare(a.Type, b.Type))
	})
}
