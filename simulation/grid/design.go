package grid

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"graft/decider"
	"graft/internal/events"
	"graft/internal/validate"
	"graft/net2net"
	"graft/simulation/tables"
)

// DesignKind names a rule that selects sequences of a tree.
type DesignKind string

// Designs. The zero value of Design.Which means All.
const (
	All DesignKind = "all" // All runs every sequence.
	// Sampled spreads the sequences evenly: at each decision, the numbers of sequences per choice differ by at most
	// one; the choices that get one more sequence are drawn at random.
	Sampled DesignKind = "sample"
	// Halved keeps the fraction of the branches with the highest accuracy at each decision and drops the others
	// (successive halving, Jamieson and Talwalkar 2016). It assumes that a branch that is ahead at a decision stays
	// ahead. A network that has just grown falls behind at first, so sequences that widen or grow late are dropped too
	// often.
	Halved DesignKind = "halve"
	// Likely runs the sequences with the highest probability under a policy, in descending order.
	Likely DesignKind = "likely"
)

// Design selects the sequences of a tree to run. The zero value selects all sequences.
type Design struct {
	Which DesignKind `json:"which"` // rule that selects sequences; empty means all
	// maximum number of sequences; zero means 10,000. The designs "sample" and "likely" select this many
	// sequences. The designs "all" and "halve" fail if there are more.
	Most int     `json:"most"`
	Keep float64 `json:"keep,omitempty"` // fraction of branches that "halve" keeps at each decision; zero means 0.5
	Seed uint64  `json:"seed,omitempty"` // seed of the random draws of "sample"; zero is a valid seed
}

// EnsureDefaults fills unset options.
func (d *Design) EnsureDefaults() {
	d.Which, d.Most, d.Keep = cmp.Or(d.Which, All), cmp.Or(d.Most, 10000), cmp.Or(d.Keep, 0.5)
}

// Validate returns an error that lists every invalid option.
func (d Design) Validate() error {
	var faults validate.Faults
	faults.Unless(slices.Contains([]DesignKind{All, Sampled, Halved, Likely}, d.Which),
		"design is %q; must be one of %s, %s, %s and %s", string(d.Which), All, Sampled, Halved, Likely)
	faults.When(d.Most < 0, "max_sequences is %d; must be at least 1", d.Most)
	faults.Unless(d.Keep >= 0 && d.Keep <= 1, "keep: got %v; must be between 0 and 1", d.Keep)
	return errors.Join(faults...)
}

// visitor receives the nodes of a design, each after its parent. It reads their outcomes, and may end the walk with an
// error.
type visitor func(b *node) error

// walk visits the nodes of the design, as far as the known outcomes determine them.
func (g *Grid) walk(visit visitor) error {
	switch g.Design.Which {
	case Sampled:
		return g.walkSample(g.root, g.Design.Most, visit)
	case Halved:
		return g.walkHalves(visit)
	case Likely:
		return g.walkLikely(visit)
	}
	return g.walkAll(g.root, visit)
}

// leads reports whether the outcome of any seed is known, so nodes can follow.
func (g *Grid) leads(b *node) bool { return g.dry || b.first() != nil }

func (g *Grid) walkAll(b *node, visit visitor) error {
	if err := visit(b); err != nil || !g.leads(b) {
		return err
	}
	next, err := g.next(b)
	for _, child := range next {
		if err == nil {
			err = g.walkAll(child, visit)
		}
	}
	return err
}

