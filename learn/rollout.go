package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/parallel"
)

// Agent chooses actions and values states. One goroutine uses it at a time; several agents may share
// weights.
type Agent interface {
	// Score returns the logit of each action and the value of the state.
	Score(o Observation) (logits []float64, value float64)
}

// Step is a step of an episode, as an agent saw it.
type Step struct {
	Observation
	Action  int
	Log     float64 // logarithm of its probability
	Value   float64 // of the state
	Outcome Outcome
	// Bootstrap is the value of the state behind the last step of a rollout, or behind an episode that
	// was cut; zero elsewhere.
	Bootstrap float64
	Last      bool // of the rollout
}

// Rollout plays in one environment; the episode goes on in the next call.
type Rollout struct {
	Ended []Episode // that have ended

	env     Env
	agent   Agent
	chance  *rand.PCG // of the environment
	draws   *rand.PCG // of the agent
	begin   []byte    // chance before the episode
	actions []int     // of the episode so far
	reward  float64   // likewise
	running bool
}

// Episode is an episode that has ended.
type Episode struct {
	Reward float64 // sum of the rewards, not discounted
	Length int     // actions
}

// NewRollout makes a rollout with streams of random numbers of its own.
func NewRollout(env Env, agent Agent, seed, stream uint64) *Rollout {
	return &Rollout{env: env, agent: agent, chance: rand.NewPCG(seed, 2*stream), draws: rand.NewPCG(seed, 2*stream+1)}
}

// RolloutState is a rollout between two calls of Play, but for the episodes that have ended.
type RolloutState struct {
	Chance  []byte  `json:"chance"`  // generator of the environment before the running episode, or now
	Draws   []byte  `json:"draws"`   // generator of the agent now
	Running bool    `json:"running"` // an episode is under way
	Actions []int   `json:"actions"` // that it has taken
	Reward  float64 `json:"reward"`  // that it has had
}

// State returns a snapshot for Restore.
func (r *Rollout) State() RolloutState {
	if !r.running {
		return RolloutState{Chance: marshal(r.chance), Draws: marshal(r.draws)}
	}
	return RolloutState{Chance: r.begin, Draws: marshal(r.draws), Running: true, Actions: slices.Clone(r.actions),
		Reward: r.reward}
}

func marshal(p *rand.PCG) []byte {
	text, _ := p.MarshalBinary() // it never fails
	return text
}

// Restore goes on where a rollout was: the environment goes through the actions of its episode again.
func (r *Rollout) Restore(s RolloutState) error {
	if err := errors.Join(r.chance.UnmarshalBinary(s.Chance), r.draws.UnmarshalBinary(s.Draws)); err != nil {
		return fmt.Errorf("restore a rollout: %w", err)
	}
	if r.running = false; !s.Running {
		return nil
	}
	if err := r.reset(); err != nil {
		return err
	}
	for k, action := range s.Actions {
		r.env.Observe()
		if o, err := r.env.Act(action); err != nil || o.Done {
			return errors.Join(fmt.Errorf("restore a rollout: action %d of its episode ends it or fails; "+
				"the environment has changed", k), err)
		}
	}
	r.actions, r.reward = slices.Clone(s.Actions), s.Reward
	return nil
}

func (r *Rollout) reset() error {
	r.begin = marshal(r.chance)
	if err := r.env.Reset(rand.New(r.chance)); err != nil {
		return fmt.Errorf("begin an episode: %w", err)
	}
	r.running, r.reward, r.actions = true, 0, nil
	return nil
}

// Play takes so many actions as the agent draws them.
func (r *Rollout) Play(actions int) ([]Step, error) {
	steps := make([]Step, 0, actions)
	for range actions {
		step, err := r.step()
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	last := &steps[actions-1]
	last.Last = true
	if !last.Outcome.Done {
		_, last.Bootstrap = r.agent.Score(r.env.Observe())
	}
	return steps, nil
}

func (r *Rollout) step() (s Step, err error) {
	if !r.running {
		if err := r.reset(); err != nil {
			return s, err
		}
	}
	now := r.env.Observe()
	s.Observation = Observation{slices.Clone(now.Values), slices.Clone(now.Mask)}
	logits, value := r.agent.Score(s.Observation)
	log := LogProbabilities(logits, s.Mask)
	s.Value, s.Action = value, Sample(log, rand.New(r.draws))
	if s.Log = log[s.Action]; math.IsNaN(s.Log) || math.IsInf(s.Log, 0) {
		return s, errors.New("draw an action: the agent's scores are not finite numbers; lower the learning rate")
	}
	if s.Outcome, err = r.env.Act(s.Action); err != nil {
		return s, fmt.Errorf("action %d: %w", s.Action, err)
	}
	r.reward += s.Outcome.Reward
	r.actions = append(r.actions, s.Action)
	if s.Outcome.Done {
		r.running = false
		r.Ended = append(r.Ended, Episode{r.reward, len(r.actions)})
		if s.Outcome.Cut {
			_, s.Bootstrap = r.agent.Score(r.env.Observe())
		}
	}
	return s, nil
}

// PlayAll plays in several environments, workers of them at a time. The steps of one follow those of
// another, whatever ran first.
func PlayAll(ctx context.Context, all []*Rollout, actions, workers int) ([]Step, error) {
	played := make([][]Step, len(all))
	err := parallel.Pool{Workers: workers}.Each(ctx, len(all), func(k int) (err error) {
		if played[k], err = all[k].Play(actions); err != nil {
			err = fmt.Errorf("environment %d: %w", k, err)
		}
		return err
	}).First()
	return slices.Concat(played...), err
}

// LogProbabilities returns the logarithms of a softmax over the actions that the mask allows; others have minus
// infinity.
func LogProbabilities(logits []float64, mask []bool) []float64 {
	most := math.Inf(-1)
	for k, v := range logits {
		if mask == nil || mask[k] {
			most = max(most, v)
		}
	}
	sum, log := 0.0, make([]float64, len(logits))
	for k, v := range logits {
		if log[k] = math.Inf(-1); mask == nil || mask[k] {
			log[k] = v - most
			sum += math.Exp(log[k])
		}
	}
	total := math.Log(sum)
	for k := range log {
		log[k] -= total
	}
	return log
}

// Sample draws an action.
func Sample(log []float64, random *rand.Rand) int {
	left, last := random.Float64(), 0
	for k, v := range log {
		if p := math.Exp(v); p > 0 {
			if left -= p; left < 0 {
				return k
			}
			last = k
		}
	}
	return last // probabilities sum to a little less than one
}

// Likeliest is the likeliest action, the first of equals; the first of all where nothing is a number.
func Likeliest(log []float64) int { return best(log, nil) }
