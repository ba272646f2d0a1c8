package elastic

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash"
	"iter"
	"math/rand/v2"
	"slices"

	"graft/cluster"
)

// World simulates a cluster slot by slot. For each slot, call [World.Begin] once, [World.Add] any number of times, and
// then [World.End] once.
type World struct {
	// Observer is called with each action before the job's numbers of workers and servers change. Nil means no
	// observer.
	Observer func(w *World, j *Job, a Action)
	// Decided is called in each slot of [World.Run], after the scheduler and before jobs train. Nil means no callback.
	Decided func(w *World)
	// Errors draws a number in [0, 1) for the speed error of each job that trains in a slot. Nil means no errors;
	// NewWorld sets it if the options have errors.
	Errors func(j *Job) float64

	types   []JobType
	speed   Speed
	options Options
	scaling Scaling
	total   Resources

	all        []*Job // by arrival, then ID
	arrived    int    // number of jobs that have arrived
	unfinished []*Job // by ID
	nodes      *nodes
	slot       int

	rewards     []float64
	allocations hash.Hash
	line        []byte
	gain        float64 // sum over jobs of the share of epochs done in the last slot
}

// NewWorld validates a study and returns its simulation, before the first slot.
func NewWorld(s Study) (*World, error) {
	s.Options.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("simulate elastic jobs: %w", err)
	}
	w := &World{types: s.Types, speed: s.Speed, options: s.Options, total: s.Options.total(), allocations: sha256.New()}
	w.scaling, _ = ScalingNamed(s.Options.Scaling) // validated above
	w.nodes = newNodes(s.Options.Nodes, s.Options.PerNode)
	if s.Options.SpeedError > 0 {
		w.Errors = w.seededError
	}
	for _, spec := range s.Jobs {
		w.all = append(w.all, newJob(spec, &s.Types[spec.Type-1], &s.Options))
	}
	slices.SortFunc(w.all, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	return w, nil
}

func newJob(spec Spec, model *JobType, o *Options) *Job {
	j := &Job{Spec: spec, Model: model}
	for a := range j.needs {
		j.needs[a] = Action(a).demand(model, o)
	}
	return j
}

// seededError depends only on the seed, the job and the slots since its arrival, so that all schedulers meet the same
// errors.
func (w *World) seededError(j *Job) float64 {
	return rand.New(rand.NewPCG(w.options.Seed, uint64(j.ID)*jobStride+uint64(w.slot-j.Arrival))).Float64()
}

// jobStride is an odd number that keeps the streams of jobs apart: 2^64 divided by the golden ratio.
const jobStride = 0x9e3779b97f4a7c15

// Jobs returns the unfinished jobs that have arrived, by ascending ID. Callers must not change the slice or use it
// after the slot ends.
func (w *World) Jobs() []*Job { return w.unfinished }

// Slot returns the number of the current slot, counted from 0.
func (w *World) Slot() int { return w.slot }

// Nodes returns the number of nodes.
func (w *World) Nodes() int { return len(w.nodes.used) }

// Free returns the unused resources of a node.
func (w *World) Free(node int) Resources { return w.options.PerNode.Plus(w.nodes.used[node].Times(-1)) }

// Total returns the resources of the cluster.
func (w *World) Total() Resources { return w.total }

// Used returns the resources in use over all nodes.
func (w *World) Used() Resources { return w.nodes.sum }

// Options returns the options with defaults filled in.
func (w *World) Options() Options { return w.options }

// Most returns the maximum number of workers per job, which is also the maximum number of parameter servers.
func (w *World) Most() int { return w.options.Most }

// AllReduce reports whether jobs have no parameter servers.
func (w *World) AllReduce() bool { return w.options.AllReduce }

// Keeps reports whether a quirk is reproduced.
func (w *World) Keeps(q cluster.Quirk) bool { return w.options.Quirks.Keeps(q) }

// Without disables a quirk for the rest of the simulation. Schedulers call it if their original version does not have
// the quirk.
func (w *World) Without(q cluster.Quirk) {
	w.options.Quirks = slices.DeleteFunc(slices.Clone(w.options.Quirks),
		func(name string) bool { return name == q.Name })
}

// Best returns the numbers of workers and servers at which jobs of a type train fastest, and the epochs per slot at
// these numbers.
func (w *World) Best(t *JobType) (workers, servers int, epochs float64) {
	return Best(w.speed, t, &w.options)
}

// Counts yields all combinations of numbers of workers and servers with which a job can train.
func (w *World) Counts() iter.Seq2[int, int] { return counts(&w.options) }

// Limit returns an upper bound on the epochs that a job of a type completes in a slot with the given numbers of workers
// and servers, in any placement.
func (w *World) Limit(t *JobType, workers, servers int) float64 {
	return w.speed.Limit(t, workers, servers, w.options.Slot)
}

// Done reports whether all jobs have completed.
func (w *World) Done() bool { return w.arrived == len(w.all) && len(w.unfinished) == 0 }

// Begin starts a slot: new jobs arrive, and all tasks are removed.
func (w *World) Begin() {
	w.nodes.clear()
	for ; w.arrived < len(w.all) && w.all[w.arrived].Arrival <= w.slot; w.arrived++ {
		w.admit(w.all[w.arrived])
	}
	for _, j := range w.unfinished {
		j.Workers, j.Servers = j.Workers[:0], j.Servers[:0]
		if !w.Keeps(StaleShare) {
			j.Share = 0
		}
	}
}

func (w *World) admit(j *Job) {
	at, _ := slices.BinarySearchFunc(w.unfinished, j.ID,
		func(other *Job, id int) int { return cmp.Compare(other.ID, id) })
	w.unfinished = slices.Insert(w.unfinished, at, j)
}
