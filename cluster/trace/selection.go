package trace

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"graft/internal/validate"
	"graft/internal/words"
)

// Selection selects jobs by what the trace says about them, and shares of these jobs.
type Selection struct {
	// Shares of the selected jobs, between 0 and 1. graft simulates each share separately; a larger share includes the
	// jobs of a smaller one. Empty means 0 and 1.
	Shares []float64
	// End states in the trace of the selected jobs, such as ["COMPLETED"]. Empty means all states.
	States []string `json:",omitempty"`
	// Minimum run time in the trace of the selected jobs, in hours. Default 0.
	MinHours float64 `config:"min_hours" json:",omitempty"`
	// Minimum number of GPUs of the selected jobs. Default 0.
	MinGPUs int `config:"min_gpus" json:",omitempty"`
}

// mostHours limits the run time of selected jobs. A value beyond it is a typing error.
const mostHours = 1e6

// EnsureDefaults fills unset shares.
func (s *Selection) EnsureDefaults() {
	if len(s.Shares) == 0 {
		s.Shares = []float64{0, 1}
	}
}

// Selects reports whether only some kinds of jobs are selected.
func (s *Selection) Selects() bool { return len(s.States) > 0 || s.MinHours != 0 || s.MinGPUs != 0 }

// Accepts reports whether a job is selected.
func (s *Selection) Accepts(j *Job) bool {
	return (len(s.States) == 0 || slices.Contains(s.States, j.State.String())) &&
		float64(j.Duration+j.dropped()) >= secondsOfHour*s.MinHours && j.GPUs >= s.MinGPUs
}

// Draws returns random numbers of a job, which do not depend on other jobs or on the scheduler.
func (job *Job) Draws(seed uint64) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(job.ID)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// dropped returns the run time of earlier starts that a replay left out of the duration, in seconds.
func (job *Job) dropped() int64 {
	if job.History == nil {
		return 0
	}
	return job.History.Dropped
}

// String describes the selected jobs.
func (s *Selection) String() string {
	return fmt.Sprintf("states %s, at least %g h and %s", cmp.Or(strings.Join(s.States, ", "), "all"), s.MinHours,
		words.Plural(max(1, s.MinGPUs), "GPU"))
}

// Validate returns an error that lists every invalid option.
func (s *Selection) Validate() error {
	var faults validate.Faults
	for k, share := range s.Shares {
		faults.When(!(share >= 0 && share <= 1) || slices.Contains(s.Shares[:k], share),
			"shares[%d] is %v; expected unique numbers from 0 to 1", k, share)
	}
	for k, name := range s.States {
		var state State // whose text can be another name, from another format
		faults.When(state.UnmarshalText([]byte(name)) != nil || state.String() != name || name == "",
			"states[%d] is %.40q; expected a state that 'graft trace describe' prints, such as COMPLETED", k, name)
	}
	faults.Unless(s.MinHours >= 0 && s.MinHours <= mostHours, "min_hours is %v; must be between 0 and %v", s.MinHours,
		float64(mostHours))
	faults.When(s.MinGPUs < 0, "min_gpus is %d; must be at least 0", s.MinGPUs)
	return errors.Join(faults...)
}
