package trace

import (
	"cmp"
	"fmt"
	"slices"
)

const gpusPerNode = 8

// Kind is a kind of finding about a job.
type Kind string

// The kinds of what is odd, in the order in which they are listed.
const (
	DuplicateID    Kind = "duplicate-id"    // another job before it has its ID
	NegativeSubmit Kind = "negative-submit" // it was submitted before second zero
	Unsorted       Kind = "unsorted"        // it was submitted before the job above it
	NoDuration     Kind = "no-duration"     // it took no time
	// NegativeDuration is that it took less than no time.
	NegativeDuration Kind = "negative-duration"
	NoGPUs           Kind = "no-gpus"       // it asks for no device
	TooManyGPUs      Kind = "too-many-gpus" // its virtual cluster never has as many devices
	UnknownVC        Kind = "unknown-vc"    // nothing is said of the size of its virtual cluster
	PartOfGPU        Kind = "part-of-gpu"   // it asks for less than a whole device
	OddGPUs          Kind = "odd-gpus"      // its devices are no power of two
	NoProfile        Kind = "no-profile"    // nothing is said of what it trains, or with which batch
	UnknownState     Kind = "unknown-state" // nothing that is known is said of how it ended
)

type kindRow struct {
	kind    Kind
	refused bool
	text    string
}

var kinds = []kindRow{
	{DuplicateID, true, "its ID is that of a job before it"},
	{NegativeSubmit, true, "it is submitted before second zero"},
	{Unsorted, false, "it is submitted before the job above it: jobs are sorted"},
	{NoDuration, false, "it takes no time"},
	{NegativeDuration, true, "it takes less than no time"},
	{NoGPUs, true, "it asks for no GPU"},
	{TooManyGPUs, true, "it asks for more GPUs than its virtual cluster has"},
	{UnknownVC, true, "its virtual cluster is not among those whose size is known"},
	{PartOfGPU, false, "it asks for a part of a GPU"},
	{OddGPUs, false, "its number of GPUs is no power of two"},
	{NoProfile, false, "its model or batch is not known"},
	{UnknownState, false, "how it ended is not known"},
}

// Refused says whether jobs of a kind cannot be simulated: they would never begin, never
// end, or be taken for another.
func (k Kind) Refused() bool {
	return slices.ContainsFunc(kinds, func(row kindRow) bool { return row.kind == k && row.refused })
}

// Finding counts the jobs of a trace with one oddity.
type Finding struct {
	Kind      Kind   `json:"kind"`       // one word
	Text      string `json:"text"`       // what it means of a job
	Count     int    `json:"count"`      // of jobs
	Refused   bool   `json:"refused"`    // whether such jobs cannot be simulated
	FirstLine int    `json:"first_line"` // of the file; of jobs in memory their number, from 1
	FirstID   string `json:"first_id"`   // of the first such job
}

// CheckOptions say against what a trace is checked. The zero value knows of no cluster.
type CheckOptions struct {
	VCs         []VC // virtual clusters; none is that their sizes are not known, and nothing is too large then
	GPUsPerNode int  // number of GPUs of a node; zero is 8
}

// EnsureDefaults sets what is zero.
func (o *CheckOptions) EnsureDefaults() {
	o.GPUsPerNode = cmp.Or(o.GPUsPerNode, gpusPerNode)
}

// Validate says what is wrong with the options.
func (o *CheckOptions) Validate() error {
	if o.GPUsPerNode < 1 || o.GPUsPerNode > MaxNodes {
		return fmt.Errorf("a node has %d GPUs: give it from 1 to %d", o.GPUsPerNode, MaxNodes)
	}
	return nil
}

// Checker looks at jobs one after the other. It remembers their IDs, and nothing else.
type Checker struct {
	gpus  map[string]int // of each virtual cluster; nil is not known
	seen  map[string]struct{}
	found map[Kind]*Finding
	last  int64 // submission of the job before
	jobs  int
}

// NewChecker has seen nothing yet.
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
		c.gpus[vc.Name] += vc.Nodes * o.GPUsPerNode
	}
	return c, nil
}

// Add looks at a job, and says whether it can be simulated.
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
	odd(NegativeSubmit, job.Submit < 0)
	odd(Unsorted, c.jobs > 0 && job.Submit < c.last)
	odd(NoDuration, job.Duration == 0)
	odd(NegativeDuration, job.Duration < 0)
	odd(NoGPUs, job.GPUs <= 0)
	if c.gpus != nil {
		has, known := c.gpus[job.VC]
		odd(UnknownVC, !known)
		odd(TooManyGPUs, known && job.GPUs > has)
	}
	odd(PartOfGPU, job.Share > 0)
	odd(OddGPUs, job.GPUs > 0 && job.GPUs&(job.GPUs-1) != 0)
	odd(NoProfile, job.Model == "" || job.Batch == 0)
	odd(UnknownState, job.State == Unknown)
	c.last = job.Submit
	c.jobs++
	return !refused
}

// note counts what is odd, and says whether such jobs are refused.
func (c *Checker) note(kind Kind, job *Job, line int) bool {
	f := c.found[kind]
	if f == nil {
		f = &Finding{Kind: kind, Refused: kind.Refused(), FirstLine: line, FirstID: job.ID}
		c.found[kind] = f
	}
	f.Count++
	return f.Refused
}

// Findings lists what was odd so far.
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

// Check lists what is odd about jobs in memory.
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
