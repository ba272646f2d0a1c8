package trace

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"time"

	"graft/internal/stat"
	"graft/internal/validate"
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
	// GPU time of jobs divided by GPU time of the cluster from the first to the last submission; null if unknown. If
	// the virtual clusters are known, only their jobs count.
	Load     *float64       `json:"load"`
	Loading  float64        `json:"load_gpu_hours"` // GPU hours of the jobs that count in the load
	Early    *Early         `json:"early"`          // jobs that were submitted long before the others; null without any
	InUse    *Usage         `json:"in_use"`         // GPUs in use over time; null if no start is known
	Duration Spread         `json:"duration_s"`     // durations of jobs, in seconds
	Wait     *Spread        `json:"wait_s"`         // waiting times in seconds; null if no start is known
	States   []StateSummary `json:"states"`         // jobs by end state, most GPU hours first
	Waste    Waste          `json:"waste"`          // GPU time without a result
	Failures NodeFailures   `json:"node_failures"`  // failures of nodes that ended jobs
	// jobs whose end is unknown; no duration and no other sum of GPU hours includes their last start
	Runaway  Runaways      `json:"runaway"`
	Adapt    Adaptable     `json:"adaptable"` // jobs that could have adapted
	Types    []TypeSummary `json:"gpu_types"` // jobs by GPU type, most GPU hours first; empty if unknown
	Spot     int           `json:"spot_jobs"` // number of jobs that the cluster may evict
	VCs      []VCSummary   `json:"vcs"`       // virtual clusters by name, or in the order of the listed sizes
	Sizes    []SizeSummary `json:"sizes"`     // jobs by number of GPUs
	Findings []Finding     `json:"findings"`  // anomalies in the trace
}

