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

// Layouts of the first layer; each unit of it sees a part of the state.
const (
	WholeState    = "none"       // no such layer
	ByJob         = "jobs"       // a layer per job
	ByAttribute   = "attributes" // a layer per row of the window
	defaultWindow = 20
)

// ShapeOptions describe a policy's observations, actions and networks. The zero value is the published setting.
type ShapeOptions struct {
	elastic.WindowOptions      // observations; zero means the first 20 jobs by arrival, and actions for bundles
	NoStart               bool // gives no job a worker and a server before the policy acts in a slot
	Layers                int  // hidden layers; zero means 1
	// neurons of a hidden layer; zero means the number of values in the state
	Neurons int `config:"hidden,was=neurons"`
	// NoAffine removes the shift and factor after each ReLU. The original calls them batch normalization, but they have
	// no statistics.
	NoAffine  bool
	FirstTanh bool // first layer uses tanh in place of ReLU
	// layers before the hidden ones: jobs has one per job, attributes one per row of the window; empty means none
	Front    string `config:",one=none|jobs|attributes"`
	Shortcut bool   // connects a job's outputs to its first layer as well; requires front = "jobs"
}

// Limits on the sizes of networks.
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

// Validate returns every invalid option.
func (o *ShapeOptions) Validate() error {
	faults := validate.Faults{within("window", o.Size, 1, maxWindow), within("hidden layers", o.Layers, 1, maxLayers),
		within("hidden", o.Neurons, 0, maxNeurons)}
	faults.When(o.Front != WholeState && o.Front != ByJob && o.Front != ByAttribute,
		"first layers %q: expected none, %s or %s", o.Front, ByJob, ByAttribute)
	faults.When(o.Shortcut && o.Front != ByJob, "a shortcut needs the first layers %q", ByJob)
	faults.Unless(slices.Contains([]elastic.Order{elastic.ByArrival, elastic.ByShare, elastic.ByLeft}, o.Order),
		"order %q of jobs: expected arrival, share or left", o.Order)
	return errors.Join(faults...)
}

// Names of optimizers.
const (
	Adam    = "adam"
	RMSProp = "rmsprop"
)

// SupervisedOptions configure imitation of a scheduler.
type SupervisedOptions struct {
	Steps int     // updates by imitation; zero means 200, negative means none
	Rate  float64 `config:"lr,was=rate"` // learning rate; zero means 0.005
	Batch int     // samples per update, over all agents; zero means 256
	// loss of imitation; empty means Cross_Entropy
	Loss      string `config:",one=Cross_Entropy|Mean_Square|Absolute_Difference"`
	Teacher   string // scheduler to imitate, such as drf or optimus; empty means drf
	NoShuffle bool   // keeps jobs in their columns; false shuffles the columns
}

// Rewards of actions.
const (
	SlotProgress = "progress"   // sum over jobs of the fraction of epochs completed in the slot
	JobProgress  = "job"        // fraction of its epochs that the action's job completes in the slot
	JobsLeft     = "unfinished" // number of unfinished jobs; the original does not negate it
	// reward of the slot for its last action, discounted by 0.99 per earlier action; none if the last action found no
	// room
	Discounted = "discounted"
)

// ReinforcedOptions configure reinforcement learning.
type ReinforcedOptions struct {
	Steps int     // updates by reinforcement learning; zero means 6000, negative means none
	Rate  float64 `config:"lr,was=rate"` // learning rate; zero means 0.0001
	Batch int     // transitions per update, over all agents; zero means 256
	Every int     // slots between two updates; zero means 1
	// Reward of actions: progress sums over all jobs the fraction of epochs completed in the slot; job uses only the
	// action's job; unfinished is the number of unfinished jobs, which the original does not negate; discounted gives
	// the last action the reward of the slot, and each earlier action 0.99 of the next one. Empty means progress.
	Reward string `config:",one=progress|job|unfinished|discounted"`
	// Entropy is the weight of the negative entropy in the loss. Zero means 0.1; negative means none.
	Entropy       float64
	NoCritic      bool // advantages are relative to the mean reward instead of a value network
	NoMean        bool // ignores the mean reward; without critic, rewards are used unchanged
	EpsilonGreedy bool // draws an action uniformly with a probability that falls over time
	SameEpsilon   bool // all agents explore equally; false lets later agents explore longer
	NoInjection   bool // disables replacement of actions by rules of the environment
	NoBalance     bool // disables the rule that grows a job with far fewer tasks than another
}

