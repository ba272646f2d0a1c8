package config

import (
	"errors"
	"fmt"

	"graft/net2net"
	"graft/simulation/grid"
)

// SimulateOptions say which sequences of actions are run, and how.
type SimulateOptions struct {
	Name string // what the scenario is called, in tables and reports; empty means as the file
	// Actions are what every decision chooses from, in order, such as deepen:0,
	// widen:conv2:48 and none; one that does not fit a network is left out there. Empty
	// takes Kinds.
	Actions []net2net.Action
	// Kinds are operations: every decision tries all that they could do to the network
	// there, and none at last. Empty, where there are no actions, means deepen and widen.
	Kinds     []net2net.Kind
	Decisions int // how many decisions a sequence has, after which the network is left alone; zero means as many as the timeline leads to
	Seeds     int // how often each sequence is run: with run.seed, the seed after it and so on; zero means 1
	// Design says which sequences are run: sample spreads so many as most says evenly
	// over all choices, halve drops at each decision the branches that are less accurate
	// so far, likely takes those that the policy finds likeliest, all is every one. Empty
	// means all.
	Design grid.DesignKind `config:",one=all|sample|halve|likely"`
	Most   int             // how many sequences there may be; of more, sample and likely take so many, and for all it is an error; zero means 10000
	Keep   float64         // share of the branches that halve keeps at each decision; zero means 0.5
	Policy string          // path of the structural policy of the design likely; empty for the others
	Tries  int             // how often what fails is tried, before it is left out; zero means 2
	// Cache is the folder that keeps what was run, for this scenario and all others; empty
	// means the folder cache beside the run folder.
	Cache string
}

// simulateOptionsThatChangeNothing are keys that no outcome depends on.
var simulateOptionsThatChangeNothing = map[string]bool{"cache": true, "tries": true}

// EnsureDefaults fills in what zero stands for.
func (o *SimulateOptions) EnsureDefaults() {
	if o.Seeds == 0 {
		o.Seeds = 1
	}
	if o.Tries == 0 {
		o.Tries = 2
	}
	d := o.design()
	o.Design, o.Most, o.Keep = d.Which, d.Most, d.Keep
}

// design is the simulation's.
func (o SimulateOptions) design() grid.Design {
	d := grid.Design{Which: o.Design, Most: o.Most, Keep: o.Keep}
	d.EnsureDefaults()
	return d
}

// Validate lists all that is wrong.
func (o SimulateOptions) Validate() error {
	faults := []error{o.design().Validate()}
	for name, n := range map[string]int{"decisions": o.Decisions, "seeds": o.Seeds, "tries": o.Tries} {
		if n < 0 {
			faults = append(faults, fmt.Errorf("%s is %d; it is not negative", name, n))
		}
	}
	if len(o.Actions) == 1 {
		faults = append(faults, errors.New("actions are one, which leaves nothing to choose"))
	}
	if len(o.Actions) > 0 && len(o.Kinds) > 0 {
		faults = append(faults, errors.New("kinds are given, and actions as well; leave one of them out"))
	}
	if (o.Design == grid.Likely) != (o.Policy != "") {
		faults = append(faults, errors.New("policy is for the design likely, which needs one"))
	}
	return errors.Join(faults...)
}