// walkSample spreads n sequences over the choices of a node, in a random order that is drawn for the node. A choice
// gets at most the number of sequences behind it if later decisions have at least as large a number of choices as this
// one.
func (g *Grid) walkSample(b *node, n int, visit visitor) error {
	if err := visit(b); err != nil || !g.leads(b) {
		return err
	}
	next, err := g.next(b)
	if err != nil || len(next) == 0 {
		return err
	}
	room := math.Pow(float64(len(next)), float64(g.Space.Decisions-len(b.sequence)-1))
	h := fnv.New64a()
	_, _ = h.Write([]byte(tables.Tuple(b.sequence))) // a hash never fails
	lots := rand.New(rand.NewPCG(g.Design.Seed, h.Sum64())).Perm(len(next))
	for place, k := range lots {
		share := n / len(next)
		if place < n%len(next) {
			share++
		}
		if share = int(min(float64(share), room)); share == 0 {
			continue
		}
		if err := g.walkSample(next[k], share, visit); err != nil {
			return err
		}
	}
	return nil
}

// walkHalves follows the best nodes of each decision once all outcomes of the decision are known.
func (g *Grid) walkHalves(visit visitor) error {
	level := []*node{g.root}
	for len(level) > 0 {
		known := true
		for _, b := range level {
			if err := visit(b); err != nil {
				return err
			}
			known = known && (g.dry || b.done())
		}
		if !known || len(level[0].sequence) == g.Space.Decisions {
			return nil
		}
		level = slices.DeleteFunc(level, func(b *node) bool { return !g.leads(b) })
		slices.SortStableFunc(level, func(a, b *node) int { return cmp.Compare(b.before(), a.before()) })
		var next []*node
		for _, b := range level[:int(math.Ceil(g.Design.Keep*float64(len(level))))] {
			children, err := g.next(b)
			if err != nil {
				return err
			}
			next = append(next, children...)
		}
		if level = next; g.dry && len(level) > g.Design.Most {
			return g.tooLarge(fmt.Sprintf("more than %d", g.Design.Most))
		}
	}
	return nil
}

// walkLikely follows the likeliest node until there are enough sequences. A node whose seeds have not all run counts as
// a sequence, so others can run in the meantime. This does not change the selection: the policy reads means over all
// seeds, whatever the order in which they end.
func (g *Grid) walkLikely(visit visitor) error {
	var ahead events.Heap[prospect]
	ahead.Push(likeliestFirst(1, 0), prospect{g.root, 1})
	met := 1
	for taken := 0; ahead.Len() > 0 && taken < g.Design.Most; {
		_, at, _ := ahead.Pop()
		if err := visit(at.node); err != nil {
			return err
		}
		known := g.leads(at.node) && (g.dry || at.done())
		if !known || len(at.sequence) == g.Space.Decisions {
			taken++
			continue
		}
		next, err := g.next(at.node)
		if err != nil {
			return err
		}
		shares, err := g.weigh(at.node, next)
		if err != nil {
			return err
		}
		for k, child := range next {
			share := at.share * shares[k]
			ahead.Push(likeliestFirst(share, met), prospect{child, share})
			met++
		}
	}
	return nil
}

func (g *Grid) weigh(b *node, next []*node) ([]float64, error) {
	if g.dry && b.shares == nil {
		b.shares = slices.Repeat([]float64{1 / float64(len(next))}, len(next))
	}
	if b.shares != nil {
		return b.shares, nil
	}
	var actions []net2net.Action
	for _, child := range next {
		a, err := net2net.ParseAction(child.sequence[len(child.sequence)-1])
		if err != nil {
			return nil, err
		}
		actions = append(actions, a)
	}
	observation, err := decider.NewObservation(b.network, actions, g.Space.Surgery)
	if err != nil {
		return nil, err
	}
	weighed, err := g.Policy.Probabilities(decider.Situation{Observation: observation, State: g.state(b)})
	if err != nil {
		return nil, fmt.Errorf("score the actions that follow the action sequence %s: %w", tables.Tuple(b.sequence),
			err)
	}
	b.shares = weighed[0]
	return b.shares, nil
}

// prospect is a node and the probability that the policy reaches it.
type prospect struct {
	*node
	share float64
}

// likeliestFirst orders prospects by descending probability, and equal ones by the order of discovery.
func likeliestFirst(share float64, met int) events.Key {
	return events.Key{events.Float(-share), int64(met)}
}
