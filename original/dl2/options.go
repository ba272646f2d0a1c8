package dl2

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/internal/validate"
)

// Layouts of the first layer. Each of its units sees only a part of the state.
const (
	WholeState    = "none"       // no such layer; every unit reads the whole state
	ByJob         = "jobs"       // one layer per job of the window
	ByAttribute   = "attributes" // one layer per row of the window
	defaultWindow = 20
)

// ShapeOptions describes the observations, actions and networks of a policy. The zero value means DL2's published
// settings.
type ShapeOptions struct {
	// observations; the zero value means the first 20 jobs by arrival, with actions for bundles
	elastic.WindowOptions
	// Disables the rule that gives each job one worker and one parameter server before the policy acts in a slot.
	// Default false.
	NoStart bool
	Layers  int // Number of hidden layers. Zero means 1.
	// Number of neurons per hidden layer. Zero means the number of values in the observation matrix.
	Neurons int `config:"hidden,was=neurons"`
	// Removes the layer with a learned scale and shift that follows each ReLU. The published program calls this layer
	// "batch normalization", although it uses no batch statistics. Default false.
	NoAffine  bool
	FirstTanh bool // Uses tanh instead of ReLU in the first layer. Default false.
	// Layers in front of the hidden layers: "jobs" adds one layer per job, "attributes" adds one layer per job
	// attribute that the policy observes, "none" adds no layers. Empty means "none".
	Front string `config:",one=none|jobs|attributes"`
	// Connects each job's front layer directly to the job's outputs, in addition to the path through the hidden
	// layers. Requires front = "jobs". Default false.
	Shortcut bool
}

// Limits on the sizes of the networks.
const (
	maxWindow  = 1 << 10
	maxLayers  = 64
	maxNeurons = 1 << 14
)

// EnsureDefaults sets zero fields to their defaults.
func (o *ShapeOptions) EnsureDefaults() {
	o.Size, o.Layers, o.Order = cmp.Or(o.Size, defaultWindow), cmp.Or(o.Layers, 1), cmp.Or(o.Order, elastic.ByArrival)
	o.Front = cmp.Or(o.Front, WholeState)
}

// Validate returns an error that lists every invalid option.
func (o *ShapeOptions) Validate() error {
	faults := validate.Faults{within("window", o.Size, 1, maxWindow), within("layers", o.Layers, 1, maxLayers),
		within("hidden", o.Neurons, 0, maxNeurons)}
	faults.When(o.Front != WholeState && o.Front != ByJob && o.Front != ByAttribute,
		"front is %q; expected %q, %q or %q", o.Front, WholeState, ByJob, ByAttribute)
	faults.When(o.Shortcut && o.Front != ByJob, "shortcut is set, but requires front = %q", ByJob)
	faults.Unless(slices.Contains([]elastic.Order{elastic.ByArrival, elastic.ByShare, elastic.ByLeft}, o.Order),
		"order is %q; expected arrival, share or left", o.Order)
	return errors.Join(faults...)
}

// The names of the optimizers.
const (
	Adam    = "adam"
	RMSProp = "rmsprop"
)

// SupervisedOptions holds the options for imitating a scheduler.
type SupervisedOptions struct {
	// Number of imitation updates. Zero means 200; a negative value skips imitation.
	Steps int
	Rate  float64 `config:"lr,was=rate"` // Learning rate during imitation. Zero means 0.005.
	Batch int     // Number of samples per update, summed over all agents. Zero means 256.
	// Imitation loss function. Empty means "Cross_Entropy".
	Loss    string `config:",one=Cross_Entropy|Mean_Square|Absolute_Difference"`
	Teacher string // Name of the scheduler to imitate, such as "drf" or "optimus". Empty means "drf".
	// Keeps the order of the jobs' columns in training samples. False shuffles the columns.
	NoShuffle bool
}

// The rewards of an action.
const (
	SlotProgress = "progress"   // sum, over jobs, of the fraction of its epochs that the job completed in the slot
	JobProgress  = "job"        // fraction of its epochs that the job of the action completed in the slot
	JobsLeft     = "unfinished" // number of unfinished jobs; DL2's published program does not negate it
	// reward of the slot for its last action, multiplied by 0.99 for each step back to an earlier action; zero if the
	// last action did not fit
	Discounted = "discounted"
)

