package trace

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/internal/validate"
)

// secondsOfDay is the number of seconds of every day: dates in traces have no time zone.
const secondsOfDay = 86400

// Origin selects the moment that becomes time 0 of a trace with dates.
type Origin int

const (
	// Midnight is the beginning of the day of the first kept job.
	Midnight Origin = iota
	// FirstJob is the submission of the first kept job.
	FirstJob
)

// of returns the origin in seconds since 1970, given the first job's submission.
func (o Origin) of(first int64) int64 {
	if o == FirstJob {
		return first
	}
	day := first / secondsOfDay
	if first%secondsOfDay < 0 {
		day--
	}
	return day * secondsOfDay
}

// Processors selects whether a processor in a trace in the Standard Workload Format counts as a GPU or as a CPU.
type Processors int

const (
	// AsGPUs counts processors as GPUs.
	AsGPUs Processors = iota
	// AsCPUs counts processors as CPUs, so that no job has GPUs.
	AsCPUs
)

// Window is a range of submission times, in seconds, including both ends.
type Window struct {
	From int64 // first second
	To   int64 // last second
}

// holds reports whether a second is in the window. A nil window contains all seconds.
func (w *Window) holds(second int64) bool {
	return w == nil || w.From <= second && second <= w.To
}

// Options determines how a trace is read and which jobs are kept. The zero value detects the format from the first
// bytes of the file and keeps all jobs.
type Options struct {
	Format string // format, one of [Formats]; empty detects it from the first bytes of the file
	// moment that becomes time 0, for rows with dates; zero means Midnight; rows with times in seconds stay unchanged
	Origin Origin
	// Since leaves out jobs submitted before a date, in a trace with known dates; the zero time keeps all jobs. Dates
	// have no time zone and are taken as UTC.
	Since      time.Time
	VCs        []string   // virtual clusters whose jobs are kept; nil means all
	OnlyGPU    bool       // leaves out jobs without GPUs; false keeps them
	Window     *Window    // range of submissions to keep, in seconds since second zero; nil keeps all jobs
	Processors Processors // meaning of a processor in the format swf; zero means a GPU
	// JobTable is the path of the table pai_job_table, which has the submitter and the submission time of jobs in the
	// format alibaba2020. The table takes about 60 bytes of memory per job. Empty means none.
	JobTable string
	// names of partitions and of qualities of service whose jobs the cluster may evict, in the format slurm; nil means
	// none. A job that was evicted is a spot job in any case.
	Spot []string
	// keeps the waits, restarts and node failures of jobs in Job.History; false omits them, which saves memory
	History bool

	owners *owners // content of the table
}

// Validate returns an error that lists every invalid option.
func (o *Options) Validate() error {
	var faults validate.Faults
	if o.Format != "" && formatOf(o.Format) == nil {
		faults = append(faults, fmt.Errorf("unknown trace format %.40q; expected one of: %s", o.Format, names()))
	}
	faults.When(o.Origin != Midnight && o.Origin != FirstJob, "unknown origin %d; expected Midnight or FirstJob",
		o.Origin)
	faults.When(o.Processors != AsGPUs && o.Processors != AsCPUs, "unknown meaning of processors %d; expected "+
		"AsGPUs or AsCPUs",
		o.Processors)
	if w := o.Window; w != nil && w.From > w.To {
		faults = append(faults, fmt.Errorf("the window is from second %d to %d; expected an end at or after its start",
			w.From, w.To))
	}
	faults.When(slices.Contains(o.Spot, ""), "the list of partitions and qualities of service with spot jobs has an "+
		"empty name; remove it")
	faults.When(slices.Contains(o.VCs, ""), "the list of virtual clusters to keep has an empty name; remove it")
	return errors.Join(faults...)
}
