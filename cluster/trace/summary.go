package trace

import (
	"cmp"
	"slices"
	"time"

	"graft/internal/stat"
)

// Summary holds the figures of a trace.
type Summary struct {
	Jobs    int `json:"jobs"`    // that were read
	Skipped int `json:"skipped"` // rows that do not say when they were, and were left out
	Users   int `json:"users"`   // who submitted them; zero is not known
	// date of second zero, in UTC for want of a time zone; null where it is not known
	Start       *time.Time `json:"start"`
	FirstSubmit int64      `json:"first_submit_s"` // seconds since second zero
	LastSubmit  int64      `json:"last_submit_s"`  // seconds since second zero
	GPUHours    float64    `json:"gpu_hours"`      // over all jobs
	GPUs        int        `json:"gpus"`           // of the cluster; zero is not known
	// GPU time over what the cluster's GPUs have from the first submission to the last; null where it is not known
	Load     *float64       `json:"load"`
	Duration Spread         `json:"duration_s"` // of the jobs, in seconds
	States   map[string]int `json:"states"`     // jobs by how they ended; an empty name is not known
	VCs      []VCSummary    `json:"vcs"`        // by name, or as their sizes are listed
	Sizes    []SizeSummary  `json:"sizes"`      // by the number of GPUs
	Findings []Finding      `json:"findings"`   // what is odd
}

// Spread is the distribution of durations. All fields are zero if there are no jobs.
type Spread struct {
	Mean float64 `json:"mean"` // the sum over the number
	P10  int64   `json:"p10"`  // a tenth of the jobs is no longer
	P25  int64   `json:"p25"`  // a quarter is no longer
	P50  int64   `json:"p50"`  // the median
	P75  int64   `json:"p75"`  // three quarters are no longer
	P90  int64   `json:"p90"`  // nine tenths are no longer
	P99  int64   `json:"p99"`  // all but a hundredth are no longer
	Max  int64   `json:"max"`  // the longest
}

// VCSummary is the jobs of a virtual cluster.
type VCSummary struct {
	Name     string   `json:"name"`      // as the trace has it
	Nodes    int      `json:"nodes"`     // that it has; zero is not known
	Jobs     int      `json:"jobs"`      // that were given to it
	GPUHours float64  `json:"gpu_hours"` // over its jobs
	MostGPUs int      `json:"most_gpus"` // of one of its jobs
	Load     *float64 `json:"load"`      // GPU time over what its GPUs have; null where its size is not known
}

// SizeSummary is the jobs with a number of GPUs.
type SizeSummary struct {
	GPUs     int     `json:"gpus"`       // of each of them
	Jobs     int     `json:"jobs"`       // with as many
	Share    float64 `json:"share"`      // of all jobs
	GPUHours float64 `json:"gpu_hours"`  // over them
	Duration Spread  `json:"duration_s"` // of them, in seconds
}

// Summarize reads a trace to its end. Beside the names in it, it remembers 8 bytes of each
// job, and its ID. Where reading ends at a fault it gives both the error and what the jobs
// before it come to.
func Summarize(r *Reader, o CheckOptions) (*Summary, error) {
	o.EnsureDefaults()
	checker, err := NewChecker(o)
	if err != nil {
		return nil, err
	}
	t := tally{checker: checker, users: map[string]bool{}, vcs: map[string]*VCSummary{}, sizes: map[int]*sizeTally{}}
	t.sum.States = map[string]int{}
	for {
		var job Job
		err := r.Read(&job)
		if isEOF(err) {
			return t.finish(r, o), nil
		}
		if err != nil {
			return t.finish(r, o), err
		}
		t.add(&job, r.Line())
	}
}

func (t *tally) head(r *Reader, o CheckOptions) {
	t.sum.Skipped = r.Skipped()
	if start, known := r.Start(); known && t.sum.Jobs > 0 {
		t.sum.Start = &start
	}
	if _, processors := r.Size(); len(o.VCs) == 0 && r.o.Processors == AsGPUs {
		t.sum.GPUs = processors
	}
}

type tally struct {
	sum     Summary
	checker *Checker
	users   map[string]bool
	vcs     map[string]*VCSummary
	sizes   map[int]*sizeTally
}

