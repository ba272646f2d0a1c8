package grid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"graft/decider"
	"graft/net2net"
	"graft/simulation/tables"
	"graft/trainer"
)

// Grid is a tree of segments that covers all sequences in a scenario. Sequences with a common beginning share segments,
// so each segment trains only once. Create it with NewGrid; only one goroutine may use it. Any number of processes may
// work on grids with the same plan. With the virtual clock, an outcome is bit-identical to the outcome of the same
// sequence run alone. With the wall clock, a sequence is charged only for its own segments.
type Grid struct {
	Plan
	Space    Space
	Policy   *decider.Structural // policy of the design Likely; nil for other designs
	Store    *Store
	Failures *Failures

	root   *node
	extent []int           // segments of each depth, for all seeds; nil before they are counted
	last   map[string]memo // recent states of this process
	dry    bool            // counts only, as if all outcomes were known
}

// Plan is the data that all processes with the same grid share.
type Plan struct {
	Scenario tables.Scenario  `json:"scenario"`
	Actions  []net2net.Action `json:"actions,omitempty"` // choices at every decision, as in Space
	Kinds    []net2net.Kind   `json:"kinds,omitempty"`   // kinds of actions at every decision, as in Space
	// data that determines all outcomes; sequence and seeds are set per segment
	Cause  tables.Cause `json:"cause"`
	Seeds  []int64      `json:"seeds"` // seeds of the runs of each sequence
	Design Design       `json:"design"`
	Tries  int          `json:"tries"` // number of attempts at a segment that fails; zero means 2
}

// Space returns the search space of the plan.
func (p *Plan) Space() (Space, error) {
	g := Space{Actions: p.Actions, Kinds: p.Kinds, Decisions: p.Scenario.Decisions}
	if p.Scenario.Origin == nil {
		return g, fmt.Errorf("scenario %s: the initial network is missing", p.Scenario.Name)
	}
	var err error
	g.Surgery = p.Scenario.Origin.Surgery()
	g.Network, err = p.Scenario.Origin.Network()
	return g, err
}

// CountSequences counts the sequences of the tree. For the design All, it stores the list of actions in the scenario if
// every decision offers all these actions; otherwise it stores the number of sequences. If there are more sequences
// than the design allows, it returns an error that states their number.
func (p *Plan) CountSequences() error {
	g, err := p.Space()
	if err != nil {
		return err
	}
	p.Scenario.Actions, p.Scenario.Expected = nil, 0
	sequences, choices, err := p.Fits(g)
	switch {
	case err != nil:
		return err
	case p.Design.Which != All:
	case len(g.Actions) > 0 && float64(sequences) == choices:
		for _, a := range g.Actions {
			p.Scenario.Actions = append(p.Scenario.Actions, a.String())
		}
	default:
		p.Scenario.Expected = sequences
	}
	return p.Scenario.Validate()
}

// Fits counts the sequences or, for a design that selects some of them, the choices at the first decision. If the space
// lists its actions, Fits also returns, as choices, the number of sequences that would exist if every action fitted at
// every decision. It returns an error if there are too many sequences to run or to plan.
func (p *Plan) Fits(g Space) (sequences int, choices float64, err error) {
	p.Design.EnsureDefaults()
	all := p.Design.Which == All
	choices = math.Pow(float64(len(g.Actions)), float64(g.Decisions))
	if all && choices > float64(p.Design.Most) && len(g.Actions) > 0 {
		return 0, choices, p.tooLarge(tables.Quantity(choices))
	}
	if !all {
		if err := p.plannable(); err != nil {
			return 0, choices, err
		}
		g.Decisions = 1
	}
	if sequences, _, err = g.Count(p.Design.Most); err != nil {
		return 0, choices, fmt.Errorf("scenario %s: %w", p.Scenario.Name, err)
	}
	if all && sequences > p.Design.Most {
		return 0, choices, p.tooLarge(fmt.Sprintf("more than %d", p.Design.Most))
	}
	return sequences, choices, nil
}

