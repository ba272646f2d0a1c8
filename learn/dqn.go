package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/learn/replay"
)

// DQNOptions holds the options of a deep Q-network (Mnih et al., Nature 518, 2015) with the extensions that Hessel et
// al. compare (Rainbow, AAAI 2018).
type DQNOptions struct {
	Inputs, Actions int   // number of values per observation, and number of actions; required without Graph
	Hidden          []int // widths of the hidden layers; empty means 64 and 64
	// Graph configures a network that reads graphs and has a dueling head. Nil means a fully connected network that
	// reads a vector of values.
	Graph *GraphOptions
	Rate  float64 // learning rate of Adam; zero means 0.0005
	Gamma float64 // discount factor per step of time; zero means 0.99
	// double Q-learning: the online network selects the action whose value the target network computes; false uses the
	// target network's best action
	Double   bool
	Duel     bool    // dueling network: a state value and advantages instead of one value per action
	Ahead    int     // number of actions in a multi-step return before a value is added; zero means 1
	Capacity int     // maximum number of transitions in the replay memory; zero means 50,000
	Alpha    float64 // exponent of priorities; zero samples uniformly
	Beta     float64 // fraction of the priorities' bias that importance weights correct; zero means 1
	Batch    int     // number of transitions per gradient; zero means 64
	Fill     int     // number of transitions before learning begins; zero means 1000
	Every    int     // number of actions between two gradient steps; zero means 4
	// number of gradient steps between updates of the target network; zero means 250
	Sync    int
	Explore float64 // final probability of random actions; zero means 0.02
	// number of actions over which the probability of random actions decreases to its final value; zero means 10,000;
	// with a negative value, the probability has its final value from the start
	ExploreFor int
	MaxNorm    float64 // maximum norm of the gradient; zero means 10
}

// EnsureDefaults replaces zeros with the defaults.
func (o *DQNOptions) EnsureDefaults() {
	for value, otherwise := range map[*float64]float64{&o.Rate: 5e-4, &o.Gamma: 0.99, &o.Beta: 1, &o.Explore: 0.02,
		&o.MaxNorm: 10} {
		if *value == 0 {
			*value = otherwise
		}
	}
	for value, otherwise := range map[*int]int{&o.Ahead: 1, &o.Capacity: 50000, &o.Batch: 64, &o.Fill: 1000,
		&o.Every: 4, &o.Sync: 250, &o.ExploreFor: 10000} {
		if *value == 0 {
			*value = otherwise
		}
	}
	if len(o.Hidden) == 0 {
		o.Hidden = []int{64, 64}
	}
}

// priorityEps gives transitions without error a chance to be drawn; the value is from Schaul et al. (2016).
const priorityEps = 1e-6

// transition is a run of consecutive actions of an episode: the first action, the discounted rewards, and the state
// that followed.
type transition struct {
	from, to Observation
	action   int
	reward   float64
	discount float64 // discount of the value of the state that followed; zero if the episode ended
}

// DQN learns action values by Q-learning.
type DQN struct {
	DQNOptions
	Ended []Episode // completed episodes

	players []*player // they act in turn
	random  *rand.Rand
	online  actionNet
	target  actionNet
	memory  *replay.Memory[transition]
	acted   int
	learned int
}

// player is a running episode.
type player struct {
	env     Env
	explore float64      // final share of random actions
	recent  []transition // transitions that still wait for rewards
	running bool
	reward  float64
	length  int
}

// NewDQN creates a learner whose network has random weights. The learner acts in the environments in turn. In
// environment k of n, the final probability of random actions is Explore to the power of 1+7k/(n-1) (Horgan et al.,
// Distributed prioritized experience replay, 2018).
func NewDQN(o DQNOptions, seed uint64, envs ...Env) (*DQN, error) {
	o.EnsureDefaults()
	d := &DQN{DQNOptions: o, random: rand.New(rand.NewPCG(seed, 0))}
	for k, env := range envs {
		power := 1.0
		if k > 0 {
			power += 7 * float64(k) / float64(len(envs)-1)
		}
		d.players = append(d.players, &player{env: env, explore: math.Pow(o.Explore, power)})
	}
	var err error
	if d.online, err = newActionNet(&d.DQNOptions, d.random); err != nil {
		return nil, err
	}
	if d.target, err = newActionNet(&d.DQNOptions, d.random); err != nil {
		return nil, err
	}
	if d.memory, err = replay.NewMemory[transition](o.Capacity); err != nil {
		return nil, err
	}
	return d, d.target.adopt(d.online)
}

// Best returns the action with the highest value among the allowed actions.
func (d *DQN) Best(o Observation) int { return best(d.online.values([]Observation{o}), o.Mask) }

