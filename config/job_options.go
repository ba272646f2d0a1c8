package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"graft/config/decode"
	"graft/net2net"
	"graft/trainer"
)

// RunOptions say where a job runs. Paths here and in the other sections are those
// of the operating system, from the folder that graft is called in.
type RunOptions struct {
	Seed    int64  // number that all that is drawn but the data follows from; 1 unless given, and zero is a seed as any
	Folder  string `result:"none"`     // path that results go to; empty leaves the choice to the command
	Device  string `result:"rounding"` // where tensors are: cpu or cuda:N; empty means cpu
	Threads int    `result:"rounding"` // how many LibTorch works with; zero means all processors
	// Listen is the address at which the job can be watched and steered while it runs,
	// such as 127.0.0.1:0, where port 0 takes a free one; empty means none.
	Listen string `result:"none"`
	// Tensorboard is whether event files for TensorBoard are written beside the tables;
	// false writes none.
	Tensorboard bool `result:"none"`
}

// EnsureDefaults fills in what zero stands for.
func (o *RunOptions) EnsureDefaults() {
	if o.Device == "" {
		o.Device = "cpu"
	}
}

// deviceName is how a device is written; whether it is there is seen when the job
// begins.
var deviceName = regexp.MustCompile(`^(cpu|cuda|cuda:[0-9]{1,3})$`)

