package config

import (
	"cmp"
	"errors"

	"graft/internal/validate"
	"graft/net2net"
	"graft/simulation/grid"
)

// SimulateOptions define the sequences of actions to run.
type SimulateOptions struct {
	Name string // name of the scenario in tables and reports; empty means the file name
	// Actions are the choices at every decision, in order, such as deepen:0, widen:conv2:48 and none. An action that
	// does not fit the current network is skipped. Empty uses Kinds.
	Actions []net2net.Action
	// Kinds are operations: every decision tries all their actions that fit the current network, then none. Empty,
	// without actions, means deepen and widen.
	Kinds []net2net.Kind
	// decisions per sequence, after which the network stays unchanged; zero means every decision of the timeline
	Decisions int
	Seeds     int // runs of each sequence, with run.seed and the following seeds; zero means 1
	// Design selects the sequences: all runs every sequence; sample spreads MaxSequences evenly over all choices; halve
	// drops the branches with the lowest accuracy at each decision; likely runs the sequences that a policy finds most
	// likely. Empty means all.
	Design grid.DesignKind `config:",one=all|sample|halve|likely"`
	// upper bound on sequences; sample and likely select this number, all fails if there are more; default 10000
	MaxSequences int     `config:",was=most"`
	Keep         float64 // fraction of the branches that halve keeps at each decision; zero means 0.5
	Policy       string  // path of the structural policy for the design likely; empty for other designs
	Tries        int     `result:"none"` // attempts per sequence before it is skipped; zero means 2
	// Cache is the folder of outcomes, shared by all scenarios. Empty means the folder cache next to the run folder.
	Cache string `result:"none"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *SimulateOptions) EnsureDefaults() {
	o.Seeds = cmp.Or(o.Seeds, 1)
	o.Tries = cmp.Or(o.Tries, 2)
	d := o.design()
	o.Design, o.MaxSequences, o.Keep = d.Which, d.Most, d.Keep
}

func (o SimulateOptions) design() grid.Design {
	d := grid.Design{Which: o.Design, Most: o.MaxSequences, Keep: o.Keep}
	d.EnsureDefaults()
	return d
}

// Validate returns every invalid option.
func (o SimulateOptions) Validate() error {
	faults := validate.Faults{o.design().Validate()}
	for name, n := range map[string]int{"decisions": o.Decisions, "seeds": o.Seeds, "tries": o.Tries} {
		faults.When(n < 0, "%s is %d; must not be negative", name, n)
	}
	faults.When(len(o.Actions) == 1, "actions: a single action leaves no choice; add another, such as none")
	faults.When(len(o.Actions) > 0 && len(o.Kinds) > 0, "kinds and actions are mutually exclusive; remove one of them")
	faults.When((o.Design == grid.Likely) != (o.Policy != ""),
		"policy is required by the design likely and unused by other designs; the design is %s", o.Design)
	return errors.Join(faults...)
}