type sizeTally struct {
	gpuSeconds float64
	durations  []int64
}

func (t *tally) add(job *Job, line int) {
	s := &t.sum
	if s.Jobs == 0 {
		s.FirstSubmit, s.LastSubmit = job.Submit, job.Submit
	}
	s.Jobs++
	s.FirstSubmit, s.LastSubmit = min(s.FirstSubmit, job.Submit), max(s.LastSubmit, job.Submit)
	s.States[job.State.String()]++
	if job.User != "" {
		t.users[job.User] = true
	}
	gpuSeconds := float64(job.GPUs) * float64(max(job.Duration, 0))
	vc := t.vcs[job.VC]
	if vc == nil {
		vc = &VCSummary{Name: job.VC}
		t.vcs[job.VC] = vc
	}
	vc.Jobs++
	vc.GPUHours += gpuSeconds // in seconds until the end
	vc.MostGPUs = max(vc.MostGPUs, job.GPUs)
	size := t.sizes[job.GPUs]
	if size == nil {
		size = &sizeTally{}
		t.sizes[job.GPUs] = size
	}
	size.gpuSeconds += gpuSeconds
	size.durations = append(size.durations, job.Duration)
	t.checker.Add(job, line)
}

const secondsOfHour = 3600

func (t *tally) finish(r *Reader, o CheckOptions) *Summary {
	t.head(r, o)
	s := &t.sum
	s.Users, s.Findings = len(t.users), t.checker.Findings()
	s.Sizes, s.VCs = []SizeSummary{}, []VCSummary{}
	var all []int64
	for gpus, size := range t.sizes {
		all = append(all, size.durations...)
		jobs := len(size.durations)
		s.Sizes = append(s.Sizes, SizeSummary{gpus, jobs, float64(jobs) / float64(s.Jobs),
			size.gpuSeconds / secondsOfHour, spreadOf(size.durations)})
	}
	slices.SortFunc(s.Sizes, func(a, b SizeSummary) int { return cmp.Compare(a.GPUs, b.GPUs) })
	for _, size := range s.Sizes {
		s.GPUHours += size.GPUHours
	}
	s.Duration = spreadOf(all)
	t.finishVCs(o)
	s.Load = load(s.GPUHours*secondsOfHour, s.GPUs, s.LastSubmit-s.FirstSubmit)
	return s
}

// finishVCs brings virtual clusters into order: those whose size is known first.
func (t *tally) finishVCs(o CheckOptions) {
	s, place := &t.sum, map[string]int{}
	for k, vc := range o.VCs {
		if t.vcs[vc.Name] == nil {
			t.vcs[vc.Name] = &VCSummary{Name: vc.Name}
		}
		t.vcs[vc.Name].Nodes += vc.Nodes
		place[vc.Name] = k - len(o.VCs)
		s.GPUs += vc.Nodes * o.GPUsPerNode
	}
	for _, vc := range t.vcs {
		vc.Load = load(vc.GPUHours, vc.Nodes*o.GPUsPerNode, s.LastSubmit-s.FirstSubmit)
		vc.GPUHours /= secondsOfHour
		s.VCs = append(s.VCs, *vc)
	}
	slices.SortFunc(s.VCs, func(a, b VCSummary) int {
		return cmp.Or(cmp.Compare(place[a.Name], place[b.Name]), cmp.Compare(a.Name, b.Name))
	})
}

// load is the GPU time that jobs want over what there is; nil where that is not known.
func load(gpuSeconds float64, gpus int, span int64) *float64 {
	if gpus == 0 || span <= 0 {
		return nil
	}
	v := gpuSeconds / (float64(gpus) * float64(span))
	return &v
}

// spreadOf sorts durations and says how they are spread.
func spreadOf(durations []int64) Spread {
	n := len(durations)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(durations)
	at := func(p float64) int64 { return stat.StepQuantile(durations, p) }
	sum := 0.0
	for _, d := range durations {
		sum += float64(d)
	}
	return Spread{Mean: sum / float64(n), P10: at(0.1), P25: at(0.25), P50: at(0.5), P75: at(0.75), P90: at(0.9),
		P99: at(0.99), Max: durations[n-1]}
}
