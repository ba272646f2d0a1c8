package trace

import (
	"cmp"
	"fmt"
	"slices"
)

const gpusPerNode = 8

// Kind names a type of anomaly in a job.
type Kind string

// Kinds of findings, in the order of listings.
const (
	DuplicateID    Kind = "duplicate-id"    // an earlier job has the same ID
	NegativeSubmit Kind = "negative-submit" // job was submitted before second zero
	Unsorted       Kind = "unsorted"        // job was submitted before the previous job
	NoDuration     Kind = "no-duration"     // job has the duration zero, and may have started
	NeverStarted   Kind = "never-started"   // job never ran on the traced cluster
	Runaway        Kind = "runaway"         // job still runs more than an hour beyond its time limit
	// NegativeDuration reports that a job's duration is negative.
	NegativeDuration Kind = "negative-duration"
	NoGPUs           Kind = "no-gpus"       // job requests no device
	TooManyGPUs      Kind = "too-many-gpus" // job requests more devices than its virtual cluster has
	UnknownVC        Kind = "unknown-vc"    // size of the job's virtual cluster is unknown
	PartOfGPU        Kind = "part-of-gpu"   // job requests less than a whole device
	OddGPUs          Kind = "odd-gpus"      // number of devices is not a power of two
	NoProfile        Kind = "no-profile"    // model or batch of the job is unknown
	UnknownState     Kind = "unknown-state" // end state of the job is missing or unknown
)

type kindRow struct {
	kind    Kind
	refused bool
	text    string
}

var kinds = []kindRow{
	{DuplicateID, true, "its ID is a duplicate"},
	{NegativeSubmit, true, "it is submitted before second 0"},
	{Unsorted, false, "it is submitted before the previous job; readers sort jobs"},
	{NoDuration, false, "its duration is zero"},
	{NeverStarted, false, "it never started"},
	{Runaway, false, "it still runs, more than an hour beyond its time limit"},
	{NegativeDuration, true, "its duration is negative"},
	{NoGPUs, true, "it requests no GPU"},
	{TooManyGPUs, true, "it requests more GPUs than its virtual cluster has"},
	{UnknownVC, true, "its virtual cluster is not in the list of virtual clusters"},
	{PartOfGPU, false, "it requests a part of a GPU"},
	{OddGPUs, false, "its number of GPUs is not a power of two"},
	{NoProfile, false, "its model or batch is unknown"},
	{UnknownState, false, "its final state is unknown"},
}

// Refused reports whether jobs with this anomaly cannot be simulated, because they would never start, never end, or be
// confused with another job.
func (k Kind) Refused() bool {
	return slices.ContainsFunc(kinds, func(row kindRow) bool { return row.kind == k && row.refused })
}

// Finding counts the jobs of a trace that have one type of anomaly.
type Finding struct {
	Kind      Kind   `json:"kind"`       // kind of the finding, one word
	Text      string `json:"text"`       // meaning of the finding, with the job as subject
	Count     int    `json:"count"`      // number of jobs
	Refused   bool   `json:"refused"`    // such jobs cannot be simulated
	FirstLine int    `json:"first_line"` // line of the first such job; for jobs in memory, the job's number, from 1
	FirstID   string `json:"first_id"`   // ID of the first such job
}

// CheckOptions describes the cluster on which the jobs of a checked trace must fit. The zero value describes no
// cluster.
type CheckOptions struct {
	VCs         []VC // virtual clusters; nil means unknown sizes, so that no job is too large
	GPUsPerNode int  // GPUs per node; zero means 8
}

// EnsureDefaults replaces zero values with defaults.
func (o *CheckOptions) EnsureDefaults() {
	o.GPUsPerNode = cmp.Or(o.GPUsPerNode, gpusPerNode)
}

// Validate returns an error that lists every invalid option.
func (o *CheckOptions) Validate() error {
	if o.GPUsPerNode < 1 || o.GPUsPerNode > MaxNodes {
		return fmt.Errorf("the number of GPUs per node is %d; expected 1 to %d", o.GPUsPerNode, MaxNodes)
	}
	return nil
}

// Checker checks jobs one after another. It stores only the IDs of jobs.
type Checker struct {
	gpus  map[string]int // by virtual cluster; nil if unknown
	seen  map[string]struct{}
	found map[Kind]*Finding
	last  int64 // submission of the previous job
	line  int   // line of the previous job
	jobs  int
	// submissions are dates: no job is before second 0, the midnight before the first submission
	dated bool
}

// NewChecker returns a checker that has not checked a job yet.
func NewChecker(o CheckOptions) (*Checker, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Checker{seen: map[string]struct{}{}, found: map[Kind]*Finding{}}
	if len(o.VCs) > 0 {
		c.gpus = map[string]int{}
	}
	for _, vc := range o.VCs {
		c.gpus[vc.Name] += vc.GPUs(o.GPUsPerNode)
	}
	return c, nil
}

// Add checks a job, which begins at the given line of the trace file, and reports whether the job can be simulated.
func (c *Checker) Add(job *Job, line int) bool {
	refused := false
	odd := func(kind Kind, is bool) {
		if is {
			refused = c.note(kind, job, line) || refused
		}
	}
	_, twice := c.seen[job.ID]
	c.seen[job.ID] = struct{}{}
	odd(DuplicateID, twice)
	odd(NegativeSubmit, job.Submit < 0 && !c.dated)
	late := line < c.line // the reader held the job back
	odd(Unsorted, c.jobs > 0 && job.Submit < c.last && !late)
	odd(NoDuration, job.Duration == 0 && !job.NeverStarted())
	odd(NeverStarted, job.NeverStarted())
	odd(Runaway, job.Runaway())
	odd(NegativeDuration, job.Duration < 0)
	odd(NoGPUs, job.GPUs <= 0)
	if c.gpus != nil {
		has, known := c.gpus[job.VC]
		odd(UnknownVC, !known)
		odd(TooManyGPUs, known && job.GPUs > has)
	}
	odd(PartOfGPU, job.Share > 0)
	odd(OddGPUs, job.GPUs > 0 && job.GPUs&(job.GPUs-1) != 0)
	training := job.Trains()
	odd(NoProfile, training.Model == "" || training.Batch == 0)
	odd(UnknownState, job.State == Unknown)
	if !late {
		c.last, c.line = job.Submit, line
	}
	c.jobs++
	return !refused
}

// note counts a finding, and reports whether such jobs are refused.
func (c *Checker) note(kind Kind, job *Job, line int) bool {
	f := c.found[kind]
	if f == nil {
		f = &Finding{Kind: kind, Refused: kind.Refused(), FirstLine: line, FirstID: job.ID}
		c.found[kind] = f
	}
	f.Count++
	return f.Refused
}

// Findings returns the findings so far.
func (c *Checker) Findings() []Finding {
	list := []Finding{}
	for _, row := range kinds {
		if f := c.found[row.kind]; f != nil {
			f.Text = row.text
			list = append(list, *f)
		}
	}
	return list
}

// Check returns the findings about jobs in memory.
func Check(jobs []Job, o CheckOptions) ([]Finding, error) {
	c, err := NewChecker(o)
	if err != nil {
		return nil, err
	}
	for k := range jobs {
		c.Add(&jobs[k], k+1)
	}
	return c.Findings(), nil
}
