package fabric

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"graft/cluster"
	"graft/cluster/fabric/graph"
	"graft/internal/validate"
)

// Study holds the inputs of an episode: the network of servers, the models, and the jobs that train the models.
type Study struct {
	Network Network
	Models  []Model
	Jobs    []Job // jobs by time of arrival; only the fields before Status are read
	Options Options

	parted *partedSteps
}

// Model is a neural network that jobs train.
type Model struct {
	Name    string
	Graph   *graph.Graph
	Details graph.Details // sums and maxima over Graph
}

// NewModel creates a model from a graph.
func NewModel(g *graph.Graph) Model { return Model{Name: g.Model, Graph: g, Details: g.Details()} }

// Options determines how jobs run.
type Options struct {
	// parallelism of a step; empty means Data; ignored with the quirk held-sizes, which splits operations as PAC-ML's
	// simulator does
	Strategy Strategy
	MaxParts int     // maximum degree; zero means 16, as in PAC-ML's experiments
	Quantum  float64 // operation time per part in ms; zero means 0.01, as in PAC-ML's experiments
	Memory   float64 // memory per server in bytes; zero means 80e9, as on an A100
	Speed    float64 // server speed relative to the profiles; zero means 1
	Until    float64 // end of the episode in seconds; zero ends it with the last job
	// declares that more jobs arrive after the study's last job, so the episode does not end before the time Until,
	// even if no job runs
	More bool
	// time in seconds at which the first job after the study would arrive; zero means never
	Next   float64
	Quirks cluster.Quirks // faults to keep; nil keeps none
}

// EnsureDefaults replaces zero values with defaults.
func (o *Options) EnsureDefaults() {
	set := func(v *float64, value float64) {
		if *v == 0 {
			*v = value
		}
	}
	if o.Strategy == "" {
		o.Strategy = Data
	}
	if o.MaxParts == 0 {
		o.MaxParts = 16
	}
	set(&o.Quantum, 0.01)
	set(&o.Memory, 80e9)
	set(&o.Speed, 1)
	set(&o.Until, math.Inf(1))
	set(&o.Next, math.Inf(1))
}

// maxParts is the maximum degree: a step of 4,096 parts has 16 million exchanges.
const maxParts = 4096

// Validate returns an error that lists every invalid option. Call Validate after EnsureDefaults.
func (o *Options) Validate() error {
	var faults validate.Faults
	faults.Unless(o.MaxParts >= 1 && o.MaxParts <= maxParts, "max_degree is %d; expected 1 to %d", o.MaxParts,
		maxParts)
	faults.Unless(o.Quantum > 0, "quantum_ms is %g; expected more than 0", o.Quantum)
	faults.Unless(o.Memory > 0, "memory_bytes is %g; expected more than 0", o.Memory)
	faults.Unless(o.Speed > 0 && !math.IsInf(o.Speed, 1), "speed is %g; expected more than 0", o.Speed)
	faults.Unless(o.Until > 0, "the end of the episode is %g s; expected more than 0", o.Until)
	faults.Unless(!o.More || !math.IsInf(o.Until, 1), "the number of jobs is unlimited, but the episode has no end; "+
		"set an end")
	return errors.Join(append(faults, o.strategyFault())...)
}

// maxJobs is the maximum number of jobs of an episode.
const maxJobs = 10_000_000

// mostFaults is the number of faulty jobs after which listing stops.
const mostFaults = 20

// Validate returns an error if the study is invalid. The error lists the invalid jobs, up to a maximum number. Call
// Validate after the defaults of the options are set.
func (s *Study) Validate() error {
	if err := s.Options.Validate(); err != nil {
		return err
	}
	switch {
	case len(s.Models) == 0:
		return errors.New("the list of models is empty; name at least one graph")
	case len(s.Jobs) == 0 || len(s.Jobs) > maxJobs:
		return fmt.Errorf("the episode has %d jobs; expected 1 to %d", len(s.Jobs), maxJobs)
	}
	var faults validate.Faults
	last := 0.0
	for k := range s.Jobs {
		if err := s.fault(&s.Jobs[k], last); err != nil {
			if faults = append(faults, fmt.Errorf("job %d: %w", k, err)); len(faults) == mostFaults {
				return errors.Join(append(faults, errors.New("too many invalid jobs; the remaining jobs were not "+
					"checked"))...)
			}
		}
		last = s.Jobs[k].Arrival
	}
	return errors.Join(faults...)
}