// ReplayOptions configure each agent's memory.
type ReplayOptions struct {
	Capacity   int  // capacity in transitions; zero means 8192
	Even       bool // draws uniformly in reinforcement learning, as always in imitation; false draws by priority
	NoSort     bool // gives a new transition the largest priority; false uses its reward
	EvictLeast bool // replaces the transition with the lowest priority; false replaces the oldest
	Fill       int  // transitions to keep per slot, drawn at random; zero means all
}

// WorkloadOptions configure the training workloads of an agent.
type WorkloadOptions struct {
	Count      int // workloads that an agent draws and repeats; zero means 100
	FirstTypes int // job types at the start; zero means all
	TypesEvery int // updates between two additions of a job type; zero means 500; requires FirstTypes
	MostSlots  int `config:"max_slots,was=most_slots"` // limit of slots per episode; zero means 1000
}

// ValidationOptions configure validation.
type ValidationOptions struct {
	// updates of reinforcement learning between two validations, and a quarter of that in imitation; zero means 200,
	// negative validates only on request
	Every     int
	Likeliest bool // takes the most likely action; false draws
}

// Options configure a training. The zero value is the published setting.
type Options struct {
	Shape      ShapeOptions      // observations, actions and networks of the policy
	Supervised SupervisedOptions // imitation, the first phase of learning
	Reinforced ReinforcedOptions // reinforcement learning
	Replay     ReplayOptions     // memory of each agent
	Workloads  WorkloadOptions   // training workloads of agents
	Validation ValidationOptions // validation
	Optimizer  string            `config:",one=adam|rmsprop"` // optimizer of both networks; empty means adam
	Agents     int               // agents that learn together, each with its own workloads; zero means 1
	// Asynchronous applies each agent's gradient separately (A3C). False averages the gradients of all agents. Agents
	// take turns in a fixed order, so a seed gives the same bits.
	Asynchronous bool
	Seed         uint64 // seed of a training; agent k draws from Seed+k+1; zero means 9973
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

// Validate returns every invalid option.
func (o *Options) Validate() error {
	s, r := &o.Supervised, &o.Reinforced
	faults := validate.Faults{o.Shape.Validate(),
		within("agents", o.Agents, 1, maxAgents), within("transitions in a memory", o.Replay.Capacity, 1, 1<<22),
		within("samples of an agent in an update", s.Batch/max(1, o.Agents), 1, o.Replay.Capacity),
		within("transitions of an agent in an update", r.Batch/max(1, o.Agents), 1, o.Replay.Capacity),
		within("slots of an update", r.Every, 1, 1<<20), within("transitions kept of a slot", o.Replay.Fill, 0, 1<<20),
		within("workloads", o.Workloads.Count, 1, 1<<16), within("first job types", o.Workloads.FirstTypes, 0, 1<<16),
		within("updates of a job type", o.Workloads.TypesEvery, 1, 1<<30),
		within("slots of an episode", o.Workloads.MostSlots, 1, 1<<20), oneOf("loss", s.Loss,
			slices.Sorted(maps.Keys(SupervisedLosses))), oneOf("optimizer", o.Optimizer, []string{Adam, RMSProp}),
		oneOf("reward", r.Reward, []string{SlotProgress, JobProgress, JobsLeft, Discounted}),
		positive("learning rate of imitation", s.Rate), positive("learning rate of reinforcement", r.Rate),
	}
	faults.When(!(r.Entropy <= 1e6), "weight %g of the entropy: expected at most 1e6", r.Entropy)
	faults.When(o.Seed > 1<<31, "seed %d: expected at most %d", o.Seed, 1<<31)
	_, err := schedulers.Named(s.Teacher)
	return errors.Join(append(faults, err)...)
}

func within(what string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%d %s: expected %d to %d", value, what, least, most)
	}
	return nil
}

func oneOf(what, value string, names []string) error {
	if !slices.Contains(names, value) {
		return fmt.Errorf("%s %q: expected one of %q", what, value, names)
	}
	return nil
}

func positive(what string, value float64) error {
	if !(value > 0 && value <= 1e3) {
		return fmt.Errorf("%s of %g: expected above 0 and up to 1000", what, value)
	}
	return nil
}