// Runaways summarises jobs that still run more than an hour beyond their time limit: Slurm's accounting database lost
// their ends.
type Runaways struct {
	Jobs     int     `json:"jobs"`      // number of jobs
	GPUHours float64 `json:"gpu_hours"` // GPU hours of their last starts until the trace was taken
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

// SizeSummary summarises the jobs in a range of numbers of GPUs. The ranges end at powers of two.
type SizeSummary struct {
	GPUs     int     `json:"gpus"`       // minimum number of GPUs per job
	Most     int     `json:"most_gpus"`  // maximum number of GPUs per job
	Jobs     int     `json:"jobs"`       // number of jobs
	Share    float64 `json:"share"`      // fraction of all jobs
	GPUHours float64 `json:"gpu_hours"`  // sum of GPU hours over these jobs
	Duration Spread  `json:"duration_s"` // durations of these jobs in seconds
	Wait     *Spread `json:"wait_s"`     // waiting times of these jobs in seconds; null if no start is known
}

// SummaryOptions configures [Summarize]. The zero value describes no cluster.
type SummaryOptions struct {
	CheckOptions              // virtual clusters of the cluster; the zero value means that they are unknown
	GPUs         int          // GPUs of the cluster, if CheckOptions has no virtual clusters; zero means unknown
	Adapt        AdaptOptions // definition of the jobs that could have adapted; the zero value selects the defaults
	Aliases      *Aliases     // other names of virtual clusters; may be nil
}

// EnsureDefaults replaces zero values with defaults.
func (o *SummaryOptions) EnsureDefaults() {
	o.CheckOptions.EnsureDefaults()
	o.Adapt.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (o *SummaryOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.GPUs < 0 || o.GPUs > maxCount, "the cluster has %d GPUs; expected 0 to %d", o.GPUs, maxCount)
	faults.When(o.GPUs > 0 && len(o.VCs) > 0, "the number of GPUs and a list of virtual clusters exclude each other")
	return errors.Join(o.CheckOptions.Validate(), o.Adapt.Validate(), errors.Join(faults...))
}

// Summarize reads a trace to its end. For each job it stores the ID and 8 bytes; it also stores the names of all users
// and virtual clusters. If it finds an invalid job, it returns both the error and the summary of the jobs before it.
func Summarize(r *Reader, o SummaryOptions) (*Summary, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	checker, err := NewChecker(o.CheckOptions)
	if err != nil {
		return nil, err
	}
	t := tally{checker: checker, users: map[string]bool{}, vcs: map[string]*VCSummary{},
		types: map[string]*TypeSummary{}, failed: map[string]int{}}
	t.sum.Adapt.AdaptOptions = o.Adapt
	var job Job
	for {
		err := r.Read(&job)
		if isEOF(err) {
			return t.finish(r, o), nil
		}
		if err != nil {
			return t.finish(r, o), err
		}
		o.Aliases.Rename(&job)
		t.checker.dated = r.rows.clock().dates
		t.add(&job, r.Line())
		t.addStarts(&job, r)
	}
}

func (t *tally) head(r *Reader, o SummaryOptions) {
	t.sum.GPUs = o.GPUs
	t.sum.Skipped = r.Skipped()
	if start, known := r.Start(); known && t.sum.Jobs > 0 {
		if r.rows.clock().dates { // as ReadAll sets second 0, whatever the order of the rows
			zero := r.o.Origin.of(t.sum.FirstSubmit)
			t.sum.FirstSubmit, t.sum.LastSubmit = t.sum.FirstSubmit-zero, t.sum.LastSubmit-zero
			start = time.Unix(start.Unix()+zero, 0).UTC()
		}
		t.sum.Start = &start
	}
	if _, processors := r.Size(); len(o.VCs) == 0 && o.GPUs == 0 && r.o.Processors == AsGPUs {
		t.sum.GPUs = processors
	}
}

type tally struct {
	sum     Summary
	checker *Checker
	users   map[string]bool
	vcs     map[string]*VCSummary
	types   map[string]*TypeSummary
	states  [len(stateNames)]StateSummary
	sizes   [sizeRanges]sizeTally
	changes []change       // starts and ends of jobs
	failed  map[string]int // node failures of jobs on one node, by node
	early   earliest
	last    int64 // last submission, in the time of the reader
}

type sizeTally struct {
	jobs             int
	gpuSeconds       float64
	durations, waits []int64
}

// sizeRanges is the number of ranges of GPUs: 0, 1, 2, 3 to 4, 5 to 8, and so on.
const sizeRanges = 33

// rangeOf returns the index of the range of a number of GPUs.
func rangeOf(gpus int) int {
	if gpus == 0 {
		return 0
	}
	return min(bits.Len(uint(gpus-1))+1, sizeRanges-1)
}

func (t *tally) add(job *Job, line int) {
	s := &t.sum
	if s.Jobs == 0 {
		s.FirstSubmit, s.LastSubmit = job.Submit, job.Submit
	}
	s.Jobs++
	s.FirstSubmit, s.LastSubmit = min(s.FirstSubmit, job.Submit), max(s.LastSubmit, job.Submit)
	t.early.add(job.Submit)
	t.last = s.LastSubmit
	if job.User != "" {
		t.users[job.User] = true
	}
	gpuSeconds := t.gpuSeconds(job)
	vc := t.vcs[job.VC]
	if vc == nil {
		vc = &VCSummary{Name: job.VC}
		t.vcs[job.VC] = vc
	}
	vc.Jobs++
	vc.GPUHours += gpuSeconds // in seconds until the end
	vc.MostGPUs = max(vc.MostGPUs, job.GPUs)
	size := &t.sizes[rangeOf(job.GPUs)]
	size.add(job, gpuSeconds)
	t.addState(job, gpuSeconds)
	t.addType(job, gpuSeconds)
	t.addFailures(job)
	t.addAdaptable(job, gpuSeconds)
	t.checker.Add(job, line)
}

// gpuSeconds returns the GPU time of a job, in which a part of a GPU counts as this part. It counts the last start of a
// runaway job separately.
func (t *tally) gpuSeconds(job *Job) float64 {
	ran := max(job.Duration, 0)
	if job.Runaway() {
		s := &t.sum.Runaway
		s.Jobs++
		s.GPUHours += job.Devices() * float64(ran-job.earlier()) / secondsOfHour
		ran = job.earlier()
	}
	return job.Devices() * float64(ran)
}

func (s *sizeTally) add(job *Job, gpuSeconds float64) {
	s.jobs++
	s.gpuSeconds += gpuSeconds
	if !job.Runaway() {
		s.durations = append(s.durations, job.Duration)
	}
	if h := job.History; h != nil && h.Started {
		s.waits = append(s.waits, h.Wait)
	}
}

const secondsOfHour = 3600

func (t *tally) finish(r *Reader, o SummaryOptions) *Summary {
	t.head(r, o)
	s := &t.sum
	s.Users, s.Findings = len(t.users), t.checker.Findings()
	s.VCs = []VCSummary{}
	t.finishSizes()
	t.finishVCs(o)
	if len(o.VCs) == 0 {
		s.Loading = s.GPUHours
	}
	s.Load = load(s.Loading*secondsOfHour, s.GPUs, s.LastSubmit-s.FirstSubmit)
	if s.Early = t.early.summary(s.Jobs, t.last); s.Early != nil {
		s.Early.Next -= t.last - s.LastSubmit
	}
	s.InUse = usageOf(t.changes)
	t.finishStates()
	t.finishTypes()
	t.finishFailures()
	return s
}

// finishSizes computes the distributions of durations and waits.
func (t *tally) finishSizes() {
	s := &t.sum
	s.Sizes = []SizeSummary{}
	var durations, waits []int64
	for k := range t.sizes {
		size := &t.sizes[k]
		jobs := size.jobs
		if jobs == 0 {
			continue
		}
		durations, waits = append(durations, size.durations...), append(waits, size.waits...)
		least, most := 0, 0
		if k > 0 {
			least, most = 1<<(k-1)/2+1, 1<<(k-1)
		}
		hours := size.gpuSeconds / secondsOfHour
		s.GPUHours += hours
		s.Sizes = append(s.Sizes, SizeSummary{least, most, jobs, float64(jobs) / float64(s.Jobs), hours,
			spreadOf(size.durations), waitsOf(size.waits)})
	}
	s.Duration, s.Wait = spreadOf(durations), waitsOf(waits)
}

// finishVCs sorts virtual clusters: the ones with known sizes first.
func (t *tally) finishVCs(o SummaryOptions) {
	s, place, gpus := &t.sum, map[string]int{}, map[string]int{}
	for k, vc := range o.VCs {
		if t.vcs[vc.Name] == nil {
			t.vcs[vc.Name] = &VCSummary{Name: vc.Name}
		}
		t.vcs[vc.Name].Nodes += vc.Nodes
		place[vc.Name] = k - len(o.VCs)
		gpus[vc.Name] += vc.GPUs(o.GPUsPerNode)
		s.GPUs += vc.GPUs(o.GPUsPerNode)
	}
	for _, vc := range t.vcs {
		vc.Load = load(vc.GPUHours, gpus[vc.Name], s.LastSubmit-s.FirstSubmit)
		vc.GPUHours /= secondsOfHour
		if vc.Nodes > 0 {
			s.Loading += vc.GPUHours
		}
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

// waitsOf sorts waiting times and returns their distribution; nil if there are none.
func waitsOf(waits []int64) *Spread {
	if len(waits) == 0 {
		return nil
	}
	s := spreadOf(waits)
	return &s
}

// spreadOf sorts durations and returns their distribution.
func spreadOf(durations []int64) Spread {
	n := len(durations)
	if n == 0 {
		return Spread{}
	}
	stat.SortInts(durations, nil)
	at := func(p float64) int64 { return stat.StepQuantile(durations, p) }
	sum := 0.0
	for _, d := range durations {
		sum += float64(d)
	}
	return Spread{Mean: sum / float64(n), P10: at(0.1), P25: at(0.25), P50: at(0.5), P75: at(0.75), P90: at(0.9),
		P99: at(0.99), Max: durations[n-1]}
}
