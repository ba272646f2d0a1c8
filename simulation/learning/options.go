package learning

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/decider"
	"graft/internal/validate"
)

// Options determines how a structural policy learns from trees. The zero value maximises the expected reward, which
// often selects sequences that are good on average but not the best. NewOptions returns defaults that are suitable for
// finding the best sequences.
type Options struct {
	decider.StructuralShape // sizes of the policy; zero means their defaults

	Seed uint64 // seed of the initial weights and of random draws
	// Form of the policy: "network" learns by the exact gradient of its objective; "forest" grows regression trees
	// that predict the advantage of a choice over the other choices. "forest" uses only the keys "reward", "smooth",
	// "pool", "without", "trees" and "leaf" of this section. Empty means "network".
	Method Method
	Trees  int // Number of regression trees in a forest. Zero means 200.
	Leaf   int // Minimum number of choices in a leaf of a regression tree. Zero means 2.
	// Weight of the best sequences in the objective. Zero maximises the expected reward; a larger value maximises
	// (1/beta) log E exp(beta R), where R is the reward divided by the standard deviation of the rewards. Default 8, or
	// 2 if learn.for = "new".
	Beta float64
	// Transformation of accuracies into rewards: "tangent", as in the original system, stretches high accuracies before
	// they are standardised; "points" divides the accuracies of all tables by the same standard deviation. Empty
	// standardises the accuracies of each table separately.
	Reward Reward
	// Fraction by which accuracies move towards the predictions of a simple model that is fitted to the table, from 0
	// to 1; this averages out the noise of single runs. Zero keeps the accuracies unchanged. Default 0, or 1 if
	// learn.for = "new".
	Smooth float64
	// Fraction by which the reward of each sequence moves towards its mean over all tables that contain the sequence,
	// from 0 to 1; this reduces noise. Zero keeps the rewards unchanged. Default 0, or 0.5 if learn.for = "new".
	Pool float64
	// Names of inputs to hide from policies, or of groups of inputs: "sizes" are the inputs that depend on the absolute
	// size of networks, "curve" is the learning curve, and "gains" are the gains of actions. The network's layers
	// cannot be hidden. Empty hides no input.
	Without []string
	// Reward per nat of the policy's entropy. Default 0 (no reward), or 0.1 if learn.for = "new".
	Entropy float64
	Rate    float64 `config:"lr,was=rate"` // Learning rate of Adam. Zero means 0.01.
	// Weight decay of AdamW, relative to the learning rate. Default 0 (no decay), or 0.3 if learn.for = "new".
	WeightDecay float64
	// Maximum number of learning steps. Default 400, or 100 if learn.for = "new". Zero means 400.
	Steps int
	// Number of sequences that REINFORCE samples from each table in a step. The baseline of a sequence is the mean
	// reward of the other sequences. REINFORCE uses the key "entropy" but not "beta". Zero uses the exact gradient.
	Sampled int
	// Minimum growth of the objective over learn.window steps, in units of the reward; learning ends if the objective
	// grows by less. Has no effect if learn.sampled is set. Zero means 0.001; a negative value disables early
	// stopping.
	Tolerance float64
	// Number of most recent steps over which the growth of the objective is compared with learn.tolerance. Zero means
	// 60.
	Window int
	// Interval between evaluations on held-out tables, in steps. Zero means 10.
	Every int
	// Number of evaluations without improvement after which learning stops. The best policy is kept. Zero means 8.
	Patience int
}

// Method names the form of a learned policy: a neural network or a forest.
type Method string

// Forms of policies.
const (
	Network Method = "network"
	Forest  Method = "forest"
)

// mostTrees limits the trees per seed: a policy file holds at most 1,024 seeds.
const mostTrees = 1000

// Length returns the maximum number of steps; each tree of a forest counts as a step.
func (o Options) Length() int {
	if o.Method == Forest {
		return o.Trees
	}
	return o.Steps
}

// NewOptions returns the defaults for policies that choose actions in the same scenarios that they were trained on.
func NewOptions() Options {
	o := Options{Beta: 8}
	o.EnsureDefaults()
	return o
}

// NewTransferOptions returns the defaults for policies that choose actions in scenarios that they were not trained on.
// Each sequence of the tables ran only once, so the best sequences were partly lucky. Rewards are therefore smoothed,
// and moved halfway towards the mean over all tables. A reward for entropy keeps policies from becoming too certain.
func NewTransferOptions() Options {
	o := Options{Beta: 2, Smooth: 1, Pool: 0.5, Entropy: 0.1, WeightDecay: 0.3, Steps: 100}
	o.EnsureDefaults()
	return o
}

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.StructuralShape.EnsureDefaults()
	o.Rate, o.Tolerance, o.Steps = cmp.Or(o.Rate, 0.01), cmp.Or(o.Tolerance, 0.001), cmp.Or(o.Steps, 400)
	o.Method, o.Trees, o.Leaf = cmp.Or(o.Method, Network), cmp.Or(o.Trees, 200), cmp.Or(o.Leaf, 2)
	o.Window, o.Every, o.Patience = cmp.Or(o.Window, 60), cmp.Or(o.Every, 10), cmp.Or(o.Patience, 8)
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	faults := validate.Faults{o.StructuralShape.Validate(), o.Reward.Validate()}
	for name, v := range map[string]float64{"beta": o.Beta, "entropy": o.Entropy, "lr": o.Rate,
		"weight_decay": o.WeightDecay, "smooth": o.Smooth, "pool": o.Pool} {
		if name == "smooth" || name == "pool" {
			faults.Unless(v >= 0 && v <= 1, "%s is %v; must be from 0 to 1", name, v)
			continue
		}
		faults.When(!(v >= 0) || math.IsInf(v, 0), "%s is %v; must be a finite number of at least 0", name, v)
	}
	for name, v := range map[string]int{"steps": o.Steps, "sampled": o.Sampled, "window": o.Window, "every": o.Every,
		"patience": o.Patience} {
		faults.When(v < 0, "%s is %d; must not be negative", name, v)
	}
	faults.Unless(slices.Contains([]Method{"", Network, Forest}, o.Method),
		"method is %q; must be %s or %s", string(o.Method), Network, Forest)
	var known []string
	for _, g := range decider.InputGroups() {
		known = append(known, g.Name)
	}
	known = append(known, decider.InputNames()...)
	for _, name := range o.Without {
		if !slices.Contains(known, name) {
			faults = append(faults, fmt.Errorf("without contains the unknown input %q; expected one of: %s", name,
				strings.Join(known, ", ")))
		}
	}
	faults.When(o.Trees < 0 || o.Trees > mostTrees || o.Leaf < 0,
		"trees is %d and leaf is %d; trees must be from 0 to %d, and leaf must be at "+
			"least 0", o.Trees, o.Leaf, mostTrees)
	return errors.Join(faults...)
}