// mostWork limits the work of planning a design: sequences, times decisions, times the layers that decisions add to
// each network.
const mostWork = 2_000_000

// plannable returns an error if the design has too many sequences of too many decisions.
func (p *Plan) plannable() error {
	squared := max(1, p.Scenario.Decisions*p.Scenario.Decisions)
	if p.Design.Which == Halved || p.Design.Most <= mostWork/squared {
		return nil
	}
	return fmt.Errorf("scenario %s: %d sequences of %d decisions are too many to plan; set simulate.max_sequences "+
		"to at most %d", p.Scenario.Name, p.Design.Most, p.Scenario.Decisions, mostWork/squared)
}

func (p *Plan) tooLarge(count string) error {
	return fmt.Errorf("scenario %s has %s sequences of %d decisions, for each of %d seeds, "+
		"but simulate.max_sequences is %d; raise it, offer fewer actions, or set simulate.design to "+
		"sample, halve or likely",
		p.Scenario.Name, count, p.Scenario.Decisions, len(p.Seeds), p.Design.Most)
}

// NewGrid creates the grid of a plan without reading outcomes.
func NewGrid(p Plan, space Space, store *Store, log *Failures) *Grid {
	p.Design.EnsureDefaults()
	p.Tries = cmp.Or(p.Tries, 2)
	g := &Grid{Plan: p, Space: space, Store: store, Failures: log, last: map[string]memo{}}
	g.root = g.plant(&node{network: space.Network})
	return g
}

// Key returns the digest of everything that determines a segment. The store uses this digest as the key of the
// segment's outcome.
func (g *Grid) Key(segment Segment) string {
	c := g.Cause
	c.Sequence, c.Seeds = append([]string{}, segment.Sequence...), []int64{segment.Seed}
	c.Ends = len(segment.Sequence) == g.Space.Decisions
	return c.Key()
}

// plant sets a node's keys and allocates its outcomes.
func (g *Grid) plant(b *node) *node {
	b.outcomes, b.failed = make([]*Outcome, len(g.Seeds)), make([]bool, len(g.Seeds))
	for _, seed := range g.Seeds {
		b.keys = append(b.keys, g.Key(Segment{b.sequence, seed}))
	}
	return b
}

func (g *Grid) next(b *node) ([]*node, error) {
	fresh := b.children == nil
	next, err := g.Space.follow(b)
	for _, child := range next {
		if fresh {
			g.plant(child)
		}
	}
	return next, err
}

// Size returns the number of sequences and the number of segments in the design, for all seeds. The numbers depend on
// the networks, but not on outcomes.
func (g *Grid) Size() (sequences, segments int, err error) {
	if err := g.measure(); err != nil {
		return 0, 0, err
	}
	for _, n := range g.extent {
		segments += n
	}
	return g.extent[g.Space.Decisions], segments, nil
}

// measure counts the segments of each depth in the tree.
func (g *Grid) measure() error {
	if g.extent != nil {
		return nil
	}
	twin := NewGrid(g.Plan, g.Space, nil, nil)
	twin.dry = true
	extent := make([]int, g.Space.Decisions+1)
	err := twin.walk(func(b *node) error {
		extent[len(b.sequence)] += len(g.Seeds)
		return nil
	})
	if err == nil {
		g.extent = extent
	}
	return err
}

// Ready returns the segments that can run or are running.
func (g *Grid) Ready() (segments []Segment, err error) {
	err = g.survey(func(b *node) error {
		for k, seed := range g.Seeds {
			if !b.settled(k) && (b.parent == nil || b.parent.outcomes[k] != nil) {
				segments = append(segments, Segment{b.sequence, seed})
			}
		}
		return nil
	})
	return segments, err
}

type task struct {
	*node
	seed    int             // index in Seeds
	work    context.Context // cancelled when the lease is lost
	release func()
}

func (t task) key() string { return t.keys[t.seed] }

// errTaken ends a walk over the grid that has found a task.
var errTaken = errors.New("the search has leased a leg (the training between two decisions) for this worker")

