package lucid

import (
	"fmt"
	"strconv"
	"strings"

	"graft/cluster"
)

// Job holds the state that Lucid keeps for a job.
type Job struct {
	Profiled bool // the job ran in the profiler
	Skipped  bool // the job ended in the profiler
	Packed   bool // the job was packed onto the devices of another job
	Shared   bool // the job shares its devices, or shared them when it ended
	alone    bool // the quirk slow-partner reports a rate of one regardless of the true rate

	ProfileQueue int64 // seconds that the job waited for the profiler
	PackedAt     int64 // second at which the job was packed; zero if never
	UnpackedAt   int64 // second at which the job stopped sharing its devices; zero if never

	partner *cluster.Job // job on the same devices
}

// Of returns the state that Lucid keeps for a job. For a job under another policy, the state is empty.
func Of(j *cluster.Job) *Job {
	if known, ok := j.Record.(*Job); ok {
		return known
	}
	return &Job{}
}

// Rate returns the rate that the table of jobs shows for a job. With the quirk slow-partner, a job that is recorded as
// running alone has the rate 1, regardless of its true rate.
func Rate(j *cluster.Job) float64 {
	if Of(j).alone {
		return 1
	}
	return j.Rate()
}

// columns are the columns of Lucid's simulator, so that its tools can read tables of jobs.
var columns = []string{"profiled", "profqueue", "toskip", "exclusive", "rate", "Tcolocate", "Tdelocate"}

// Columns returns the names of the columns that Lucid adds to the table of jobs, or nil if the job was not profiled.
func (l *Job) Columns() []string {
	if !l.Profiled {
		return nil
	}
	return columns
}

// AppendCells appends the cells of Lucid's columns to a row, with floats in Python's format.
func (l *Job) AppendCells(row []byte, j *cluster.Job) []byte {
	for _, x := range [...]int64{one(l.Profiled), l.ProfileQueue, one(l.Skipped), one(!l.Shared)} {
		row = strconv.AppendInt(append(row, ','), x, 10)
	}
	rate := strconv.FormatFloat(Rate(j), 'f', -1, 64)
	if !strings.Contains(rate, ".") {
		rate += ".0"
	}
	row = append(append(row, ','), rate...)
	for _, x := range [...]int64{l.PackedAt, l.UnpackedAt} {
		row = strconv.AppendInt(append(row, ','), x, 10)
	}
	return row
}

// Count adds the job to the counts of jobs that were packed, that were profiled, and that ended in the profiler.
func (l *Job) Count(counts map[string]int) {
	counts["packed"] += int(one(l.Packed))
	counts["profiled"] += int(one(l.Profiled))
	counts["ended_in_profiler"] += int(one(l.Skipped))
}

// String describes when the job was profiled and packed.
func (l *Job) String() string {
	var words []string
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(l.Profiled, "profiled after %d s", l.ProfileQueue)
	say(l.Packed, "packed %d", l.PackedAt)
	say(l.UnpackedAt > 0, "alone %d", l.UnpackedAt)
	say(l.Shared, "shared")
	return strings.Join(words, " ")
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
