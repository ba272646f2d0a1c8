package learn

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"graft/internal/validate"
	"graft/torch"
)

// PolicyOptions holds the sizes of a policy to train. The training data determine the policy's vocabulary and number of
// actions.
type PolicyOptions struct {
	Hidden int // Number of units per direction of the biLSTM that reads the network's layers. Zero means 50.
	Memory int // Number of units of the LSTM that follows the biLSTM. Zero means 16.
	Linear int // Width of the hidden linear layers. Zero means 128.
	Time   int // Width of the encoding of the remaining time. Zero means 8.
	// Computes in float64. Default false: computes in float32, like the original system.
	Precise bool
}

// EnsureDefaults sets zero fields to their defaults.
func (o *PolicyOptions) EnsureDefaults() {
	o.Hidden, o.Memory = cmp.Or(o.Hidden, 50), cmp.Or(o.Memory, 16)
	o.Linear, o.Time = cmp.Or(o.Linear, 128), cmp.Or(o.Time, 8)
}

// largestSize limits sizes; a larger one is a mistake.
const largestSize = 1 << 10

// Validate returns an error that lists every invalid option.
func (o PolicyOptions) Validate() error {
	var faults validate.Faults
	for _, size := range []struct {
		name  string
		value int
	}{{"hidden", o.Hidden}, {"memory", o.Memory}, {"linear", o.Linear}, {"time", o.Time}} {
		faults.When(size.value < 1 || size.value > largestSize, "%s is %d; must be between 1 and %d", size.name,
			size.value, largestSize)
	}
	return errors.Join(faults...)
}

// The rules of learning.
const (
	Reinforce = "reinforce" // learns from drawn episodes (Williams 1992)
	Exact     = "exact"     // learns from all sequences at once, weighted by their probability
)

// The kinds of reward.
const (
	RewardTangent  = "tangent"  // 100 tan(πa/2) for the accuracy a, which expands values near 1
	RewardAccuracy = "accuracy" // the accuracy, between 0 and 1
	RewardStandard = "standard" // accuracy minus the mean of the table, divided by its standard deviation
)

// Options holds the options of learning. The zero value means the original system's settings.
type Options struct {
	// Learning rule: "reinforce" learns from sampled episodes; "exact" learns from all sequences of the table, weighted
	// by their probability. Empty means "reinforce".
	Rule string `config:",one=reinforce|exact"`
	// Number of training episodes. A step with rule = "exact" counts as one episode. Zero means 10,000.
	Episodes int
	// Reward as a function of the accuracy a: "tangent" is 100 tan(πa/2), "accuracy" is a itself, "standard" is (a - m)
	// / s for the mean m and the standard deviation s of the accuracies in the table. Empty means "tangent".
	Reward  string  `config:",one=tangent|accuracy|standard"`
	LR      float64 // Learning rate of Adam. Zero means 0.0001.
	LRDecay float64 // Factor by which the learning rate is multiplied at each decay. Zero means 0.99.
	LREvery int     // Decay interval of the learning rate, in episodes. Zero means 500.
	LRLeast float64 `config:"min_lr,was=lr_least"` // Lower bound of the decaying learning rate. Zero means 1e-9.
	// Temperature of exploration. Actions are drawn from the softmax of p / temperature for the policy's probabilities
	// p (not its logits); a value above 1 makes the probabilities more equal. Zero means 1.
	Temperature float64
	// Factor by which the temperature is multiplied at each decay, until it reaches 1. Zero means 0.9.
	TemperatureDecay float64
	TemperatureEvery int // Decay interval of the temperature, in episodes. Zero means 1.
	// Weight of a new reward in the running mean of rewards, which serves as the baseline. Zero means no baseline.
	Baseline float64
	// Weight of the entropy bonus: each decision's reward is increased by the weight times the decision's entropy. Zero
	// means no bonus.
	Entropy float64
	Batch   int // Number of episodes per learning step. Zero means 1.
}

// EnsureDefaults sets zero fields to their defaults.
func (o *Options) EnsureDefaults() {
	o.Rule, o.Reward = cmp.Or(o.Rule, Reinforce), cmp.Or(o.Reward, RewardTangent)
	o.Episodes, o.Batch = cmp.Or(o.Episodes, 10_000), cmp.Or(o.Batch, 1)
	o.LR, o.LRDecay, o.LREvery, o.LRLeast = cmp.Or(o.LR, 1e-4), cmp.Or(o.LRDecay, 0.99), cmp.Or(o.LREvery, 500),
		cmp.Or(o.LRLeast, 1e-9)
	o.Temperature, o.TemperatureDecay, o.TemperatureEvery = cmp.Or(o.Temperature, 1), cmp.Or(o.TemperatureDecay, 0.9),
		cmp.Or(o.TemperatureEvery, 1)
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	rules, rewards := []string{Reinforce, Exact}, []string{RewardTangent, RewardAccuracy, RewardStandard}
	faults.When(!slices.Contains(rules, o.Rule), "rule is %q; must be one of %q", o.Rule, rules)
	faults.When(!slices.Contains(rewards, o.Reward), "reward is %q; must be one of %q", o.Reward, rewards)
	faults.When(o.Episodes < 1, "episodes is %d; must be at least 1", o.Episodes)
	faults.When(o.Batch < 1, "batch is %d; must be at least 1", o.Batch)
	faults.When(o.Batch > 0 && o.Episodes%max(o.Batch, 1) != 0, "episodes is %d; must be a multiple of batch, %d",
		o.Episodes, o.Batch)
	faults.When(o.LREvery < 1, "lr_every is %d; must be at least 1", o.LREvery)
	faults.When(o.TemperatureEvery < 1, "temperature_every is %d; must be at least 1", o.TemperatureEvery)
	for _, v := range []struct {
		name  string
		value float64
	}{{"lr", o.LR}, {"lr_decay", o.LRDecay}, {"min_lr", o.LRLeast}, {"temperature", o.Temperature},
		{"temperature_decay", o.TemperatureDecay},
		{"baseline", o.Baseline}, {"entropy", o.Entropy}} {
		faults.When(!(v.value >= 0) || math.IsInf(v.value, 0), "%s is %v; must not be negative", v.name, v.value)
	}
	faults.When(o.Baseline > 1, "baseline is %v; must be at most 1", o.Baseline)
	faults.When(o.TemperatureDecay > 1, "temperature_decay is %v; must be at most 1", o.TemperatureDecay)
	faults.When(o.Rule == Exact && (o.Baseline != 0 || o.Batch > 1),
		"rule is %s, which uses no episodes; remove baseline and batch, which apply only to %s", Exact, Reinforce)
	return errors.Join(faults...)
}

func (o Options) rule() torch.PolicyRule {
	return torch.PolicyRule{LRDecay: o.LRDecay, LRLeast: o.LRLeast, LREvery: o.LREvery, HeatDecay: o.TemperatureDecay,
		HeatEvery: o.TemperatureEvery, Baseline: o.Baseline, Entropy: o.Entropy, Batch: o.Batch, Beta1: 0.9,
		Beta2: 0.999, Eps: 1e-8}
}