func (s *Study) fault(j *Job, last float64) error {
	switch {
	case j.Model < 0 || j.Model >= len(s.Models):
		return fmt.Errorf("unknown model %d; expected 0 to %d", j.Model, len(s.Models)-1)
	case !(j.Limit > 0 && j.Limit <= 1):
		return fmt.Errorf("the time limit is %g; expected more than 0 and at most 1 (fraction of the job's run time "+
			"on one server)", j.Limit)
	case j.Steps < 1:
		return fmt.Errorf("the job has %d steps; expected at least 1", j.Steps)
	case !(j.Arrival >= last) || math.IsInf(j.Arrival, 1):
		return fmt.Errorf("the job arrives at %g s, before the previous job; sort jobs by arrival", j.Arrival)
	}
	return nil
}

// Timing returns the configuration for simulating steps.
func (s *Study) Timing() Timing {
	unit := 1e-3 / s.Options.Speed
	if s.Options.Quirks.Keeps(Milliseconds) {
		unit = 1 / s.Options.Speed
	}
	return Timing{Network: s.Network, Unit: unit, Quirks: s.Options.Quirks}
}

// Sequential returns the run time of a job on one server, in seconds.
func (s *Study) Sequential(j *Job) float64 {
	return s.Models[j.Model].Details.Compute * s.Timing().Unit * float64(j.Steps)
}

// partedSteps caches split and simulated steps. Several episodes share them.
type partedSteps struct {
	mutex sync.Mutex
	list  map[partedKey]*Parted
	steps map[stepKey]*Step
	held  int // total size of cached steps in bytes
}

type partedKey struct{ model, degree int }

// Parted returns the training step of a model. Each operation is split into at most as many parts as the degree.
func (s *Study) Parted(model, degree int) *Parted {
	s.parted.mutex.Lock()
	defer s.parted.mutex.Unlock()
	key := partedKey{model, degree}
	if p, ok := s.parted.list[key]; ok {
		return p
	}
	p := part(s.Models[model].Graph, &s.Options, s.Network, degree)
	s.parted.list[key] = p
	return p
}

// Prepare makes a study ready for simulations in several goroutines, which share a cache of training steps. If the
// caller does not call Prepare, the first NewWorld of the study does.
func (s *Study) Prepare() {
	s.parted = &partedSteps{list: map[partedKey]*Parted{}, steps: map[stepKey]*Step{}}
}

// stepKey identifies a simulated step.
type stepKey struct {
	model, degree int
	placement     string
}

// mostRemembered is the approximate size in bytes of cached steps at which the cache is cleared.
const mostRemembered = 32 << 20

// bytes is the approximate memory of a step and its key.
func (s *Step) bytes(key stepKey) int { return 16*cap(s.Ticks) + len(key.placement) + 200 }

// step simulates the step of a job, or returns a cached one.
func (w *World) step(job *Job, placed *Placed) (*Step, error) {
	key := stepKey{model: job.Model, degree: placed.Parted.Degree}
	if w.quirks.Keeps(ForgottenPlacement) {
		if step, ok := w.steps[key]; ok {
			return step, nil
		}
		step, err := w.timing.Run(placed)
		if err == nil {
			w.steps[key] = step
		}
		return step, err
	}
	key.placement = placed.key(w.study.Network)
	return w.study.parted.step(key, func() (*Step, error) { return w.timing.Run(placed) })
}

// step returns a cached step, or runs it.
func (s *partedSteps) step(key stepKey, run func() (*Step, error)) (*Step, error) {
	s.mutex.Lock()
	step, ok := s.steps[key]
	s.mutex.Unlock()
	if ok {
		return step, nil
	}
	step, err := run()
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held += step.bytes(key); s.held > mostRemembered {
		clear(s.steps)
		s.held = step.bytes(key)
	}
	s.steps[key] = step
	return step, nil
}

// key encodes the placement of the operations, as far as it affects times.
func (p *Placed) key(network Network) string {
	servers := make([]int, 0, len(p.Servers))
	seen := make([]int, len(p.Servers)) // index of a slot, plus 1
	key := make([]byte, 0, 2*len(p.slot)+6*len(p.Servers))
	for op, slot := range p.slot {
		if seen[slot] == 0 {
			servers = append(servers, p.Server[op])
			seen[slot] = len(servers)
		}
		key = append(key, byte(seen[slot]), byte(seen[slot]>>8))
	}
	return string(network.Alike(servers, key))
}

// With returns a study with different jobs on the same cluster. The new study shares the cached training steps.
func (s *Study) With(jobs []Job) *Study {
	other := *s
	other.Jobs = jobs
	return &other
}
