package candidates

import (
	"cmp"
	"errors"
	"slices"

	"graft/internal/validate"
	"graft/learn"
	"graft/learn/dense"
	"graft/learn/tensors"
	"graft/torch"
)

// Methods of learning after imitation.
const (
	PPO         = "ppo"
	ActorCritic = "actor-critic"
	Reinforce   = "reinforce"
	OnlyImitate = "none"
)

// Baselines of PPO.
const (
	ByWorkload = "workload"
	ByCritic   = "critic"
)

// Libraries that compute gradients.
const (
	InGo       = "go"
	InLibTorch = "libtorch"
)

// Teachers other than a single scheduler: the best scheduler of each workload, and no teacher.
const (
	BestTeacher = "best"
	NoTeacher   = "none"
)

// Options determines how an agent learns to schedule: it first imitates a teacher, then rounds of reinforcement
// learning improve it.
type Options struct {
	// Scheduler to imitate before reinforcement learning. "best" imitates, on each workload, the scheduler with the
	// smallest mean time to completion; "none" skips imitation. Empty means "best".
	Teacher string
	// Number of workloads on which the agent learns to imitate the teacher. Zero means the default.
	Lessons int `config:"imitation_workloads,was=lessons"`
	// Learning rate of Adam during imitation, above 0 and at most 1. Zero means 0.001.
	LessonRate float64 `config:"imitation_lr,was=lesson_rate"`
	// Reinforcement learning method, used after imitation; "none" means imitation only. Empty means "ppo".
	Method string `config:",one=ppo|actor-critic|reinforce|none"`
	// Baseline that PPO subtracts from rewards: "workload" uses the rewards of other episodes of the same workload;
	// "critic" uses rewards that a network predicts. Empty means "workload".
	Baseline string `config:",one=workload|critic"`
	Rounds   int    // Maximum number of rounds of reinforcement learning. Zero means the default.
	// Learning rate of Adam during reinforcement learning, above 0 and at most 1. Zero means the default.
	Rate   float64 `config:"lr,was=rate"`
	Hidden int     // Width of the hidden layers of the agent's networks. Zero means 32.
	// Library that computes gradients: "go" gives bit-identical results on every processor; "libtorch" is several times
	// as fast, especially with wide layers. Empty means "go".
	Compute string `config:",one=go|libtorch"`
	Envs    int    // Number of episodes that are played in parallel in a round. Zero means 8.
	// Number of actions per round in each of the parallel episodes. Has no effect with baseline = "workload",
	// which plays episodes to the end. Zero means 2048.
	Actions int     `config:"rollout,was=actions"`
	Epochs  int     // Number of passes over the actions of a round. Zero means 2.
	Batch   int     // Number of actions per gradient computation. Zero means 256.
	Gamma   float64 // Discount factor per time step, above 0 and at most 1. Zero means 0.99.
	// Parameter λ of generalised advantage estimation, above 0 and at most 1. Larger values give more weight to
	// observed rewards, and less weight to the critic's estimates. Zero means 0.99.
	Lambda float64
	// Clipping range of PPO: maximum relative change of an action's probability in a round. Zero means 0.2.
	Clip    float64
	Entropy float64 // Weight of the entropy of decisions in the objective. Zero means 0.003.
	// Validation interval: in workloads during imitation, in rounds during reinforcement learning. Zero means the
	// default.
	Every int
	// Number of validations without improvement after which reinforcement learning ends. Zero means the default.
	Patience int
	// Maximum number of simulated time slots per workload. A longer simulation is cut off. Zero means 2000.
	Slots int `config:"max_slots,was=slots"`
}

// EnsureDefaults replaces zeros with the defaults.
func (o *Options) EnsureDefaults() {
	o.Teacher, o.Method, o.Baseline = cmp.Or(o.Teacher, BestTeacher), cmp.Or(o.Method, PPO),
		cmp.Or(o.Baseline, ByWorkload)
	o.Compute = cmp.Or(o.Compute, InGo)
	for value, otherwise := range map[*int]int{&o.Lessons: 20, &o.Rounds: 40, &o.Hidden: 32, &o.Envs: 8,
		&o.Actions: 2048, &o.Epochs: 2, &o.Batch: 256, &o.Every: 5, &o.Patience: 2, &o.Slots: 2000} {
		*value = cmp.Or(*value, otherwise)
	}
	for value, otherwise := range map[*float64]float64{&o.LessonRate: 1e-3, &o.Rate: 3e-4, &o.Gamma: 0.99,
		&o.Lambda: 0.99, &o.Clip: 0.2, &o.Entropy: 0.003} {
		*value = cmp.Or(*value, otherwise)
	}
}