// ReinforcedOptions holds the options of reinforcement learning.
type ReinforcedOptions struct {
	// Number of reinforcement learning updates. Zero means 6000; a negative value skips reinforcement learning.
	Steps int
	Rate  float64 `config:"lr,was=rate"` // Learning rate during reinforcement learning. Zero means 0.0001.
	Batch int     // Number of transitions per update, summed over all agents. Zero means 256.
	Every int     // Update interval, in slots. Zero means 1.
	// Reward of actions: "progress" is the fraction of epochs completed in the slot, summed over all jobs; "job" is
	// this fraction for the action's job only; "unfinished" is the number of unfinished jobs (positive, as in the
	// published program); "discounted" gives the last action of a slot the reward of the slot, and each earlier
	// action 0.99 times the reward of the action after it. Empty means "progress".
	Reward string `config:",one=progress|job|unfinished|discounted"`
	// Weight of the negative entropy in the loss. Zero means 0.1; a negative value means no entropy term.
	Entropy  float64
	NoCritic bool // Computes advantages relative to the mean reward. False uses a value network.
	// Uses rewards as advantages without subtracting the mean reward, if no_critic = true. Otherwise, this key changes
	// only the upper bound of the priorities in the replay memory. Default false.
	NoMean bool
	// Takes uniformly random actions with a probability that decreases during training. Default false.
	EpsilonGreedy bool
	// Uses the same exploration probability for all agents. If false, the probability decreases more slowly for agents
	// with higher numbers.
	SameEpsilon bool
	// Disables the rules that replace some of the policy's actions during training. Default false.
	NoInjection bool
	// Disables the training rule that grows the job with the fewest tasks (workers and servers) if another job has
	// several times as many. Default false.
	NoBalance bool
}

// ReplayOptions holds the options of each agent's replay memory.
type ReplayOptions struct {
	Capacity int // Capacity of the replay memory in transitions. Zero means 8192.
	// Samples transitions uniformly in reinforcement learning. Imitation always samples uniformly. False samples by
	// priority.
	Even bool
	// Gives a new transition the highest priority. False uses the transition's reward minus the mean reward as its
	// priority, but at least 1.
	NoSort bool
	// Evicts the transition with the lowest priority from a full replay memory. False evicts the oldest transition.
	EvictLeast bool
	Fill       int // Number of transitions to store per slot, drawn at random. Zero stores all transitions.
}

// WorkloadOptions holds the options of the workloads that agents train on.
type WorkloadOptions struct {
	Count      int // Number of training workloads per agent. The agent cycles through these workloads. Zero means 100.
	FirstTypes int // Number of job types at the start of training. Zero means all.
	// Interval at which a job type is added, in updates. Requires first_types. Zero means 500.
	TypesEvery int
	MostSlots  int `config:"max_slots,was=most_slots"` // Maximum number of slots per episode. Zero means 1000.
}

// ValidationOptions holds the options of validation.
type ValidationOptions struct {
	// Validation interval of reinforcement learning, in updates; imitation validates four times as often. Zero means
	// 200. A negative value disables validation; 'graft learn' rejects it, because validation selects the policy to
	// keep.
	Every int
	// Takes the most likely action during validation. False samples an action from the policy's probabilities.
	Likeliest bool
}

// Options holds the options for training DL2. The zero value means the settings in DL2's published program.
type Options struct {
	Shape      ShapeOptions      // Observations, actions and networks of the policy.
	Supervised SupervisedOptions // Options for imitation, the first phase of learning.
	Reinforced ReinforcedOptions // Options for reinforcement learning, the second phase of learning.
	Replay     ReplayOptions     // Experience replay of each agent.
	Workloads  WorkloadOptions   // Training workloads of the agents.
	Validation ValidationOptions // Options for validation during training.
	// Optimizer of the policy network and the value network. Empty means "adam".
	Optimizer string `config:",one=adam|rmsprop"`
	Agents    int    // Number of agents that learn together, each with its own workloads. Zero means 1.
	// Applies the gradient of each agent separately, as in A3C; agents take turns in a fixed order, so results are
	// reproducible. False averages the gradients of all agents.
	Asynchronous bool
	Seed         uint64 // seed of the training; agent k draws with Seed+k+1; zero means 9973
}

