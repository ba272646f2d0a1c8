package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Model is an agent with trainable parameters.
type Model interface {
	Agent
	// Forward returns the logits and the value of each state.
	Forward(states []Observation) (logits [][]float64, values []float64)
	// Descend takes an optimizer step. The first two arguments are the derivatives of the objective with respect to the
	// results of the last Forward. Before the step, the norm of the gradient is limited to clip; zero means no limit.
	// If a gradient is not finite, it returns an error and changes nothing.
	Descend(logits [][]float64, values []float64, clip float64) error
}

// PPOOptions holds the options of proximal policy optimization with clipped ratios (Schulman et al., 2017).
type PPOOptions struct {
	Discounts         // discounts of later rewards; zero means the defaults of [Discounts]
	Clip      float64 // clipping range: maximum distance of probability ratios from one; zero means 0.2
	Epochs    int     // number of passes over a rollout; zero means 10
	Batch     int     // number of steps per gradient; zero means 64
	// number of consecutive steps that stay together in a batch, which is faster for some agents; zero means 1
	Segment   int
	ValueLoss float64 // weight of half the mean squared error of values; zero means 1
	Entropy   float64 // weight of the entropy bonus; zero means none
	MaxNorm   float64 // maximum norm of the gradient; zero means 0.5
	// Penalty is the weight of the divergence from the policy that played the rollout, estimated from its actions. Zero
	// means no penalty.
	Penalty float64
	// bound on the squared error of a value: a value whose error reaches the bound is excluded from the value loss;
	// zero means no bound
	Far float64
	// Raw keeps advantages unscaled. If Raw is false, the advantages of each batch are scaled to mean zero and standard
	// deviation one.
	Raw bool
}

// EnsureDefaults replaces zeros with the defaults.
func (o *PPOOptions) EnsureDefaults() {
	o.Discounts.EnsureDefaults()
	for value, otherwise := range map[*float64]float64{&o.Clip: 0.2, &o.ValueLoss: 1, &o.MaxNorm: 0.5} {
		if *value == 0 {
			*value = otherwise
		}
	}
	if o.Epochs == 0 {
		o.Epochs = 10
	}
	if o.Batch == 0 {
		o.Batch = 64
	}
}

// PPOFigures holds the metrics of a PPO update, averaged over its batches.
type PPOFigures struct {
	ValueLoss    float64 `json:"value_loss"`    // mean squared error of values
	Entropy      float64 `json:"entropy"`       // entropy of decisions, in nats
	KL           float64 `json:"approx_kl"`     // estimated divergence from the policy that played
	ClipFraction float64 `json:"clip_fraction"` // fraction of probability ratios outside of the clipping range
}

// UpdatePPO improves a model with the steps of a rollout. It shuffles the steps with the given random number generator.
func UpdatePPO(m Model, steps []Step, o PPOOptions, random *rand.Rand) (f PPOFigures, err error) {
	advantages, returns := Advantages(steps, o.Discounts)
	return UpdatePPOBy(m, steps, advantages, returns, o, random)
}

// UpdatePPOBy works like UpdatePPO, but with given advantages, and with given returns as targets for the values. If
// returns is nil, values are not trained.
func UpdatePPOBy(m Model, steps []Step, advantages, returns []float64, o PPOOptions,
	random *rand.Rand) (f PPOFigures, err error) {
	o.EnsureDefaults()
	batches := 0.0
	for range o.Epochs {
		order := shuffled(len(steps), o.Segment, random)
		for at := 0; at < len(order); at += o.Batch {
			b := newPPOBatch(steps, order[at:min(at+o.Batch, len(order))], advantages, returns, o)
			if err := b.descend(m, &f); err != nil {
				return f, fmt.Errorf("learn with PPO: %w", err)
			}
			batches++
		}
	}
	for _, v := range []*float64{&f.ValueLoss, &f.Entropy, &f.KL, &f.ClipFraction} {
		*v /= batches
	}
	return f, nil
}

// ppoBatch is the part of a rollout for one gradient.
type ppoBatch struct {
	PPOOptions
	steps               []*Step
	states              []Observation
	advantages, returns []float64
}

func newPPOBatch(all []Step, places []int, advantages, returns []float64, o PPOOptions) *ppoBatch {
	b := &ppoBatch{PPOOptions: o}
	for _, k := range places {
		b.steps, b.states = append(b.steps, &all[k]), append(b.states, all[k].Observation)
		if b.advantages = append(b.advantages, advantages[k]); returns != nil {
			b.returns = append(b.returns, returns[k])
		}
	}
	if !o.Raw && len(places) > 1 {
		standardize(b.advantages)
	}
	return b
}

// standardEps avoids division by zero for equal advantages; the value is from Stable-Baselines3.
const standardEps = 1e-8

// standardize scales to mean zero and a sample standard deviation of one.
func standardize(values []float64) {
	n := float64(len(values))
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	scale := 1 / (math.Sqrt(squares/(n-1)) + standardEps)
	for k := range values {
		values[k] = (values[k] - mean) * scale
	}
}

// descend takes one optimizer step, and adds its figures.
func (b *ppoBatch) descend(m Model, f *PPOFigures) error {
	logits, values := m.Forward(b.states)
	n := float64(len(b.steps))
	dLogits, dValues := make([][]float64, len(b.steps)), make([]float64, len(b.steps))
	for k, s := range b.steps {
		log := LogProbabilities(logits[k], s.Mask)
		change := log[s.Action] - s.Log
		ratio, advantage := math.Exp(change), b.advantages[k]
		weight := 0.0 // derivative of the loss with respect to the action's logarithm
		if clipped := min(max(ratio, 1-b.Clip), 1+b.Clip); ratio*advantage <= clipped*advantage {
			weight = -advantage * ratio / n
		}
		weight -= b.Penalty / n
		if math.Abs(ratio-1) > b.Clip {
			f.ClipFraction += 1 / n
		}
		f.KL += (ratio - 1 - change) / n // estimator k3 of Schulman, Approximating KL Divergence, 2020
		entropy := Entropy(log)
		f.Entropy += entropy / n
		dLogits[k] = logitGradient(log, s.Action, weight, b.Entropy/n, entropy)
		if b.returns != nil {
			off := values[k] - b.returns[k]
			f.ValueLoss += off * off / n
			if b.Far == 0 || off*off < b.Far {
				dValues[k] = b.ValueLoss * off / n
			}
		}
	}
	return m.Descend(dLogits, dValues, b.MaxNorm)
}

// Entropy returns the entropy of a distribution in nats, from its log probabilities.
func Entropy(log []float64) (sum float64) {
	for _, v := range log {
		if p := math.Exp(v); p > 0 {
			sum -= p * v
		}
	}
	return sum
}

// logitGradient is the derivative of weight times the logarithm of an action's probability, minus bonus times the
// entropy.
func logitGradient(log []float64, action int, weight, bonus, entropy float64) []float64 {
	d := make([]float64, len(log))
	for k, v := range log {
		p := math.Exp(v)
		if p == 0 {
			continue
		}
		d[k] = -weight*p + bonus*p*(v+entropy)
	}
	d[action] += weight
	return d
}
