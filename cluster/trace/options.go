package trace

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/internal/validate"
)

// secondsOfDay are the seconds of every day: dates in traces have no time zone.
const secondsOfDay = 86400

// Origin is the moment of a trace with dates that is its second zero.
type Origin int

const (
	// Midnight is the beginning of the day of the first job that is kept.
	Midnight Origin = iota
	// FirstJob is the submission of the first job that is kept.
	FirstJob
)

// of is the origin in seconds since 1970, by the first job's submission.
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

// Processors is the meaning of a processor in the Standard Workload Format.
type Processors int

const (
	// AsGPUs takes processors for GPUs.
	AsGPUs Processors = iota
	// AsCPUs takes processors for CPUs, so that no job has GPUs.
	AsCPUs
)

// Window is a span of seconds. A job submitted at either end is in it.
type Window struct {
	From int64 // the first second
	To   int64 // the last second
}

// holds says whether a second is in the window; all are where there is none.
func (w *Window) holds(second int64) bool {
	return w == nil || w.From <= second && second <= w.To
}

// Options say how a trace is read and which of its jobs are kept. The zero value keeps
// all jobs of a file whose format its first bytes tell.
type Options struct {
	Format string // name of one of [Formats]; empty is to tell it by the file's first bytes
	// moment of second zero where rows have dates; zero is Midnight. Where rows have seconds these stay as they are.
	Origin Origin
	// Since leaves out jobs submitted before a date, of a trace whose dates are known; the
	// zero time leaves out none. Dates have no time zone, so it is taken as UTC.
	Since      time.Time
	VCs        []string   // names the virtual clusters whose jobs are kept; none is all
	OnlyGPU    bool       // leaves out jobs without GPUs; false keeps them
	Window     *Window    // leaves out jobs submitted outside of it, in seconds since second zero; nil leaves out none
	Processors Processors // meaning of a processor in format swf; zero is a GPU
	// JobTable is the path of the table pai_job_table, which says of format alibaba2020 who
	// submitted a job, and when; empty is to do without. It is held in memory, 60 bytes
	// for each job.
	JobTable string

	owners *owners // what the table says
}

// Validate names all that is wrong with the options.
func (o *Options) Validate() error {
	var faults validate.Faults
	if o.Format != "" && formatOf(o.Format) == nil {
		faults = append(faults, fmt.Errorf("unknown trace format %.40q: use one of %s", o.Format, names()))
	}
	faults.When(o.Origin != Midnight && o.Origin != FirstJob, "origin %d is neither Midnight nor FirstJob", o.Origin)
	faults.When(o.Processors != AsGPUs && o.Processors != AsCPUs, "processors %d are neither AsGPUs nor AsCPUs",
		o.Processors)
	if w := o.Window; w != nil && w.From > w.To {
		faults = append(faults, fmt.Errorf("the window from %d to %d s ends before it begins", w.From, w.To))
	}
	faults.When(slices.Contains(o.VCs, ""), "a virtual cluster to keep has no name")
	return errors.Join(faults...)
}