const maxAgents = 1 << 10

// EnsureDefaults sets zero fields to their defaults.
func (o *Options) EnsureDefaults() {
	o.Shape.EnsureDefaults()
	s, r := &o.Supervised, &o.Reinforced
	s.Steps, s.Rate, s.Batch = cmp.Or(s.Steps, 200), cmp.Or(s.Rate, 0.005), cmp.Or(s.Batch, 256)
	s.Loss, s.Teacher = cmp.Or(s.Loss, "Cross_Entropy"), cmp.Or(s.Teacher, "drf")
	r.Steps, r.Rate, r.Batch, r.Every = cmp.Or(r.Steps, 6000), cmp.Or(r.Rate, 1e-4), cmp.Or(r.Batch, 256),
		cmp.Or(r.Every, 1)
	r.Reward, r.Entropy = cmp.Or(r.Reward, SlotProgress), cmp.Or(r.Entropy, 0.1)
	w := &o.Workloads
	w.Count, w.TypesEvery, w.MostSlots = cmp.Or(w.Count, 100), cmp.Or(w.TypesEvery, 500), cmp.Or(w.MostSlots, 1000)
	o.Replay.Capacity, o.Validation.Every = cmp.Or(o.Replay.Capacity, 8192), cmp.Or(o.Validation.Every, 200)
	o.Optimizer, o.Agents, o.Seed = cmp.Or(o.Optimizer, Adam), cmp.Or(o.Agents, 1), cmp.Or(o.Seed, 9973)
}

// Validate returns an error that lists every invalid option.
func (o *Options) Validate() error {
	s, r := &o.Supervised, &o.Reinforced
	faults := validate.Faults{o.Shape.Validate(),
		within("agents", o.Agents, 1, maxAgents), within("replay.capacity", o.Replay.Capacity, 1, 1<<22),
		within("supervised.batch per agent", s.Batch/max(1, o.Agents), 1, o.Replay.Capacity),
		within("reinforced.batch per agent", r.Batch/max(1, o.Agents), 1, o.Replay.Capacity),
		within("reinforced.every", r.Every, 1, 1<<20), within("replay.fill", o.Replay.Fill, 0, 1<<20),
		within("workloads.count", o.Workloads.Count, 1, 1<<16), within("workloads.first_types",
			o.Workloads.FirstTypes, 0, 1<<16),
		within("workloads.types_every", o.Workloads.TypesEvery, 1, 1<<30),
		within("workloads.max_slots", o.Workloads.MostSlots, 1, 1<<20), oneOf("supervised.loss", s.Loss,
			slices.Sorted(maps.Keys(SupervisedLosses))), oneOf("optimizer", o.Optimizer, []string{Adam, RMSProp}),
		oneOf("reinforced.reward", r.Reward, []string{SlotProgress, JobProgress, JobsLeft, Discounted}),
		positive("supervised.lr", s.Rate), positive("reinforced.lr", r.Rate),
	}
	faults.When(!(r.Entropy <= 1e6), "reinforced.entropy is %g; expected at most 1e6", r.Entropy)
	faults.When(o.Seed > 1<<31, "seed is %d; expected at most %d", o.Seed, 1<<31)
	_, err := schedulers.Named(s.Teacher)
	return errors.Join(append(faults, err)...)
}

func within(what string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%s is %d; expected %d to %d", what, value, least, most)
	}
	return nil
}

func oneOf(what, value string, names []string) error {
	if !slices.Contains(names, value) {
		return fmt.Errorf("%s is %q; expected one of: %q", what, value, names)
	}
	return nil
}

func positive(what string, value float64) error {
	if !(value > 0 && value <= 1e3) {
		return fmt.Errorf("%s is %g; expected more than 0 and at most 1000", what, value)
	}
	return nil
}
