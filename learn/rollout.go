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

// Agent scores actions and states. Only one goroutine may use it at a time; several agents may share weights.
type Agent interface {
	// Score returns the logit of each action and the value of the state.
	Score(o Observation) (logits []float64, value float64)
}

// Step is a step of an episode as an agent observes it.
type Step struct {
	Observation
	Action  int
	Log     float64 // log probability of the action
	Value   float64 // agent's value of the state
	Outcome Outcome
	// Bootstrap is the value of the state after the last step of a rollout, or after an episode that a time limit
	// ended. It is zero for other steps.
	Bootstrap float64
	Last      bool // the step is the last of the rollout
}

// Rollout plays episodes in one environment. Each call to Play continues the current episode.
type Rollout struct {
	Ended []Episode // completed episodes

	env     Env
	agent   Agent
	chance  *rand.PCG // generator of the environment
	draws   *rand.PCG // generator of the agent
	begin   []byte    // chance before the episode
	actions []int     // actions of the episode so far
	reward  float64   // rewards of the episode so far
	running bool
}

// Episode summarises a completed episode.
type Episode struct {
	Reward float64 // sum of the rewards, without discounts
	Length int     // number of actions
}

// NewRollout creates a rollout. The arguments seed and stream determine its random numbers.
func NewRollout(env Env, agent Agent, seed, stream uint64) *Rollout {
	return &Rollout{env: env, agent: agent, chance: rand.NewPCG(seed, 2*stream), draws: rand.NewPCG(seed, 2*stream+1)}
}

// RolloutState is the state of a rollout between two calls to Play, without the completed episodes.
type RolloutState struct {
	// state of the environment's random number generator at the start of the running episode; if no episode is running,
	// its current state
	Chance  []byte  `json:"chance"`
	Draws   []byte  `json:"draws"`   // current state of the agent's random number generator
	Running bool    `json:"running"` // an episode is running
	Actions []int   `json:"actions"` // actions of the running episode so far
	Reward  float64 `json:"reward"`  // sum of the rewards in the running episode so far
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

// Restore continues a rollout from a snapshot. It brings the environment to the same state by
// repeating the actions of the unfinished episode.
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
			return errors.Join(fmt.Errorf("restore a rollout: recorded action %d fails or ends the episode, because "+
				"the environment has changed; start over", k), err)
		}
	}
	r.actions, r.reward = slices.Clone(s.Actions), s.Reward
	return nil
}

func (r *Rollout) reset() error {
	r.begin = marshal(r.chance)
	if err := r.env.Reset(rand.New(r.chance)); err != nil {
		return fmt.Errorf("start an episode: %w", err)
	}
	r.running, r.reward, r.actions = true, 0, nil
	return nil
}

// Play takes the given number of actions, sampled from the agent, and returns the steps.
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
		return s, errors.New("draw an action: the agent's scores are not finite; lower the learning rate")
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

// PlayAll calls Play for each rollout and returns all steps, in the order of the rollouts. The number of workers is the
// maximum number of rollouts that run at a time.
func PlayAll(ctx context.Context, all []*Rollout, actions, workers int) ([]Step, error) {
	played := make([][]Step, len(all))
	err := parallel.Pool{Workers: workers}.Each(ctx, len(all), func(k int) (err error) {
		if played[k], err = all[k].Play(actions); err != nil {
			err = fmt.Errorf("play environment %d: %w", k, err)
		}
		return err
	}).First()
	return slices.Concat(played...), err
}

// LogProbabilities returns the logarithm of a softmax over the allowed actions; it is minus infinity for the other
// actions.
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

// Sample samples an action from log probabilities.
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

// Likeliest returns the most likely action. On a tie, it returns the lowest index. If every value is NaN, it returns 0.
func Likeliest(log []float64) int { return best(log, nil) }
