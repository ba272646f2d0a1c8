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

// The first layers of networks, which see a part of the state each.
const (
	WholeState    = "none"       // no such layer
	ByJob         = "jobs"       // a layer for each job
	ByAttribute   = "attributes" // a layer for each row of the window
	defaultWindow = 20
)

// ShapeOptions describe what a policy sees and does, and its networks. The zero value is that of
// the published experiments.
type ShapeOptions struct {
	elastic.WindowOptions      // what the policy sees; zero is the first 20 jobs by arrival, and actions for bundles
	NoStart               bool // no job gets a worker and a server before the policy acts in a slot
	Layers                int  // hidden layers; zero means 1
	Neurons               int  // of a hidden layer; zero means as many as the state has values
	// NoAffine leaves out the shift and factor behind each ReLU. The original calls them a batch
	// normalization, but they have no statistics.
	NoAffine  bool
	FirstTanh bool // the first layer has tanh in place of ReLU
	// layers before the hidden ones: jobs has one for each job, attributes one for each row of the window;
	// empty means none
	Front    string `config:",one=none|jobs|attributes"`
	Shortcut bool   // outputs of a job see its first layer too; it needs front jobs
}

// Largest sizes of networks.
const (
	maxWindow  = 1 << 10
	maxLayers  = 64
	maxNeurons = 1 << 14
)

// EnsureDefaults sets the defaults of zero values.
func (o *ShapeOptions) EnsureDefaults() {
	o.Size, o.Layers, o.Order = cmp.Or(o.Size, defaultWindow), cmp.Or(o.Layers, 1), cmp.Or(o.Order, elastic.ByArrival)
	o.Front = cmp.Or(o.Front, WholeState)
}

// Validate returns every invalid option.
func (o *ShapeOptions) Validate() error {
	faults := validate.Faults{within("window", o.Size, 1, maxWindow), within("hidden layers", o.Layers, 1, maxLayers),
		within("neurons", o.Neurons, 0, maxNeurons)}
	faults.When(o.Front != WholeState && o.Front != ByJob && o.Front != ByAttribute,
		"first layers %q: expected none, %s or %s", o.Front, ByJob, ByAttribute)
	faults.When(o.Shortcut && o.Front != ByJob, "a shortcut needs the first layers %q", ByJob)
	faults.Unless(slices.Contains([]elastic.Order{elastic.ByArrival, elastic.ByShare, elastic.ByLeft}, o.Order),
		"order %q of jobs: expected arrival, share or left", o.Order)
	return errors.Join(faults...)
}

// Rules of optimizers.
const (
	Adam    = "adam"
	RMSProp = "rmsprop"
)

// SupervisedOptions holds the options of imitating a scheduler.
type SupervisedOptions struct {
	Steps int     // updates; zero means 200, negative none
	Rate  float64 // learning rate; zero means 0.005
	Batch int     // samples of all agents in an update; zero means 256
	// of imitation; empty means Cross_Entropy
	Loss      string `config:",one=Cross_Entropy|Mean_Square|Absolute_Difference"`
	Teacher   string // scheduler that is imitated, such as drf or optimus; empty means drf
	NoShuffle bool   // keeps jobs in their columns; false puts them in random ones
}

// Rewards of actions.
const (
	SlotProgress = "progress"   // share of their epochs that jobs do in the slot, summed
	JobProgress  = "job"        // share of its epochs that the action's job does in the slot
	JobsLeft     = "unfinished" // number of unfinished jobs; the original does not negate it
	// of the slot for its last action, discounted by 0.99 for each action before; none where that found no room
	Discounted = "discounted"
)

// ReinforcedOptions holds the options of reinforcement learning.
type ReinforcedOptions struct {
	Steps int     // updates; zero means 6000, negative none
	Rate  float64 // learning rate; zero means 0.0001
	Batch int     // transitions of all agents in an update; zero means 256
	Every int     // slots from an update to the next; zero means 1
	// Reward of actions: progress is the share of their epochs that all jobs do in the slot, job that of the
	// action's job, unfinished the number of unfinished jobs, which the original does not negate, and
	// discounted that of the slot for its last action, discounted by 0.99 for each action before. Empty means
	// progress.
	Reward string `config:",one=progress|job|unfinished|discounted"`
	// Entropy is the weight of the negative entropy in the loss; zero means 0.1, negative none.
	Entropy       float64
	NoCritic      bool // advantages are relative to the mean reward in place of a network's value
	NoMean        bool // the mean reward plays no role; without critic, rewards are taken as they are
	EpsilonGreedy bool // draws an action evenly at times, less and less
	SameEpsilon   bool // all agents explore alike; false keeps later agents at it for longer
	NoInjection   bool // the environment replaces no actions by rules
	NoBalance     bool // leaves out the rule that grows a job with far fewer tasks than another
}

// ReplayOptions holds the options of each agent's memory.
type ReplayOptions struct {
	Capacity   int  // transitions; zero means 8192
	Even       bool // reinforcement learning draws evenly; false draws by priority. Imitation always draws evenly
	NoSort     bool // a new transition has the largest priority; false that of its reward
	EvictLeast bool // a new transition replaces that with the smallest priority; false the oldest one
	Fill       int  // transitions of a slot that are kept, drawn at random; zero means all
}

// WorkloadOptions holds the options of the workloads that an agent learns from.
type WorkloadOptions struct {
	Count      int // workloads that it draws and repeats; zero means 100
	FirstTypes int // job types at first; zero means all
	TypesEvery int // updates after which there is another type; zero means 500, it needs FirstTypes
	MostSlots  int // slots after which an episode is cut; zero means 1000
}

// ValidationOptions holds the options of validation.
type ValidationOptions struct {
	// updates of reinforcement learning from a validation to the next, a quarter in imitation; zero means 200,
	// negative validates only on request
	Every     int
	Likeliest bool // takes the likeliest action; false draws
}

// Options are the parameters of a training. The zero value is that of the published experiments.
type Options struct {
	Shape      ShapeOptions      // what the policy sees and does, and its networks
	Supervised SupervisedOptions // learning by imitation, which comes first
	Reinforced ReinforcedOptions // reinforcement learning
	Replay     ReplayOptions     // memories of agents
	Workloads  WorkloadOptions   // what agents learn from
	Validation ValidationOptions // validation
	Optimizer  string            `config:",one=adam|rmsprop"` // of both networks; empty means adam
	Agents     int               // agents that learn together, each in its own workloads; zero means 1
	// Asynchronous applies each agent's gradient on its own (A3C), where all are averaged
	// otherwise. Agents take turns in a fixed order, so a seed gives the same bits.
	Asynchronous bool
	Seed         uint64 // agent k draws from Seed+k+1; zero means 9973
}

const maxAgents = 1 << 10

// EnsureDefaults sets the defaults of zero values.
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
