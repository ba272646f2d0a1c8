package trace

import (
	"cmp"
	"slices"
	"time"

	"graft/internal/stat"
)

// Summary holds statistics of a trace.
type Summary struct {
	Jobs    int `json:"jobs"`    // number of jobs read
	Skipped int `json:"skipped"` // number of rows that were left out because they have no times
	Users   int `json:"users"`   // number of submitters; zero if unknown
	// date of time 0, in UTC; null if unknown
	Start       *time.Time `json:"start"`
	FirstSubmit int64      `json:"first_submit_s"` // first submission in seconds since second zero
	LastSubmit  int64      `json:"last_submit_s"`  // last submission in seconds since second zero
	GPUHours    float64    `json:"gpu_hours"`      // sum of GPU hours over all jobs
	GPUs        int        `json:"gpus"`           // number of GPUs of the cluster; zero if unknown
	// GPU time of jobs divided by GPU time of the cluster from the first to the last submission; null if unknown
	Load     *float64       `json:"load"`
	Duration Spread         `json:"duration_s"` // durations of jobs, in seconds
	States   map[string]int `json:"states"`     // number of jobs by end state; an empty name means unknown
	VCs      []VCSummary    `json:"vcs"`        // virtual clusters by name, or in the order of the listed sizes
	Sizes    []SizeSummary  `json:"sizes"`      // job sizes by number of GPUs
	Findings []Finding      `json:"findings"`   // anomalies in the trace
}

// Spread summarizes the distribution of durations. All fields are zero if there are no jobs.
type Spread struct {
	Mean float64 `json:"mean"` // mean
	P10  int64   `json:"p10"`  // 10th percentile
	P25  int64   `json:"p25"`  // 25th percentile
	P50  int64   `json:"p50"`  // median
	P75  int64   `json:"p75"`  // 75th percentile
	P90  int64   `json:"p90"`  // 90th percentile
	P99  int64   `json:"p99"`  // 99th percentile
	Max  int64   `json:"max"`  // maximum
}

// VCSummary summarises the jobs of a virtual cluster.
type VCSummary struct {
	Name     string  `json:"name"`      // name in the trace
	Nodes    int     `json:"nodes"`     // number of nodes; zero if unknown
	Jobs     int     `json:"jobs"`      // number of jobs submitted to the virtual cluster
	GPUHours float64 `json:"gpu_hours"` // sum of GPU hours over its jobs
	MostGPUs int     `json:"most_gpus"` // maximum number of GPUs of a job
	// GPU time of the virtual cluster's jobs divided by GPU time of its nodes; null if the number of nodes is unknown
	Load *float64 `json:"load"`
}

// SizeSummary summarises the jobs with a given number of GPUs.
type SizeSummary struct {
	GPUs     int     `json:"gpus"`       // GPUs per job
	Jobs     int     `json:"jobs"`       // number of jobs
	Share    float64 `json:"share"`      // fraction of all jobs
	GPUHours float64 `json:"gpu_hours"`  // sum of GPU hours over these jobs
	Duration Spread  `json:"duration_s"` // durations of these jobs in seconds
}

// Summarize reads a trace to its end. For each job it stores the ID and 8 bytes; it also stores the names of all users
// and virtual clusters. If it finds an invalid job, it returns both the error and the summary of the jobs before it.
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

// finishVCs sorts virtual clusters: the ones with known sizes first.
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

// load returns the requested GPU time divided by the available GPU time; nil if unknown.
func load(gpuSeconds float64, gpus int, span int64) *float64 {
	if gpus == 0 || span <= 0 {
		return nil
	}
	v := gpuSeconds / (float64(gpus) * float64(span))
	return &v
}

// spreadOf sorts durations and returns their distribution.
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