// Validate lists all that is wrong.
func (o RunOptions) Validate() error {
	var faults []error
	if !deviceName.MatchString(o.Device) {
		faults = append(faults, fmt.Errorf("device is %q; write cpu or cuda:N", o.Device))
	}
	if o.Threads < 0 {
		faults = append(faults, fmt.Errorf("threads is %d; zero is all processors", o.Threads))
	}
	if _, port, err := net.SplitHostPort(o.Listen); o.Listen != "" && (err != nil || !isPort(port)) {
		faults = append(faults, fmt.Errorf("listen is %q; write an address and a port, such as 127.0.0.1:8080, where port 0 takes a free one", o.Listen))
	}
	return errors.Join(faults...)
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// NetworkOptions say which network is trained. Its input and classes are those of
// the data where it is one of the zoo.
type NetworkOptions struct {
	Name string // a network of the zoo, as graft model list has them; empty means ConvSmall where no file is given
	File string // path of a network file, in place of a name; empty means none
	// Weights is a file to begin with, .pth or .safetensors, or a results folder of the
	// original's, from which the job goes on. Empty draws fresh ones.
	Weights string
	// Runtimes is the original's file of the times of the epochs that the weights were
	// trained for: the job goes on with the epoch that comes next, with the learning
	// rate that is due then, and at the time of the budget at which the last one
	// ended, where time.start says no other. Empty means the one in the folder that
	// Weights names, or none.
	Runtimes string
	// Anew counts epochs from zero and begins with the first learning rate whatever
	// Runtimes says, as the original did. False goes on with both.
	Anew bool
}

// EnsureDefaults fills in what zero stands for.
func (o *NetworkOptions) EnsureDefaults() {
	if o.Name == "" && o.File == "" {
		o.Name = "ConvSmall"
	}
}

// Validate lists all that is wrong.
func (o NetworkOptions) Validate() error {
	var faults []error
	if o.Name != "" && o.File != "" {
		faults = append(faults, fmt.Errorf("file is given, and a name as well; leave one of them out"))
	}
	if o.Runtimes != "" && o.Weights == "" {
		faults = append(faults, errors.New("runtimes are those of weights; name the weights as well"))
	}
	return errors.Join(faults...)
}

// TimeOptions are a job's budget, and what happens in it.
type TimeOptions struct {
	trainer.Timeline        // budget, start and events; a budget that is not given is 60 s
	Clock            string `config:",one=virtual|wall"` // what time is: virtual is what a profile says that work takes, wall the machine's; empty means virtual
	Profile          string // what work takes on the virtual clock: the name of a profile, or the path of a file of one; empty means steady there
	// Cluster is a file of events, a table in CSV with the columns seconds, change
	// and devices, in place of a list. Empty means none.
	Cluster string `config:"timeline"`

	loaded []trainer.Event // of Cluster
}

// The clocks.
const (
	VirtualClock = "virtual" // work takes what a profile says
	WallClock    = "wall"    // the machine's
)

// EnsureDefaults fills in what zero stands for.
func (o *TimeOptions) EnsureDefaults() {
	if o.Clock == "" {
		o.Clock = VirtualClock
	}
	if o.Clock == VirtualClock && o.Profile == "" {
		o.Profile = "steady"
	}
}

// timeline is the trainer's, with the events of the file.
func (o TimeOptions) timeline() trainer.Timeline {
	t := o.Timeline
	if o.Cluster != "" {
		t.Events = o.loaded
	}
	return t
}

// Validate lists all that is wrong.
func (o TimeOptions) Validate() error {
	var faults []error
	if o.Clock == WallClock && o.Profile != "" {
		faults = append(faults, errors.New("profile is for a virtual clock; leave it out"))
	}
	if o.Cluster != "" && len(o.Events) > 0 {
		faults = append(faults, errors.New("timeline is a file of events, and there are events as well; leave one of them out"))
	}
	key := "events"
	if o.Cluster != "" {
		key = "timeline"
	}
	for _, err := range decode.Parts(o.timeline().Validate()) {
		if strings.HasPrefix(err.Error(), "event ") {
			err = fmt.Errorf("%s: %w", key, err)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// isPath says whether a text names a file and not something built in.
func isPath(text string) bool {
	return strings.ContainsAny(text, "/"+string(filepath.Separator)) || strings.EqualFold(filepath.Ext(text), ".toml")
}

// The deciders.
const (
	DecideNone   = "none"   // leaves the network alone
	DecideFixed  = "fixed"  // takes the one action each time
	DecideScript = "script" // takes the actions one after the other
	DecideRandom = "random" // draws among what fits
	DecidePolicy = "policy" // asks one that has learned, structural or the original's
)

// AdaptOptions say who decides how the network is adapted, when, and how it is
// done.
type AdaptOptions struct {
	// Decider is who decides: fixed takes its action each time, script its actions one
	// after the other, random any that fits, policy what it has learned, or none. Empty
	// means none, who never does.
	Decider string           `config:",one=none|fixed|script|random|policy"`
	Actions []net2net.Action // what fixed, which takes one, and script do, such as deepen:0, widen:conv2:48 or none; empty for the others
	Kinds   []net2net.Kind   // operations that random draws from; empty means deepen and widen
	// Policy is the path of a policy that has learned: a structural one, its file or a
	// folder with its policy.safetensors, or one of the original's, its weights or their
	// folder. Empty for the other deciders.
	Policy string
	// Vocab is the path of the vocabulary that a policy of the original's learned with, a
	// folder or a file. Empty for a structural policy and for the other deciders.
	Vocab         string
	Sample        bool                                         // let the policy draw its actions; false takes the likeliest
	trainer.Adapt `config:",inline=surgery,omit=surgery.seed"` // when it is asked, and how its actions are done
}

// EnsureDefaults fills in what zero stands for.
func (o *AdaptOptions) EnsureDefaults() {
	if o.Decider == "" {
		o.Decider = DecideNone
	}
}

// Validate lists all that is wrong.
func (o AdaptOptions) Validate() error {
	var faults []error
	if n := len(o.Actions); o.Decider == DecideFixed && n != 1 {
		faults = append(faults, fmt.Errorf("decider is fixed, which takes one action, and there are %d", n))
	} else if o.Decider == DecideScript && n == 0 {
		faults = append(faults, errors.New("decider is script, and there are no actions"))
	} else if o.Decider != DecideFixed && o.Decider != DecideScript && n > 0 {
		faults = append(faults, fmt.Errorf("actions are for the deciders fixed and script, and the decider is %s", o.Decider))
	}
	if o.Decider != DecideRandom && len(o.Kinds) > 0 {
		faults = append(faults, fmt.Errorf("kinds is for the decider random, and the decider is %s", o.Decider))
	}
	if o.Decider == DecidePolicy && o.Policy == "" {
		faults = append(faults, errors.New("decider is policy, which needs the key policy"))
	} else if o.Decider != DecidePolicy && (o.Policy != "" || o.Vocab != "" || o.Sample) {
		faults = append(faults, fmt.Errorf("policy, vocab and sample are for the decider policy, and the decider is %s", o.Decider))
	}
	if o.Surgery.Noise < 0 {
		faults = append(faults, fmt.Errorf("noise is %v; it is not negative", o.Surgery.Noise))
	}
	return errors.Join(faults...)
}