// Leases grants a segment to one worker at a time. If two workers run the same segment nevertheless, work is wasted,
// but both produce the same outcome.
type Leases interface {
	// Take leases the segment with a key. It returns a context that is cancelled if the lease is lost, and a function
	// that releases the lease. The error wraps ErrTaken if another worker holds the lease.
	Take(ctx context.Context, key string) (work context.Context, release func(), err error)
}

// ErrTaken reports that another worker holds the lease.
var ErrTaken = errors.New("another worker holds the lease")

// find leases a segment that can run. If there is none, it returns the number of segments that other workers hold.
func (g *Grid) find(ctx context.Context, leases Leases) (found *task, left int, err error) {
	err = g.walk(func(b *node) error {
		if err := g.look(b); err != nil {
			return err
		}
		for k := range g.Seeds {
			if b.settled(k) || b.parent != nil && b.parent.outcomes[k] == nil {
				continue
			}
			left++
			work, release, err := leases.Take(ctx, b.keys[k])
			if errors.Is(err, ErrTaken) {
				continue
			}
			if err != nil {
				return fmt.Errorf("lease %s: %w", Segment{b.sequence, g.Seeds[k]}, err)
			}
			if err := g.look(b); err != nil || b.settled(k) { // another worker finished it in the meantime
				release()
				return err
			}
			found = &task{b, k, work, release}
			return errTaken
		}
		return nil
	})
	if errors.Is(err, errTaken) {
		err = nil
	}
	return found, left, err
}

// look reads the outcomes of a node. Segments after a failed one cannot run.
func (g *Grid) look(b *node) error {
	for k, seed := range g.Seeds {
		if b.settled(k) {
			continue
		}
		o, err := g.Store.Outcome(b.keys[k], g.expected(Segment{b.sequence, seed}))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		b.outcomes[k] = o
		b.failed[k] = o == nil && (b.parent != nil && b.parent.failed[k] || g.Failures.Count(b.keys[k]) >= g.Tries)
	}
	return nil
}

func (g *Grid) expected(s Segment) Expected { return Expected{s, g.Space.Decisions, g.Scenario.Budget} }

// Worker holds the executor, the leases and the callbacks of a worker that runs segments.
type Worker struct {
	Executor *Executor
	Leases   Leases
	// Wait waits before the next search for a segment. It returns early if ctx is cancelled.
	Wait func(ctx context.Context)
	// Tell is called when a segment begins and when it ends. Nil disables the callback.
	Tell func(Segment, *Outcome, error)
}

// Work runs segments until no segment is left that this worker can run, or until ctx is cancelled. On cancellation it
// saves the running segment, so that another worker can resume it. The error then wraps trainer.ErrStopped or the error
// of ctx.
func (g *Grid) Work(ctx context.Context, w Worker) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, left, err := g.find(ctx, w.Leases)
		if err != nil {
			return err
		}
		if t == nil && left == 0 {
			return nil
		}
		if t == nil {
			w.Wait(ctx)
			continue
		}
		err = g.perform(w, *t)
		lost := t.work.Err() != nil && ctx.Err() == nil
		t.release()
		if err != nil && !lost {
			return err
		}
	}
}

// perform runs a segment. It records a failed segment and returns nil for it.
func (g *Grid) perform(w Worker, t task) error {
	segment, tell := Segment{t.sequence, g.Seeds[t.seed]}, w.Tell
	if tell == nil {
		tell = func(Segment, *Outcome, error) {}
	}
	tell(segment, nil, nil)
	o, err := g.run(t.work, w.Executor, t)
	var failure *segmentFailure
	if errors.As(err, &failure) {
		tell(segment, nil, err)
		return g.Failures.Add(failure.key, failure.segment, failure.error)
	}
	if err != nil {
		return err
	}
	tell(segment, o, nil)
	t.outcomes[t.seed] = o
	g.forget(t)
	return nil
}

