package adaptive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"graft/cluster"
	"graft/internal/validate"
	"graft/internal/words"
)

// Options describes the cluster.
type Options struct {
	Nodes    int     // number of equal nodes; zero means 16
	Devices  int     // devices per node; zero means 4
	Interval float64 // length of a round in seconds; zero means 60
	// fraction of its speed that a multi-node job loses if it shares a node with another multi-node job
	Interference float64
	Delay        float64 // restart time after a change of a job's devices, in seconds; zero means 30
	// maximum simulated time in seconds; a longer simulation fails; zero means no limit
	Limit  float64
	Quirks cluster.Quirks // faults of the published simulator to keep; nil keeps none
}

// EnsureDefaults replaces zero values with defaults.
func (o *Options) EnsureDefaults() {
	if o.Nodes == 0 {
		o.Nodes = 16
	}
	if o.Devices == 0 {
		o.Devices = 4
	}
	if o.Interval == 0 {
		o.Interval = 60
	}
	if o.Delay == 0 {
		o.Delay = 30
	}
}

// WholeSeconds reproduces a bug of the original simulator: the end times of epochs are rounded to whole seconds.
var WholeSeconds = cluster.Quirk{Name: "whole-seconds",
	Fixed: "an epoch ends when its progress is complete, not at a whole second"}

// Study holds jobs and their cluster.
type Study struct {
	Jobs    []Spec // jobs in order of submission
	Options Options
}

// Faster returns the study with its arrival rate multiplied by a factor.
func (s Study) Faster(factor float64) Study {
	if factor == 1 {
		return s
	}
	s.Jobs = slices.Clone(s.Jobs)
	for k := range s.Jobs {
		s.Jobs[k].Submitted /= factor
	}
	return s
}

// DeviceSeconds returns the total device time of the jobs if each runs with the batch size and the number of devices
// that its user requests.
func (s *Study) DeviceSeconds() (sum float64, err error) {
	s.Options.EnsureDefaults()
	for k := range s.Jobs {
		seconds, err := s.Jobs[k].Requested(s.Options.Devices)
		if err != nil {
			return 0, err
		}
		sum += seconds * float64(s.Jobs[k].Devices)
	}
	return sum, nil
}

// Scheduler chooses the devices of jobs.
type Scheduler interface {
	// Schedule returns the new devices of each job in the list "active", in the same order. The simulation calls
	// Schedule at the end of each round.
	Schedule(w *World, active []*Job) [][]Share
}

// Kind is a registered scheduler.
type Kind struct {
	Name   string // name in files and flags
	About  string // help text in one line
	Draws  bool   // the scheduler draws random numbers, so results depend on the seed
	Adapts bool   // batches follow the devices; false keeps the batches that users request
	Quirks []cluster.Quirk
	New    func(w *World) Scheduler
}

// Listing returns the name and a one-line description.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// World is the state of a running simulation.
type World struct {
	Decided func(w *World, active []*Job) // Decided is called after each round with active jobs; nil calls nothing.

	options Options
	jobs    []*Job
	now     float64
	rounds  int
	done    int
	learns  bool
	claimed []int     // by node: claimed devices, scratch space of the check
	gaps    []float64 // relative gaps of decisions to the upper bound
}

// NewWorld creates the simulation of a study, at time zero.
func NewWorld(s Study, kind Kind) (*World, error) {
	s.Options.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	w := &World{options: s.Options, learns: kind.Adapts}
	for row, spec := range s.Jobs {
		j := newJob(spec, row)
		if j.target = spec.Batch; kind.Adapts {
			j.target = spec.App.Alone
		}
		w.jobs = append(w.jobs, j)
	}
	return w, nil
}

// Now returns the simulated time in seconds.
func (w *World) Now() float64 { return w.now }

// Jobs returns all jobs in order of submission.
func (w *World) Jobs() []*Job { return w.jobs }

// Rounds returns the number of completed scheduling rounds.
func (w *World) Rounds() int { return w.rounds }

// Gaps returns, for each decision, the relative gap between the objective and its upper bound, or nil for schedulers
// without a bound.
func (w *World) Gaps() []float64 { return w.gaps }

