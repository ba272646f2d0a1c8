package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"graft/internal/decode"
	"graft/internal/validate"
	"graft/internal/words"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

// RunOptions holds the seed, device and output of a job. Paths in all sections use the operating system's syntax and
// are relative to the working directory. A path that is not found there is relative to the folder of the file.
type RunOptions struct {
	// Seed of all random numbers, except for data splits and synthetic images (data.seed). Default 1; zero is a valid
	// seed.
	Seed int64
	// Path of the run folder. Empty lets the command choose a path, such as runs/NAME for a file NAME.toml.
	Folder string `result:"none"`
	Device string `result:"rounding"` // Device of all tensors: "cpu" or "cuda:N". Empty means "cpu".
	// Number of LibTorch threads. Zero means LibTorch's default or, if results do not depend on the number of threads
	// (such as on the CPU with train.steady = true), the fastest number by measurement, up to one thread per processor.
	Threads int `result:"rounding"`
	// Vector instructions of the CPU: "native" uses the fastest instructions of the processor, so results differ
	// between CPU models; "avx2" gives the same results on every processor with AVX2. Empty means "native".
	Instructions string `config:",one=native|avx2" result:"rounding"`
	// Address of the HTTP server that shows and controls the running job, such as 127.0.0.1:0; port 0 selects a free
	// port. Empty means no server.
	Listen string `result:"none"`
	// Path of a run folder with kept checkpoints (checkpoint.keep_every). A new job starts from the newest kept
	// checkpoint before the first difference of the two jobs, instead of from the beginning, with the same results. The
	// jobs may differ in later events, later actions of a script, time.stop and time.stop_loss. {seed} in the name of
	// the folder is replaced by run.seed. Empty starts from the beginning.
	Fork string `json:",omitempty" result:"none"`
	// Writes TensorBoard event files in addition to the run folder's tables. Default false.
	Tensorboard bool `result:"none"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *RunOptions) EnsureDefaults() {
	o.Device = cmp.Or(o.Device, "cpu")
	o.Instructions = cmp.Or(o.Instructions, string(torch.Native))
}

// ForkOf returns the path of the run from which the trial with a seed starts; empty for none.
func (o RunOptions) ForkOf(seed int64) string {
	return strings.ReplaceAll(o.Fork, seedMark, strconv.FormatInt(seed, 10))
}

// Limit restricts this process to the CPU vector instructions that the job selects. Call it before LibTorch is opened.
func (o RunOptions) Limit() error { return torch.LimitTo(torch.Instructions(o.Instructions)) }

// deviceName matches device names; the job checks at its start that the device exists.
var deviceName = regexp.MustCompile(`^(cpu|cuda|cuda:[0-9]{1,3})$`)

// mostThreads avoids that OpenMP in LibTorch aborts the process because it cannot start the threads.
const mostThreads = 1024

// Validate returns an error that lists every invalid option.
func (o RunOptions) Validate() error {
	var faults validate.Faults
	faults.When(!deviceName.MatchString(o.Device), "device is %q; must be cpu or cuda:N", o.Device)
	faults.When(o.Threads < 0 || o.Threads > mostThreads,
		"threads is %d; must be between 0 (choose the fastest number) and %d", o.Threads, mostThreads)
	native, avx2 := string(torch.Native), string(torch.AVX2)
	faults.When(o.Instructions != native && o.Instructions != avx2, "instructions is %q; must be %s or %s",
		o.Instructions, native, avx2)
	faults.When(strings.Contains(filepath.Dir(o.Fork), seedMark),
		"fork is %q; {seed} is allowed only in the name of the folder, not in its path", o.Fork)
	if _, port, err := net.SplitHostPort(o.Listen); o.Listen != "" && (err != nil || !isPort(port)) {
		faults = append(faults, fmt.Errorf("listen is %q; expected an address and a port, such as 127.0.0.1:8080; "+
			"port 0 selects a free port", o.Listen))
	}
	return errors.Join(faults...)
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// NetworkOptions selects the network to train. A zoo network takes its input shape and number of classes from the data.
type NetworkOptions struct {
	// Name of a network in the zoo, from 'graft model list'. Empty means ConvSmall if network.file is empty too.
	// Cannot be combined with network.file.
	Name string
	File string // Path of a network file. Empty means a network from the zoo. Cannot be combined with network.name.
	// Number of outputs of the last linear layer. For a network from the zoo, zero means the number of classes in the
	// dataset; for a network file, zero leaves the layer unchanged.
	Classes int `json:",omitempty"`
	// Path of initial weights: a .pth or .safetensors file, or a results folder of the original system. {seed} in the
	// file name is replaced by run.seed, so each seed of a comparison can start from a separate file. Empty draws
	// random weights.
	Weights string
	// Initializes the parameters randomly from run.seed even if network.weights is set. The weight file then only
	// provides tensors without a defined initialization (buffers and constants of an imported network). False takes
	// all tensors from the weight file.
	Fresh bool `json:",omitempty"`
	// Path of a file of epoch times, which the original system wrote while it trained network.weights. The job
	// continues with the next epoch and its learning rate. If time.start is not set, the job starts at the end time of
	// the last epoch in the file. If the key is empty and network.weights is a folder, graft searches this folder for
	// the file.
	Runtimes string
	// Sets the epoch count to zero and the learning rate to its initial value, as the original system does, even if
	// network.runtimes is set. If network.runtimes is set, false continues both from the last epoch in that file.
	ResetEpochs bool `config:",was=anew"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *NetworkOptions) EnsureDefaults() {
	if o.Name == "" && o.File == "" {
		o.Name = "ConvSmall"
	}
}

