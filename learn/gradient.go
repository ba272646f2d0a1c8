package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// GradientOptions holds the options of a policy-gradient update on a rollout. With lambda = 1 and without a critic, the
// update is REINFORCE (Williams, Machine Learning 8, 1992); with a critic, the update is advantage actor-critic (Mnih
// et al., ICML 2016).
type GradientOptions struct {
	Discounts // discounts of later rewards; zero means the defaults of [Discounts]
	// whether to learn the values of states and subtract them from returns; false subtracts the mean return
	Critic    bool
	ValueLoss float64 // weight of half the mean squared error of values; zero means 1
	Entropy   float64 // weight of the entropy bonus; zero means none
	MaxNorm   float64 // maximum norm of the gradient; zero means 0.5
}

// UpdateGradient performs one optimizer step on a complete rollout.
func UpdateGradient(m Model, steps []Step, o GradientOptions) error {
	o.EnsureDefaults()
	if o.ValueLoss == 0 {
		o.ValueLoss = 1
	}
	if o.MaxNorm == 0 {
		o.MaxNorm = 0.5
	}
	if !o.Critic {
		steps = blind(steps)
	}
	advantages, returns := Advantages(steps, o.Discounts)
	states, mean := make([]Observation, len(steps)), 0.0
	for k, s := range steps {
		states[k] = s.Observation
		if !o.Critic {
			mean += returns[k] / float64(len(steps))
		}
	}
	logits, values := m.Forward(states)
	n := float64(len(steps))
	dLogits, dValues := make([][]float64, len(steps)), make([]float64, len(steps))
	for k, s := range steps {
		log := LogProbabilities(logits[k], s.Mask)
		dLogits[k] = logitGradient(log, s.Action, -(advantages[k]-mean)/n, o.Entropy/n, Entropy(log))
		if o.Critic {
			dValues[k] = o.ValueLoss * (values[k] - returns[k]) / n
		}
	}
	if err := m.Descend(dLogits, dValues, o.MaxNorm); err != nil {
		return fmt.Errorf("learn with a policy gradient: %w", err)
	}
	return nil
}

// blind returns the steps without the values of their states.
func blind(steps []Step) []Step {
	all := make([]Step, len(steps))
	for k, s := range steps {
		s.Value, s.Bootstrap = 0, 0
		all[k] = s
	}
	return all
}

// Example is a state with the actions to imitate.
type Example struct {
	Observation
	Actions []int   // right actions, at least one
	Return  float64 // sum of the later rewards, for ImitationOptions.ValueLoss only
}

// ImitationOptions determines how a model learns from the decisions of another scheduler or agent.
type ImitationOptions struct {
	Epochs  int     // number of passes over the examples; zero means 1
	Batch   int     // number of examples per gradient; zero means 64
	Segment int     // number of consecutive examples that stay together in a batch; zero means 1
	MaxNorm float64 // maximum norm of the gradient; zero means no limit
	// ValueLoss is the weight of the value loss, which is half the mean squared error between values and returns. Zero
	// turns off the training of values.
	ValueLoss float64
}

// Imitate trains a model to repeat decisions. The loss is minus the logarithm of the model's probability of a correct
// action. It returns the mean loss of the last pass. It shuffles the examples with the given random number generator.
func Imitate(m Model, examples []Example, o ImitationOptions, random *rand.Rand) (loss float64, err error) {
	if o.Epochs == 0 {
		o.Epochs = 1
	}
	if o.Batch == 0 {
		o.Batch = 64
	}
	for range o.Epochs {
		order := shuffled(len(examples), o.Segment, random)
		loss = 0
		for at := 0; at < len(order); at += o.Batch {
			part, err := imitateBatch(m, examples, order[at:min(at+o.Batch, len(order))], o)
			if err != nil {
				return loss, fmt.Errorf("learn by imitation: %w", err)
			}
			loss += part / float64(len(examples))
		}
	}
	return loss, nil
}

// leastRight keeps the gradient finite if the model almost excludes an example's right actions.
const leastRight = 1e-30

// imitateBatch takes one optimizer step on some examples, and returns the sum of their losses before it.
func imitateBatch(m Model, examples []Example, places []int, o ImitationOptions) (loss float64, err error) {
	states := make([]Observation, len(places))
	for k, place := range places {
		states[k] = examples[place].Observation
	}
	logits, values := m.Forward(states)
	d, ofValues := make([][]float64, len(places)), make([]float64, len(places))
	for k, place := range places {
		log, right := LogProbabilities(logits[k], states[k].Mask), 0.0
		for _, action := range examples[place].Actions {
			right += math.Exp(log[action])
		}
		if right = math.Log(max(right, leastRight)); math.IsInf(log[examples[place].Actions[0]], -1) {
			return 0, fmt.Errorf("example %d takes action %d, but its mask forbids this action", place,
				examples[place].Actions[0])
		}
		loss -= right
		ofValues[k] = o.ValueLoss * (values[k] - examples[place].Return) / float64(len(places))
		d[k] = make([]float64, len(log))
		for i, v := range log {
			d[k][i] = math.Exp(v) / float64(len(places))
		}
		for _, action := range examples[place].Actions {
			d[k][action] -= math.Exp(log[action]-right) / float64(len(places))
		}
	}
	return loss, m.Descend(d, ofValues, o.MaxNorm)
}

// shuffled returns a random order of the numbers below n. Runs of together consecutive numbers stay together.
func shuffled(n, together int, random *rand.Rand) []int {
	together = max(1, together)
	order := make([]int, 0, n)
	for _, k := range random.Perm((n + together - 1) / together) {
		for i := k * together; i < min(n, (k+1)*together); i++ {
			order = append(order, i)
		}
	}
	return order
}