// Options returns the options of the cluster.
func (w *World) Options() Options { return w.options }

// Devices returns the number of devices of the cluster.
func (w *World) Devices() int { return w.options.Nodes * w.options.Devices }

// Run simulates the study under a scheduler until all jobs are complete.
func (s Study) Run(ctx context.Context, kind Kind) (*World, error) {
	w, err := NewWorld(s, kind)
	if err != nil {
		return nil, err
	}
	return w, w.Run(ctx, kind)
}

// Run continues the simulation under a scheduler until all jobs are complete.
func (w *World) Run(ctx context.Context, kind Kind) error {
	scheduler := kind.New(w)
	watch := stall{}
	for w.done < len(w.jobs) {
		err := ctx.Err()
		if err == nil {
			err = w.round(scheduler)
		}
		if err == nil {
			err = watch.check(w)
		}
		if err != nil {
			return fmt.Errorf("simulate scheduler %s: second %.0f: %w", kind.Name, w.now, err)
		}
	}
	return nil
}

// round runs the jobs for a round, and then reassigns their devices.
func (w *World) round(scheduler Scheduler) error {
	if err := w.work(); err != nil {
		return err
	}
	w.now += w.options.Interval
	w.rounds++
	active := w.active()
	if len(active) == 0 {
		return nil
	}
	chosen := scheduler.Schedule(w, active)
	if err := w.check(active, chosen); err != nil {
		return err
	}
	for k, j := range active {
		if !slices.Equal(j.Allocation, chosen[k]) {
			j.allocate(chosen[k], w.options.Delay, w.now)
		}
	}
	if w.Decided != nil {
		w.Decided(w, active)
	}
	return nil
}

func (w *World) work() error {
	interferes := w.interfering()
	w.done = 0
	for _, j := range w.jobs {
		worth := 1.0
		if w.options.Interference > 0 && len(j.Allocation) > 1 &&
			slices.ContainsFunc(j.Allocation, func(s Share) bool { return interferes[s.Node] }) {
			worth -= w.options.Interference
		}
		if err := j.advance(w, w.now, w.options.Interval, worth); err != nil {
			return fmt.Errorf("job %s: %w", j.Name, err)
		}
		if j.Done() {
			w.done++
		}
	}
	return nil
}

// interfering returns the nodes with parts of several multi-node jobs; nil if interference is off.
func (w *World) interfering() []bool {
	if w.options.Interference == 0 {
		return nil
	}
	spanning := make([]int, w.options.Nodes)
	for _, j := range w.jobs {
		if len(j.Allocation) > 1 && !j.Done() {
			for _, s := range j.Allocation {
				spanning[s.Node]++
			}
		}
	}
	interferes := make([]bool, len(spanning))
	for k, n := range spanning {
		interferes[k] = n > 1
	}
	return interferes
}

func (w *World) active() (active []*Job) {
	for _, j := range w.jobs {
		if j.Submitted <= w.now && !j.Done() {
			active = append(active, j)
		}
	}
	return active
}

// check rejects devices that do not exist or that two jobs share.
func (w *World) check(active []*Job, chosen [][]Share) error {
	if len(chosen) != len(active) {
		return fmt.Errorf("the scheduler returned allocations for %d jobs; expected %d", len(chosen), len(active))
	}
	w.claimed = append(w.claimed[:0], make([]int, w.options.Nodes)...)
	for k, shares := range chosen {
		for i, s := range shares {
			if s.Node < 0 || s.Node >= w.options.Nodes || s.Devices <= 0 ||
				slices.ContainsFunc(shares[:i], func(o Share) bool { return o.Node == s.Node }) {
				return fmt.Errorf("the scheduler made an invalid allocation: %d devices on node %d for job %s; "+
					"expected at least one device, and each node from 0 to %d at most once per job",
					s.Devices, s.Node, active[k].Name, w.options.Nodes-1)
			}
			if w.claimed[s.Node] += s.Devices; w.claimed[s.Node] > w.options.Devices {
				return fmt.Errorf("the scheduler allocated %d devices on node %d, which has only %d", w.claimed[s.Node],
					s.Node, w.options.Devices)
			}
		}
	}
	return nil
}