// Validate returns an error that lists every invalid option.
func (o NetworkOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Name != "" && o.File != "", "file and name are mutually exclusive; remove one of them")
	faults.When(o.Classes < 0, "classes is %d; must not be negative", o.Classes)
	faults.When(o.Fresh && o.Weights == "",
		"fresh: requires network.weights; without it, all tensors are initialized randomly in any case; "+
			"set network.weights, or remove fresh")
	faults.When(o.Fresh && o.Runtimes != "", "fresh and runtimes are mutually exclusive; remove one of them")
	faults.When(strings.Contains(filepath.Dir(o.Weights), seedMark),
		"weights is %q; {seed} is allowed only in the file name, not in the folder", o.Weights)
	faults.When(o.Runtimes != "" && o.Weights == "", "runtimes: requires network.weights; set it too")
	return errors.Join(faults...)
}

// TimeOptions holds a job's budget, clock and device changes.
type TimeOptions struct {
	trainer.Timeline // budget, start and events; the default budget is 60 s
	// Clock that measures the budget: "virtual" charges work according to a device profile, "wall" measures real
	// time. Empty means "virtual".
	Clock string `config:",one=virtual|wall"`
	// Name or path of the device profile, which sets the duration of work on the virtual clock. A computed GPU may have
	// options, such as "h100:tf32,graphs". Requires clock = "virtual". Empty means "steady".
	Profile string
	// Path of a CSV file of events with the columns seconds, change and devices, in place of time.events. Cannot be
	// combined with
	// time.events. Empty means no file.
	EventsFile string `config:"timeline"`

	loaded []trainer.Event // of EventsFile
}

// Names of clocks.
const (
	VirtualClock = "virtual" // charges work by a device profile
	WallClock    = "wall"    // measures real time
)

// EnsureDefaults sets zero fields to their defaults.
func (o *TimeOptions) EnsureDefaults() {
	o.Clock = cmp.Or(o.Clock, VirtualClock)
	if o.Clock == VirtualClock && o.Profile == "" {
		o.Profile = "steady"
	}
}

// timeline returns the trainer's timeline with the events of the file.
func (o TimeOptions) timeline() trainer.Timeline {
	t := o.Timeline
	if o.EventsFile != "" {
		t.Events = o.loaded
	}
	return t
}

// Validate returns an error that lists every invalid option.
func (o TimeOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Clock == WallClock && o.Profile != "",
		"profile: requires the virtual clock; remove profile, or set clock to \"virtual\"")
	faults.When(o.EventsFile != "" && len(o.Events) > 0,
		"timeline and events are mutually exclusive; remove one of them")
	key := "events"
	if o.EventsFile != "" {
		key = "timeline"
	}
	for _, err := range decode.Parts(o.timeline().Validate()) {
		if strings.HasPrefix(err.Error(), "event ") {
			err = fmt.Errorf("%s: %w", key, err)
		}
		faults = append(faults, err)
	}
	faults = append(faults, wrongDirections(key, o.timeline())...)
	return errors.Join(faults...)
}

// wrongDirections returns the events that change the number of devices against their direction. An up that keeps the
// number is valid, because it asks for decisions.
func wrongDirections(key string, t trainer.Timeline) (faults []error) {
	held := t.First()
	for k, e := range t.Events {
		if e.Devices < 1 {
			continue
		}
		if e.Change == trainer.Up && e.Devices < held || e.Change == trainer.Down && e.Devices >= held {
			faults = append(faults, fmt.Errorf("%s: event %d with change %q gives the job %s, but the job has %s "+
				"before this event; correct \"change\" or \"devices\", or omit \"devices\" to keep the number of "+
				"devices", key, k, e.Change, words.Plural(e.Devices, "device"), words.Plural(held, "device")))
		}
		held = e.Devices
	}
	return faults
}

