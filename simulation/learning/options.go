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

// Options configure how a structural policy learns from trees. The zero value maximises
// the expected reward, which often ends at sequences that are good on average;
// NewOptions has the defaults that find the best ones.
type Options struct {
	decider.StructuralShape // of the policy; zero is its default

	Seed uint64 // of the first weights, and of what is drawn
	// Method selects the form of the policy: network learns by the exact gradient of its aim;
	// forest grows regression trees that predict how far a choice is ahead of the others, and
	// reads only reward, smooth, pool, without, trees and leaf. Empty means network.
	Method Method
	Trees  int // number of trees in a forest; zero means 200
	Leaf   int // fewest choices in a leaf of a forest; zero means 2
	// Beta weighs the best sequences: zero maximises the expected reward, more maximises
	// (1/Beta) log E exp(Beta R), of rewards with a deviation of one. 8 unless given, 2 for
	// new scenarios.
	Beta float64
	// Reward transforms accuracies; empty leaves them as they are, tangent is
	// the original's, which stretches high ones.
	Reward Reward
	// Smooth moves rewards towards the smoothed table, by a share from 0 to 1: the noise of
	// single runs averages out in it. Zero leaves them; 1 for new scenarios.
	Smooth float64
	// Pool moves the rewards of each tree towards the mean over all trees with the same
	// sequence, by a share from 0 to 1, which reduces noise. Zero leaves them; 0.5 for new
	// scenarios.
	Pool float64
	// Without are names of inputs, beside the network's layers, that policies do not see, to
	// measure what they are worth. Empty means none.
	Without     []string
	Entropy     float64 // reward of a nat of entropy; zero means none; 0.1 for new scenarios
	Rate        float64 // Adam's learning rate; zero means 0.01
	WeightDecay float64 // AdamW's weight decay, as a share of the rate; zero means none; 0.3 for new scenarios
	Steps       int     // maximum number of steps; zero means 400, and 100 for new scenarios
	// Sampled is the number of sequences sampled from each tree in a step, in place of the
	// exact gradient: REINFORCE with the mean of the others as a baseline, and Entropy if
	// given; Beta is not used. Zero means the exact gradient.
	Sampled int
	// Tolerance is the least growth of the objective within Window steps, in rewards;
	// learning ends below it. Zero means 0.001. Less than zero never ends, nor does sampling.
	Tolerance float64
	Window    int // steps of Tolerance; zero means 60
	// Every is the number of steps between evaluations on held-out trees; zero means 10.
	Every int
	// Patience is the number of evaluations without improvement after which learning
	// stops; the best policy is the result. Zero means 8.
	Patience int
}

// Method names a form of policy.
type Method string

// The methods.
const (
	Network Method = "network"
	Forest  Method = "forest"
)

// mostTrees bounds the trees of a seed: a policy file of 1,024 seeds holds no more.
const mostTrees = 1000

// Length is the number of steps at most; each tree of a forest is one.
func (o Options) Length() int {
	if o.Method == Forest {
		return o.Trees
	}
	return o.Steps
}

// NewOptions are the defaults, for scenarios that are those of the tables.
func NewOptions() Options {
	o := Options{Beta: 8}
	o.EnsureDefaults()
	return o
}

// NewTransferOptions are for scenarios that are in none of the tables. The tables'
// sequences ran once each, so the best of them were lucky: rewards are smoothed and
// half pooled, and entropy keeps policies uncertain.
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
	for name, v := range map[string]float64{"beta": o.Beta, "entropy": o.Entropy, "rate": o.Rate,
		"weight_decay": o.WeightDecay, "smooth": o.Smooth, "pool": o.Pool} {
		faults.When(!(v >= 0) || math.IsInf(v, 0) || (name == "smooth" || name == "pool") && v > 1,
			"%s is %v; it is at least 0, and a share at most 1", name, v)
	}
	for name, v := range map[string]int{"steps": o.Steps, "sampled": o.Sampled, "window": o.Window, "every": o.Every,
		"patience": o.Patience} {
		faults.When(v < 0, "%s is %d; it is not negative", name, v)
	}
	faults.Unless(slices.Contains([]Method{"", Network, Forest}, o.Method),
		"there is no method %q; there are %s and %s", string(o.Method), Network, Forest)
	for _, name := range o.Without {
		if !slices.Contains(decider.InputNames(), name) {
			faults = append(faults, fmt.Errorf("without names %q, which is no input; there are %s", name,
				strings.Join(decider.InputNames(), ", ")))
		}
	}
	faults.When(o.Trees < 0 || o.Trees > mostTrees || o.Leaf < 0,
		"trees is %d and leaf %d; trees is at most %d, and neither is negative", o.Trees, o.Leaf, mostTrees)
	return errors.Join(faults...)
}
