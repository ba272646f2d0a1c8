package elastic

import (
	"errors"
	"fmt"
	"math"

	"graft/internal/validate"
)

// Largest values of a workload.
const (
	maxJobs    = 1 << 20
	maxArrival = 1 << 20
	maxEpochs  = 1e12
)

// Study is a workload on a cluster.
type Study struct {
	Types   []JobType
	Jobs    []Spec // jobs in any order
	Speed   Speed
	Options Options
}

// Validate returns an error that lists the errors in a study. It stops after a maximum number of invalid jobs.
func (s *Study) Validate() error {
	if s.Speed == nil {
		return errors.New("the study has no speed model; set one, such as a Table or Analytic")
	}
	if err := s.Options.Validate(); err != nil {
		return err
	}
	return errors.Join(append(s.typeFaults(), s.jobFaults()...)...)
}

func (s *Study) typeFaults() (faults validate.Faults) {
	used := map[int]bool{}
	for _, j := range s.Jobs {
		used[j.Type] = true
	}
	for k := range s.Types {
		if t := &s.Types[k]; used[k+1] {
			faults = append(faults, t.fault(), s.Speed.Check(t, s.Options.mostEstimated()))
		}
	}
	return faults
}

func (t *JobType) fault() error {
	for _, r := range []Resources{t.Worker, t.Server} {
		if !r.Within(Resources{maxCapacity, maxCapacity}) || !(Resources{}).Within(r) {
			return fmt.Errorf("type %s demands %v CPU and GPU slots; expected 0 to %d of each", t.Name, r, maxCapacity)
		}
	}
	if !(t.EpochSize > 0 && t.EpochSize <= maxEpochs) {
		return fmt.Errorf("type %s: epoch_size is %g; expected a positive number", t.Name, t.EpochSize)
	}
	return nil
}

// mostFaults is the number of faulty jobs after which listing stops.
const mostFaults = 20

func (s *Study) jobFaults() (faults validate.Faults) {
	if len(s.Jobs) == 0 || len(s.Jobs) > maxJobs {
		return []error{fmt.Errorf("the workload has %d jobs; expected 1 to %d", len(s.Jobs), maxJobs)}
	}
	seen := make(map[int]bool, len(s.Jobs))
	for _, j := range s.Jobs {
		err := j.fault(len(s.Types))
		switch {
		case err == nil && seen[j.ID]:
			err = fmt.Errorf("job %d: duplicate ID; renumber the jobs", j.ID)
		case err == nil:
			err = s.fits(j)
		}
		seen[j.ID] = true
		if err == nil {
			continue
		}
		if len(faults) == mostFaults {
			return append(faults, errors.New("too many invalid jobs; the remaining jobs were not checked"))
		}
		faults = append(faults, err)
	}
	return faults
}

func (j *Spec) fault(types int) error {
	switch {
	case j.Type < 1 || j.Type > types:
		return fmt.Errorf("job %d: type is %d; expected 1 to %d", j.ID, j.Type, types)
	case j.Arrival < 0 || j.Arrival > maxArrival:
		return fmt.Errorf("job %d: arrv_time is %d; expected a slot from 0 to %d", j.ID, j.Arrival, maxArrival)
	case !epochs(j.Epochs):
		return fmt.Errorf("job %d: num_epochs is %g; expected more than 0 and at most %g", j.ID, j.Epochs,
			float64(maxEpochs))
	case !epochs(j.RealEpochs):
		return fmt.Errorf("job %d: real_num_epochs is %g; expected more than 0 and at most %g", j.ID, j.RealEpochs,
			float64(maxEpochs))
	}
	return nil
}

func epochs(n float64) bool { return n > 0 && n <= maxEpochs && !math.IsNaN(n) }

// fits rejects a job whose first worker and server do not fit on one idle node: several schedulers place both on one
// node.
func (s *Study) fits(j Spec) error {
	t := &s.Types[j.Type-1]
	if need := Bundle.demand(t, &s.Options); !need.Within(s.Options.PerNode) {
		return fmt.Errorf("job %d of type %s can never run: its first tasks need %d CPU and %d GPU slots on one node, "+
			"but a node has %d and %d; use larger nodes, or remove the job", j.ID, t.Name, need[CPU], need[GPU],
			s.Options.PerNode[CPU], s.Options.PerNode[GPU])
	}
	return nil
}
