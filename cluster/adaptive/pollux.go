package adaptive

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"graft/cluster"
	"graft/cluster/adaptive/genetic"
	"graft/internal/validate"
)

// Quirks of Pollux.
var (
	NeighboursLeave = cluster.Quirk{Name: "neighbours-leave",
		Fixed: "if two multi-node jobs share a node, only the second is removed from it, not all later jobs"}
	LostClaims = cluster.Quirk{Name: "lost-claims",
		Fixed: "a job that was reduced to one node no longer blocks the nodes that it lost"}
	FairOnOneNode = cluster.Quirk{Name: "fair-on-one-node",
		Fixed: "the speed at a fair share assumes the number of nodes that the share needs"}
	PresentForgotten = cluster.Quirk{Name: "present-forgotten",
		Fixed: "the initial population of each search includes the current allocations"}
	FrontOnly = cluster.Quirk{Name: "front-only",
		Fixed: "each search starts from the whole last generation, not only from its best states"}
	FirstStartMoves = cluster.Quirk{Name: "first-start-moves",
		Fixed: "a waiting job pays no restart cost for its first devices"}
)

// PolluxOptions holds the options of Pollux. Zero values select the published values.
type PolluxOptions struct {
	// Exponent of the power mean over the speedups of all jobs, from -100 to 100. Zero means -1 (harmonic mean), the
	// published value.
	Fairness float64
	// Restart time, in seconds, that Pollux assumes for a job whose devices change. Zero means 30.
	Delay float64 `config:"delay_seconds"`
	// Allows several multi-node jobs to share a node. False keeps multi-node jobs on separate nodes, as Pollux's
	// authors do.
	Mixed       bool
	Population  int    // Number of allocations per generation of the genetic search. Zero means 100.
	Generations int    // Number of generations of the genetic search. Zero means 100.
	Seed        uint64 // Seed of the genetic search.
}

// EnsureDefaults replaces zero values with defaults.
func (o *PolluxOptions) EnsureDefaults() {
	o.Fairness = cmp.Or(o.Fairness, -1)
	o.Delay = cmp.Or(o.Delay, 30)
	o.Population = cmp.Or(o.Population, 100)
	o.Generations = cmp.Or(o.Generations, 100)
}

// Validate returns an error that lists every invalid option.
func (o PolluxOptions) Validate() error {
	o.EnsureDefaults()
	var faults validate.Faults
	faults.Unless(math.Abs(o.Fairness) >= 0.01 && math.Abs(o.Fairness) <= 100,
		"fairness is %v; its absolute value must be from 0.01 to 100", o.Fairness)
	faults.Unless(o.Delay >= 0 && o.Delay <= 1e6, "delay is %v; must be from 0 to 1e6 seconds", o.Delay)
	faults.When(o.Population < 1 || o.Population > mostStates || o.Generations < 1 || o.Generations > mostStates,
		"population is %d and generations is %d; both must be from 1 to %d", o.Population, o.Generations, mostStates)
	return errors.Join(faults...)
}

const mostStates = 100_000

// Kind returns the Pollux scheduler with these options.
func (o PolluxOptions) Kind() Kind {
	o.EnsureDefaults()
	return Kind{
		Name: "pollux", About: "maximises the harmonic mean of the speedups of all jobs " +
			"by a genetic search over devices; batches adapt", Adapts: true, Draws: true,
		Quirks: []cluster.Quirk{WholeSeconds, NeighboursLeave, LostClaims, FairOnOneNode, PresentForgotten, FrontOnly,
			FirstStartMoves}, New: func(*World) Scheduler {
			return &pollux{options: o, random: rand.New(rand.NewPCG(o.Seed, polluxStream)), curves: curves{}}
		},
	}
}

const polluxStream = 0x706f6c6c // separates these draws from other uses of a seed

// pollux implements Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI
// 2021.
type pollux struct {
	options PolluxOptions
	random  *rand.Rand
	jobs    []*Job   // jobs of the last search
	states  [][]byte // final states of the last search
	curves  curves
}

func (p *pollux) Schedule(w *World, active []*Job) [][]Share {
	jobs := slices.Clone(active)
	slices.SortStableFunc(jobs, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.Attained, b.Attained), cmp.Compare(a.Submitted, b.Submitted))
	})
	found := genetic.Search(p.problem(w, jobs), p.first(w, jobs), p.random,
		genetic.Options{Population: p.options.Population, Generations: p.options.Generations})
	if len(found) == 0 {
		return nil
	}
	best := found[0]
	for _, m := range found {
		if m.Rank == 0 && m.Fair > best.Fair {
			best = m
		}
	}
	p.keep(w, jobs, found)
	chosen := make([][]Share, len(active))
	for k, j := range jobs {
		chosen[slices.Index(active, j)] = sharesOf(best.Rows[k*w.options.Nodes : (k+1)*w.options.Nodes])
	}
	return chosen
}

// keep stores the starting states of the next search.
func (p *pollux) keep(w *World, jobs []*Job, found []genetic.Member) {
	p.jobs, p.states = jobs, p.states[:0]
	for _, m := range found {
		if m.Rank == 0 || !w.options.Quirks.Keeps(FrontOnly) {
			p.states = append(p.states, m.Rows)
		}
	}
}

// sharesOf returns the devices of a row.
func sharesOf(row []byte) (shares []Share) {
	for node, devices := range row {
		if devices > 0 {
			shares = append(shares, Share{node, int(devices)})
		}
	}
	return shares
}

// first returns the states from which a search starts: the final states of the last search, and the current allocation.
func (p *pollux) first(w *World, jobs []*Job) (states [][]byte) {
	nodes := w.options.Nodes
	for _, old := range p.states {
		state := make([]byte, len(jobs)*nodes)
		for from, j := range p.jobs {
			if to := slices.Index(jobs, j); to >= 0 {
				copy(state[to*nodes:(to+1)*nodes], old[from*nodes:])
			}
		}
		states = append(states, state)
	}
	if len(states) == 0 || !w.options.Quirks.Keeps(PresentForgotten) {
		present := make([]byte, 0, len(jobs)*nodes)
		for _, j := range jobs {
			present = append(present, rowOf(j, nodes)...)
		}
		states = append(states, present)
	}
	return states
}

// rowOf returns the devices of a job on each node.
func rowOf(j *Job, nodes int) []byte {
	row := make([]byte, nodes)
	for _, s := range j.Allocation {
		row[s.Node] = byte(s.Devices)
	}
	return row
}

// problem returns the search problem of the jobs.
func (p *pollux) problem(w *World, jobs []*Job) *genetic.Problem {
	keeps := w.options.Quirks.Keeps
	problem := &genetic.Problem{
		Nodes: w.options.Nodes, Devices: w.options.Devices, Fairness: p.options.Fairness,
		Mixed: p.options.Mixed, Neighbour: keeps(NeighboursLeave), Incoming: keeps(LostClaims),
	}
	for _, j := range jobs {
		problem.Jobs = append(problem.Jobs, genetic.Job{
			Present: rowOf(j, w.options.Nodes), Most: min(max(2*j.most(), 1), polluxMost, j.App.most()),
			Keeps: j.keeps(w, p.options.Delay), Speedup: p.curves.speedup(w, j, len(jobs)),
		})
	}
	return problem
}

// polluxMost is the maximum number of devices that Pollux gives a job.
const polluxMost = 64