// GraphNet returns the network that reads graphs; its most likely action is the action with the highest value. It
// returns nil if the network does not read graphs.
func (d *DQN) GraphNet() *GraphNet {
	if n, ok := d.online.(*graphValues); ok {
		return n.GraphNet
	}
	return nil
}

func best(values []float64, mask []bool) int {
	at, most := 0, math.Inf(-1)
	for k, v := range values {
		if (mask == nil || mask[k]) && v > most {
			at, most = k, v
		}
	}
	return at
}

// Learn takes the given number of actions and learns from their outcomes.
func (d *DQN) Learn(ctx context.Context, actions int) error {
	for range actions {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.act(); err != nil {
			return err
		}
		if d.memory.Len() < d.Fill || d.acted%d.Every != 0 {
			continue
		}
		if err := d.descend(); err != nil {
			return fmt.Errorf("learn with DQN, action %d: %w", d.acted, err)
		}
	}
	return nil
}

// choose explores or takes the best action.
func (d *DQN) choose(p *player, o Observation) int {
	share := p.explore
	if d.acted < d.ExploreFor {
		share = 1 - (1-p.explore)*float64(d.acted)/float64(d.ExploreFor)
	}
	if d.random.Float64() >= share {
		return d.Best(o)
	}
	var allowed []int
	for k := range d.Actions {
		if o.Mask == nil || o.Mask[k] {
			allowed = append(allowed, k)
		}
	}
	return allowed[d.random.IntN(len(allowed))]
}

func (d *DQN) act() error {
	p := d.players[d.acted%len(d.players)]
	if !p.running {
		if err := p.env.Reset(d.random); err != nil {
			return fmt.Errorf("start an episode: %w", err)
		}
		p.running, p.reward, p.length = true, 0, 0
	}
	from := copied(p.env.Observe())
	action := d.choose(p, from)
	outcome, err := p.env.Act(action)
	if err != nil {
		return fmt.Errorf("action %d: %w", action, err)
	}
	d.acted++
	p.reward += outcome.Reward
	p.length++
	d.remember(p, transition{from: from, action: action, discount: 1}, outcome)
	if outcome.Done {
		p.running = false
		d.Ended = append(d.Ended, Episode{p.reward, p.length})
	}
	return nil
}

func copied(o Observation) Observation {
	return Observation{slices.Clone(o.Values), slices.Clone(o.Mask)}
}

// remember adds an outcome to the waiting transitions, and stores the complete ones.
func (d *DQN) remember(p *player, t transition, o Outcome) {
	p.recent = append(p.recent, t)
	gamma := math.Pow(d.Gamma, float64(o.Elapsed))
	for k := range p.recent {
		r := &p.recent[k]
		r.reward += r.discount * o.Reward
		r.discount *= gamma
	}
	after := copied(p.env.Observe())
	for len(p.recent) >= d.Ahead || o.Done && len(p.recent) > 0 {
		first := p.recent[0]
		p.recent = p.recent[1:]
		first.to = after
		if o.Done && !o.Cut {
			first.discount = 0
		}
		priority := 1.0
		if d.Alpha > 0 {
			priority = max(d.memory.Most(), priorityEps)
			if d.memory.Len() == 0 {
				priority = 1
			}
		}
		_ = d.memory.Add(first, priority) // the priority is finite
	}
}

// descend takes one step of the optimizer.
func (d *DQN) descend() error {
	draw, err := d.memory.Draw(d.Batch, d.Beta, d.random)
	if err != nil {
		return err
	}
	var from, to []Observation
	for _, place := range draw.Places {
		t := d.memory.Item(place)
		from, to = append(from, t.from), append(to, t.to)
	}
	follows, a := d.target.values(to), d.Actions
	chosen := follows
	if d.Double {
		chosen = slices.Clone(d.online.values(to))
	}
	values, slope := d.online.values(from), make([]float64, d.Batch*a)
	for k, place := range draw.Places {
		t := d.memory.Item(place)
		next := follows[k*a+best(chosen[k*a:][:a], t.to.Mask)]
		off := values[k*a+t.action] - (t.reward + t.discount*next)
		slope[k*a+t.action] = draw.Weights[k] * min(max(off, -1), 1) / float64(d.Batch) // Huber's loss
		if d.Alpha > 0 {
			if err := d.memory.Set(place, math.Pow(math.Abs(off)+priorityEps, d.Alpha)); err != nil {
				return err
			}
		}
	}
	if err := d.online.descend(slope, d.MaxNorm); err != nil {
		return err
	}
	if d.learned++; d.learned%d.Sync == 0 {
		return d.target.adopt(d.online)
	}
	return nil
}
