package elastic

import (
	"fmt"
	"io"
)

// maxTraceBytes is the maximum size of a trace file.
const maxTraceBytes = 256 << 20

// Trace is the content of a workload file.
type Trace struct {
	Settings  Settings
	Jobs      []Spec
	Overrides map[string]any // parameters of Settings that the file sets, by the original simulator's names
}

// ReadTrace reads a workload from a JSON object. The member "jobs" is a list of [Spec]. The member "overrides" has the
// parameters of the original simulator that differ from its defaults. Jobs refer to job types by number, counted from
// 1; the argument types is the highest number. Other members of the object are ignored.
func ReadTrace(r io.Reader, types int) (*Trace, error) {
	var file struct {
		Overrides map[string]any `json:"overrides"`
		Jobs      []Spec         `json:"jobs"`
	}
	if err := decode(r, maxTraceBytes, &file); err != nil {
		return nil, fmt.Errorf("read a trace of elastic jobs: %w", err)
	}
	settings, err := ParseOverrides(file.Overrides)
	if err != nil {
		return nil, fmt.Errorf("read a trace of elastic jobs: %w", err)
	}
	if n := len(file.Jobs); n == 0 || n > maxJobs {
		return nil, fmt.Errorf("read a trace of elastic jobs: member \"jobs\" has %d jobs; expected 1 to %d",
			n, maxJobs)
	}
	for k := range file.Jobs {
		if err := file.Jobs[k].fault(types); err != nil {
			return nil, fmt.Errorf("read a trace of elastic jobs: jobs[%d]: %w", k, err)
		}
	}
	return &Trace{settings, file.Jobs, file.Overrides}, nil
}

// Pattern returns the number of jobs that arrive in each slot, up to the last arrival.
func (t *Trace) Pattern() (counts []int) {
	for _, j := range t.Jobs {
		for len(counts) <= j.Arrival {
			counts = append(counts, 0)
		}
		counts[j.Arrival]++
	}
	return counts
}