// patience is the number of rounds without progress after which a simulation fails.
const patience = 10_000

// stall detects simulations without progress.
type stall struct {
	rounds   int
	progress float64
}

func (s *stall) check(w *World) error {
	if limit := w.options.Limit; limit > 0 && w.now >= limit && w.done < len(w.jobs) {
		return fmt.Errorf("reached the limit of %.0f seconds with %d unfinished jobs; raise the limit, "+
			"or enlarge the cluster", limit, len(w.jobs)-w.done)
	}
	progress := float64(w.done)
	for _, j := range w.jobs {
		progress += j.Progress
	}
	if s.rounds++; progress > s.progress || len(w.active()) == 0 {
		s.rounds, s.progress = 0, progress
	}
	if s.rounds < patience {
		return nil
	}
	return fmt.Errorf("no job made progress for %d rounds; %s unfinished, for example %s", s.rounds,
		words.Are(len(w.active()), "job"), w.active()[0].Name)
}

const mostJobs = 1 << 20

// Validate returns an error that lists the invalid options and jobs of a study. It stops when it has found more than 20
// errors.
func (s *Study) Validate() error {
	faults := validate.Faults{s.Options.Validate()}
	faults.When(len(s.Jobs) == 0 || len(s.Jobs) > mostJobs, "the workload has %d jobs; expected 1 to %d", len(s.Jobs),
		mostJobs)
	seen := map[string]bool{}
	for k := range s.Jobs {
		if err := s.fault(k, seen); err != nil {
			if faults = append(faults, err); len(faults) > 20 {
				faults = append(faults, errors.New("too many invalid jobs; the remaining jobs were not checked"))
				break
			}
		}
	}
	return errors.Join(faults...)
}

func (s *Study) fault(k int, seen map[string]bool) error {
	j := &s.Jobs[k]
	a := j.App
	switch {
	case j.Name == "":
		return fmt.Errorf("job %d has no name", k+1)
	case seen[j.Name]:
		return fmt.Errorf("job %s: duplicate name; rename one of the jobs", j.Name)
	case a == nil:
		return fmt.Errorf("job %s has no application", j.Name)
	case !(j.Submitted >= 0 && j.Submitted <= 1e9):
		return fmt.Errorf("job %s: time is %v; expected 0 to 1e9 seconds", j.Name, j.Submitted)
	case k > 0 && j.Submitted < s.Jobs[k-1].Submitted:
		return fmt.Errorf("job %s is submitted before the previous job; sort the jobs by time", j.Name)
	case j.Devices < 1 || j.Devices > s.Options.Nodes*s.Options.Devices:
		return fmt.Errorf("job %s requests %d devices; expected 1 to %d (all devices of the cluster)", j.Name,
			j.Devices, s.Options.Nodes*s.Options.Devices)
	case j.Batch < a.Limits.Least || j.Batch > a.Limits.Most:
		return fmt.Errorf("job %s: batch is %d; application %s supports %d to %d", j.Name, j.Batch, a.Name,
			a.Limits.Least, a.Limits.Most)
	case j.Devices > j.Batch:
		return fmt.Errorf("job %s requests %d devices for a batch of %d; each device needs at least one example",
			j.Name, j.Devices, j.Batch)
	}
	seen[j.Name] = true
	return nil
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Nodes < 1 || o.Nodes > 1<<16, "nodes is %d; must be from 1 to %d", o.Nodes, 1<<16)
	faults.When(o.Devices < 1 || o.Devices > 64, "devices is %d; must be from 1 to 64", o.Devices)
	faults.Unless(o.Interval >= 1 && o.Interval <= 1e6, "interval is %v; must be from 1 to 1e6 seconds", o.Interval)
	faults.Unless(o.Interference >= 0 && o.Interference < 1, "interference is %v; must be at least 0 and less than 1",
		o.Interference)
	faults.Unless(o.Delay >= 0 && o.Delay <= 1e6, "delay is %v; must be from 0 to 1e6 seconds", o.Delay)
	faults.Unless(o.Limit >= 0, "limit is %v; must not be negative", o.Limit)
	return errors.Join(faults...)
}
