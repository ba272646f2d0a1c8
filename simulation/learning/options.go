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

// Options configure how a structural policy learns from trees. The zero value maximises the expected reward, which
// often selects sequences that are good on average; NewOptions has the defaults that find the best ones.
type Options struct {
	decider.StructuralShape // shape of the policy; zero means its default

	Seed uint64 // seed of the initial weights and of random draws
	// Method selects the form of the policy. network learns by the exact gradient of its aim. forest grows regression
	// trees that predict the advantage of a choice over the others, and uses only reward, smooth, pool, without, trees
	// and leaf. Empty means network.
	Method Method
	Trees  int // number of trees in a forest; zero means 200
	Leaf   int // minimum choices in a leaf of a forest; zero means 2
	// Beta is the weight of the best sequences. Zero maximises the expected reward; a larger value maximises (1/Beta)
	// log E exp(Beta R), with rewards of standard deviation one. Default 8, 2 for new scenarios.
	Beta float64
	// Reward selects the transformation of accuracies: empty keeps them; tangent is the original's, which stretches
	// high accuracies.
	Reward Reward
	// Smooth moves rewards towards the smoothed table, by a share from 0 to 1, which averages out the noise of single
	// runs. Zero keeps the rewards. Default 0, 1 for new scenarios.
	Smooth float64
	// Pool moves the rewards of each tree towards the mean over all trees with the same sequence, by a share from 0 to
	// 1, which reduces noise. Zero keeps the rewards. Default 0, 0.5 for new scenarios.
	Pool float64
	// Without lists inputs, in addition to the network's layers, that policies do not read, to measure their value.
	// Empty means none.
	Without     []string
	Entropy     float64 // reward per nat of entropy; zero means none; default 0, 0.1 for new scenarios
	Rate        float64 `config:"lr,was=rate"` // Adam's learning rate; zero means 0.01
	WeightDecay float64 // AdamW's weight decay, as a share of the rate; zero means none; 0.3 for new scenarios
	Steps       int     // maximum number of steps; zero means 400, and 100 for new scenarios
	// Sampled is the number of sequences sampled from each tree per step, instead of the exact gradient. It uses
	// REINFORCE with the mean of the other sequences as baseline, and Entropy if set, but not Beta. Zero uses the exact
	// gradient.
	Sampled int
	// Tolerance is the minimum growth of the objective within Window steps, in rewards; learning ends below it. Zero
	// means 0.001. A negative value never ends learning early, nor does sampling.
	Tolerance float64
	Window    int // window of Tolerance, in steps; zero means 60
	// Every is the number of steps between evaluations on held-out trees. Zero means 10.
	Every int
	// Patience is the number of evaluations without improvement before learning stops. The best policy is the result.
	// Zero means 8.
	Patience int
}

// Method names a form of policy.
type Method string

// The methods.
const (
	Network Method = "network"
	Forest  Method = "forest"
)

// mostTrees limits the trees per seed: a policy file holds at most 1,024 seeds.
const mostTrees = 1000

// Length is the maximum number of steps; each tree of a forest is one.
func (o Options) Length() int {
	if o.Method == Forest {
		return o.Trees
	}
	return o.Steps
}

// NewOptions returns the defaults for scenarios that are in the tables.
func NewOptions() Options {
	o := Options{Beta: 8}
	o.EnsureDefaults()
	return o
}

// NewTransferOptions returns the defaults for scenarios that are in none of the tables. The tables' sequences ran once
// each, so the best of them were lucky: rewards are smoothed and half pooled, and entropy keeps policies uncertain.
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

// Validate lists all faults.
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
	for _, name := range o.Without {
		if !slices.Contains(decider.InputNames(), name) {
			faults = append(faults, fmt.Errorf("without: unknown input %q; expected one of %s", name,
				strings.Join(decider.InputNames(), ", ")))
		}
	}
	faults.When(o.Trees < 0 || o.Trees > mostTrees || o.Leaf < 0,
		"trees is %d and leaf is %d; trees must be from 0 to %d, and leaf at least 0", o.Trees, o.Leaf, mostTrees)
	return errors.Join(faults...)
}