// AdaptOptions holds the options of the decider, the times of its decisions, and the surgery.
type AdaptOptions struct {
	// Decider that chooses the actions: "fixed" repeats one action; "script" takes its actions in order; "random" draws
	// an action that fits the network; "trials" trains a copy of the network for some steps with each action that fits,
	// and takes the action with the lowest validation loss; "gradient" takes the action whose new weights have the
	// largest gradient per cost; "policy" follows a learned policy; "none" takes no action.
	// A path, such as "./mine.py", names a program that chooses the actions. Empty means "none".
	Decider string `config:",path=word"`
	// List of actions, such as "deepen:0", "widen:conv2:48" and "none". The decider "fixed" requires exactly one action
	// and repeats it; "script" takes the actions in order; "random", "trials", "gradient" and structural policies
	// choose among the listed actions that fit the network. Must be empty for the decider "none". If the list is empty,
	// these deciders choose from adapt.kinds.
	Actions []net2net.Action
	// Operations that "random", "trials", "gradient" or a structural policy can choose if adapt.actions is empty. For a
	// policy, empty means all kinds of actions in the policy's training set. For other deciders, empty means deepen and
	// widen.
	Kinds []net2net.Kind
	// Path of a learned policy. For a structural policy: its file, or a folder that contains policy.safetensors. For
	// a policy in the original system's format: its weight file, or the folder that contains it. Must be empty unless
	// the decider is "policy".
	Policy string
	// Path of the vocabulary (a folder or a file) with which a policy in the original system's format was trained. Must
	// be empty for a structural policy, and for every decider except "policy".
	Vocab string `config:"vocabulary,was=vocab"`
	// Decider that replaces a structural policy at decisions whose inputs lie far outside of the range in the policy's
	// training tables, such as a network that is ten times larger: "none", "random", "gradient", or "policy", which
	// lets the policy decide. The event of the decision names the inputs. Empty means "none". Must be empty unless the
	// decider is "policy".
	Fallback string `json:",omitempty"`
	// Number of training steps per candidate action, for the decider "trials". Zero means 32.
	TrialSteps int `json:",omitempty"`
	// Samples each action from the policy's probabilities. False takes the most likely action.
	Sample bool
	// times of decisions, and options of surgery
	trainer.Adapt `config:",inline=surgery,omit=surgery.seed"`
}

// fallbacks are the values of adapt.fallback.
var fallbacks = []string{"", DecideNone, DecideRandom, decideGradient, decidePolicy}

// mostTrialSteps limits a trial, far above any useful length.
const mostTrialSteps = 1 << 20

// EnsureDefaults sets zero fields to their defaults.
func (o *AdaptOptions) EnsureDefaults() {
	o.Decider = cmp.Or(o.Decider, DecideNone)
}

// Validate returns an error that lists every invalid option.
func (o AdaptOptions) Validate() error {
	var faults validate.Faults
	use, n := o.kind().Actions, len(o.Actions)
	faults.When(use == OneAction && n != 1,
		"decider is %s, which requires exactly one action; got %d; change the actions or the decider", o.Decider, n)
	faults.When(use == ActionsInOrder && n == 0,
		"decider is %s, which requires at least one action; list actions, or change the decider", o.Decider)
	faults.When(use == NoActions && n > 0,
		"actions are used only by the deciders %s, but the decider is %s; remove the actions, or change the decider",
		decidersWith(OneAction, ActionsInOrder, ActionChoices), o.Decider)
	chooses := use == ActionChoices
	faults.When(o.TrialSteps < 0 || o.TrialSteps > mostTrialSteps,
		"trial_steps is %d; must be between 0 (default: 32) and %d", o.TrialSteps, mostTrialSteps)
	faults.When(o.TrialSteps > 0 && o.Decider != decideTrials,
		"trial_steps is used only by the decider \"trials\", but the decider is %s; remove it, or change the decider",
		o.Decider)
	faults.When(chooses && len(o.Actions) > 0 && len(o.Kinds) > 0,
		"kinds and actions are mutually exclusive; remove one of them")
	faults.When(!chooses && len(o.Kinds) > 0,
		"kinds is used only by the deciders %s, but the decider is %s; remove it, or change the decider",
		decidersWith(ActionChoices), o.Decider)
	faults.When(o.Vocab != "" && len(o.Actions)+len(o.Kinds) > 0,
		"actions and kinds are only for structural policies, but vocabulary selects a policy of the original "+
			"system, whose actions are fixed; remove actions and kinds")
	if o.Decider == decidePolicy && o.Policy == "" {
		faults = append(faults, errors.New("decider is \"policy\", but the key \"policy\" is missing; "+
			"set it to the path of a policy"))
	} else if o.Decider != decidePolicy && (o.Policy != "" || o.Vocab != "" || o.Sample) {
		faults = append(faults, fmt.Errorf("policy, vocabulary and sample are used only by the decider \"policy\", "+
			"but "+
			"the decider is %s; remove these keys, or change the decider", o.Decider))
	}
	faults.Unless(slices.Contains(fallbacks, o.Fallback), "fallback is %q; must be one of %s", o.Fallback,
		strings.Join(fallbacks[1:], ", "))
	faults.When(o.Decider != decidePolicy && o.Fallback != "",
		"fallback is used only by the decider \"policy\", but the decider is %s; remove it, or change the decider",
		o.Decider)
	faults = append(faults, o.validateGradient())
	faults.When(o.Surgery.Noise < 0, "noise is %v; must not be negative", o.Surgery.Noise)
	return errors.Join(faults...)
}