// Validate returns an error that lists every invalid option.
func (o *Options) Validate() error {
	var faults validate.Faults
	faults.Unless(slices.Contains([]string{PPO, ActorCritic, Reinforce, OnlyImitate}, o.Method),
		"method is %q; must be ppo, actor-critic, reinforce or none", o.Method)
	faults.When(o.Compute != InGo && o.Compute != InLibTorch, "compute is %q; must be go or libtorch", o.Compute)
	faults.When(o.Baseline != ByWorkload && o.Baseline != ByCritic, "baseline is %q; must be workload or critic",
		o.Baseline)
	faults.When(o.Baseline == ByWorkload && o.Method == PPO && o.Envs < 2,
		"envs is 1; must be at least 2, because baseline = \"workload\" compares episodes of the same workload")
	faults.When(o.Teacher == NoTeacher && o.Method == OnlyImitate,
		"teacher and method are both \"none\", so nothing would be learned; set teacher or method")
	for _, v := range []struct {
		name        string
		value, most int
	}{{"imitation_workloads", o.Lessons, 1e6}, {"rounds", o.Rounds, 1e6}, {"hidden", o.Hidden, 2048}, {"envs",
		o.Envs, 4096},
		{"rollout", o.Actions, 1e6}, {"epochs", o.Epochs, 1000}, {"batch", o.Batch, 1e6}, {"every", o.Every, 1e6},
		{"patience", o.Patience, 1e6}, {"max_slots", o.Slots, 1e6}} {
		faults.When(v.value < 1 || v.value > v.most, "%s is %d; must be between 1 and %d", v.name, v.value, v.most)
	}
	for name, v := range map[string]float64{"imitation_lr": o.LessonRate, "lr": o.Rate, "gamma": o.Gamma,
		"lambda": o.Lambda, "clip": o.Clip} {
		faults.When(!(v > 0 && v <= 1), "%s is %v; must be above 0 and at most 1", name, v)
	}
	faults.When(!(o.Entropy >= 0 && o.Entropy <= 10), "entropy is %v; must be between 0 and 10", o.Entropy)
	return errors.Join(faults...)
}

// batches returns the constructor of a network's batch computation; nil means Go.
func (o *Options) batches() func(*dense.Network) (dense.Batcher, error) {
	if o.Compute == InLibTorch {
		return tensors.Batches(torch.CPU)
	}
	return nil
}

// lessons is the number of lessons.
func (o *Options) lessons() int {
	if o.Teacher == NoTeacher {
		return 0
	}
	return o.Lessons
}

// rounds is the maximum number of rounds.
func (o *Options) rounds() int {
	if o.Method == OnlyImitate {
		return 0
	}
	return o.Rounds
}

// segment is the number of consecutive actions that stay together in a batch: they share most of their candidates.
const segment = 32

// grouped reports whether rounds play whole episodes of one workload.
func (o *Options) grouped() bool { return o.Method == PPO && o.Baseline == ByWorkload }

func (o *Options) ppo() learn.PPOOptions {
	return learn.PPOOptions{Discounts: learn.Discounts{Gamma: o.Gamma, Lambda: o.Lambda}, Clip: o.Clip,
		Epochs: o.Epochs, Batch: o.Batch, Segment: segment, Entropy: o.Entropy, ValueLoss: 0.5, MaxNorm: 0.5}
}

func (o *Options) gradient() learn.GradientOptions {
	g := learn.GradientOptions{Discounts: learn.Discounts{Gamma: o.Gamma, Lambda: o.Lambda},
		Critic: o.Method == ActorCritic, Entropy: o.Entropy, ValueLoss: 0.5}
	if !g.Critic {
		g.Lambda = 1
	}
	return g
}

// Steps returns the maximum number of learning steps: the number of imitation workloads plus the maximum number of
// reinforcement learning rounds. Call EnsureDefaults first.
func (o *Options) Steps() int { return o.lessons() + o.rounds() }
