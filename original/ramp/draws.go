package ramp

import (
	"fmt"
	"math"

	"graft/cluster/fabric"
	"graft/internal/random/numpy"
)

// Draws provides the random numbers of an episode, in the order in which PAC-ML's published simulator draws them. The
// numbers determine the jobs of the episode, the actions of a random agent between arrivals, and the channels of
// transfers.
type Draws struct {
	np      *numpy.Random
	py      python
	config  *jobsConfig
	limits  []float64 // limits in the pool
	pool    []int     // indices into it, in its order; drawn ones are removed
	rounds  int       // number of refills
	gap     drawer
	arrived []drawn
	next    float64 // arrival time of the next job, s
}

// drawn is a drawn job.
type drawn struct {
	id    int // id in the original
	entry int // entry of the pool
	at    float64
}

// mostPool limits the pool of jobs.
const mostPool = 10_000_000

// Draws returns the random numbers for an episode. The published simulator creates the environment twice before an
// episode, and draws a pool of jobs each time. Draws therefore skips the numbers of the first pool. Draws returns nil
// if the episode needs no random numbers, because its jobs come from a recording and no other part of the episode is
// random.
func (e *Episode) Draws() (*Draws, error) {
	if len(e.Arrivals) > 0 && (e.Agent != "random" || e.Actions != nil) && e.Config.Topology.Kwargs.Channels <= 1 {
		return nil, nil
	}
	return e.draws()
}

func (e *Episode) draws() (*Draws, error) { return e.drawsBy(nil) }

// drawsBy returns draws with limits from an existing distribution; nil makes it, like the original.
func (e *Episode) drawsBy(limit drawer) (*Draws, error) {
	d := &Draws{np: numpy.New(e.Seed), py: newPython(e.Seed), config: &e.Config.Jobs}
	size := len(e.FileOrder) * max(e.Config.Jobs.Replication, 1)
	if size == 0 || size > mostPool {
		return nil, fmt.Errorf("the pool has %d jobs; expected 1 to %d", size, mostPool)
	}
	for range 2 {
		if err := d.begin(size, limit); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// begin fills the pool and draws the first job.
func (d *Draws) begin(size int, limit drawer) (err error) {
	if limit == nil {
		if limit, err = d.config.Limit.drawer(d.np); err != nil {
			return fmt.Errorf("max_acceptable_job_completion_time_frac_dist: %w", err)
		}
	}
	if d.gap, err = d.config.Interarrival.drawer(d.np); err != nil {
		return fmt.Errorf("job_interarrival_time_dist: %w", err)
	}
	d.limits, d.arrived, d.next, d.rounds = make([]float64, size), nil, 0, 0
	for k := range d.limits {
		d.limits[k] = limit.draw(d.np)
	}
	d.fill()
	d.arrive()
	return nil
}

// fill fills the pool.
func (d *Draws) fill() {
	d.pool = make([]int, len(d.limits))
	for k := range d.pool {
		d.pool[k] = k
	}
	if d.config.Shuffle {
		d.py.shuffle(len(d.pool), func(i, j int) { d.pool[i], d.pool[j] = d.pool[j], d.pool[i] })
	}
}

// arrive draws the next job, and the arrival of the one after it.
func (d *Draws) arrive() {
	at := d.np.IntN(0, len(d.pool))
	entry := d.pool[at]
	d.arrived = append(d.arrived, drawn{entry + d.rounds*len(d.limits), entry, d.next})
	if d.config.Sampling != "replace" {
		d.pool = append(d.pool[:at], d.pool[at+1:]...)
	}
	if len(d.pool) == 0 && d.config.Sampling == "remove_and_repeat" {
		d.rounds++
		d.fill()
	}
	if d.next = math.Inf(1); len(d.pool) > 0 {
		d.next = d.arrived[len(d.arrived)-1].at + d.gap.draw(d.np)
	}
}

// until draws jobs up to a given one.
func (d *Draws) until(job int) {
	for len(d.arrived) <= job && len(d.pool) > 0 {
		d.arrive()
	}
}

// Pick returns a function that chooses a random channel for each transfer. If d is nil, Pick returns nil, which makes
// the simulator use the channels in turn.
func (d *Draws) Pick(w *fabric.World) func(lanes int) int {
	if d == nil {
		return nil
	}
	return func(lanes int) int {
		d.until(w.Arrived() - 1)
		order := make([]int, lanes)
		for k := range order {
			order[k] = k
		}
		d.py.shuffle(lanes, func(i, j int) { order[i], order[j] = order[j], order[i] })
		return order[0]
	}
}

// chance is the random agent: it draws among the available degrees, except 0.
type chance struct{ draws *Draws }

// Degree implements [fabric.Decider].
func (c chance) Degree(w *fabric.World) (int, error) {
	c.draws.until(w.Waiting().ID)
	degrees := w.Degrees()[1:]
	if len(degrees) == 0 {
		return 0, nil
	}
	return degrees[c.draws.np.IntN(0, len(degrees))], nil
}