// segmentFailure is a failure of a segment that does not depend on the worker.
type segmentFailure struct {
	key     string
	segment Segment
	error
}

// run runs a segment, and commits its state before its outcome.
func (g *Grid) run(ctx context.Context, x *Executor, t task) (*Outcome, error) {
	segment := Segment{t.sequence, g.Seeds[t.seed]}
	from, err := g.start(ctx, x, t)
	if err != nil {
		return nil, err
	}
	before, err := from.outcome()
	if err != nil {
		return nil, err
	}
	o, st, err := x.run(ctx, segment, g.Space.Decisions, before, from)
	if errors.Is(err, trainer.ErrStopped) && st != nil {
		return nil, errors.Join(err, g.Store.saveState(t.key(), stoppedSuffix, st))
	}
	if err != nil && ctx.Err() != nil { // a program was stopped at its start
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &segmentFailure{t.key(), segment, err}
	}
	o.Key = t.key()
	if st != nil {
		if o, st, err = g.settle(t, o, st); err != nil {
			return nil, err
		}
		g.remember(t, st)
	}
	if err := g.Store.Commit(o); err != nil {
		return nil, err
	}
	g.Store.dropState(t.key(), stoppedSuffix)
	return o, nil
}

// settle saves the state after a segment. If another worker has saved one in the meantime, it returns that state and
// its outcome, so both come from one run: on the wall clock two runs differ.
func (g *Grid) settle(t task, o *Outcome, st state) (*Outcome, state, error) {
	saved, err := g.Store.state(t.key(), stateSuffix)
	if err != nil {
		return nil, nil, err
	}
	if first, err := saved.outcome(); err == nil && first != nil && first.check(g.expected(o.Segment())) == nil {
		return first, saved, nil
	}
	if err := st.keep(o); err != nil {
		return nil, nil, err
	}
	return o, st, g.Store.saveState(t.key(), stateSuffix, st)
}

// start returns the initial state of a segment; nil at the beginning of a run. It recreates a missing state.
func (g *Grid) start(ctx context.Context, x *Executor, t task) (state, error) {
	if st, err := g.Store.state(t.key(), stoppedSuffix); err != nil || st != nil || t.parent == nil {
		return st, err
	}
	up := task{node: t.parent, seed: t.seed}
	if m, ok := g.last[up.key()]; ok {
		return m.state, nil
	}
	st, err := g.Store.state(up.key(), stateSuffix)
	if err != nil || st != nil {
		return st, err
	}
	if _, err := g.run(ctx, x, up); err != nil {
		return nil, err
	}
	st, err = g.Store.state(up.key(), stateSuffix)
	if err == nil && st == nil {
		err = fmt.Errorf("the saved state that sequence %s continues from is missing: %w; "+
			"find out which program deletes files in the cache", tables.Tuple(t.sequence), fs.ErrNotExist)
	}
	return st, err
}

// memo is a state made by this process, and its depth in the tree.
type memo struct {
	state state
	depth int
}

// remember keeps a state in memory for the next segments, one state per depth.
func (g *Grid) remember(t task, st state) {
	for key, m := range g.last {
		if m.depth >= len(t.sequence) {
			delete(g.last, key)
		}
	}
	g.last[t.key()] = memo{st, len(t.sequence)}
}

// forget deletes a state if no other segment begins there, which is known only for the design All.
func (g *Grid) forget(t task) {
	up := t.parent
	if up == nil || g.Design.Which != All {
		return
	}
	for _, sibling := range up.children {
		if g.look(sibling) != nil || sibling.outcomes[t.seed] == nil {
			return
		}
	}
	delete(g.last, up.keys[t.seed])
	g.Store.dropState(up.keys[t.seed], stateSuffix)
}

// Sweep deletes the job states that are left after the grid is finished.
func (g *Grid) Sweep() error {
	return g.survey(func(b *node) error {
		for k := range g.Seeds {
			if b.outcomes[k] != nil {
				g.Store.dropState(b.keys[k], stateSuffix)
			}
		}
		return nil
	})
}
