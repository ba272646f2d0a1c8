package config

import (
	"cmp"
	"errors"

	"graft/internal/validate"
	"graft/net2net"
	"graft/simulation/grid"
)

// SimulateOptions selects the sequences of actions to run.
type SimulateOptions struct {
	Name string // Name of the scenario in tables and reports. Empty means the file name.
	// Actions to try at every decision, in order, such as "deepen:0", "widen:conv2:48" and "none". An action that does
	// not fit the current network is skipped. Empty means every action that the operations in simulate.kinds can apply
	// to the network.
	Actions []net2net.Action
	// Operations to try at every decision. graft tries every action of these operations that fits the current network,
	// and then "none". Empty means deepen and widen if simulate.actions is empty too.
	Kinds []net2net.Kind
	// Number of decisions per sequence; after the last decision, the network stays unchanged. Zero means all decisions
	// in the timeline.
	Decisions int
	// Number of runs of each action sequence, with run.seed and the following seeds. Zero means 1.
	Seeds int
	// Design of the experiment, which selects the sequences: "all" runs every sequence; "sample" takes max_sequences
	// sequences, divided evenly among the choices at each decision; "halve" drops the partial sequences with the lowest
	// accuracy at each decision; "likely" runs the most probable sequences under a policy. Empty means "all".
	Design grid.DesignKind `config:",one=all|sample|halve|likely"`
	// Maximum number of sequences. The designs "sample" and "likely" select this many sequences; the designs "all" and
	// "halve" fail if there are more. Zero means 10,000.
	MaxSequences int `config:",was=most"`
	// Fraction of the partial sequences that design = "halve" keeps at each decision, from 0 to 1. Zero means 0.5.
	Keep float64
	// Path of the structural policy for design = "likely". Must be empty for other designs.
	Policy string
	// Records the gain of each action, for policies that read gains (adapt.decider = "gradient" defines the gain). At
	// each decision, a job then computes the gains of all its choices, which takes time from the budget, as in a job
	// with such a policy. False records no gains.
	Gains bool
	Tries int `result:"none"` // Number of attempts per sequence before it is skipped. Zero means 2.
	// Path of the folder that caches the outcomes of runs; several scenarios can share the folder. Empty means the
	// folder "cache" next to the run folder.
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

// Validate returns an error that lists every invalid option.
func (o SimulateOptions) Validate() error {
	faults := validate.Faults{o.design().Validate()}
	for name, n := range map[string]int{"decisions": o.Decisions, "seeds": o.Seeds, "tries": o.Tries} {
		faults.When(n < 0, "%s is %d; must not be negative", name, n)
	}
	faults.When(len(o.Actions) == 1, "actions: a single action leaves no choice; add another, such as \"none\"")
	faults.When(len(o.Actions) > 0 && len(o.Kinds) > 0, "kinds and actions are mutually exclusive; remove one of them")
	faults.When((o.Design == grid.Likely) != (o.Policy != ""),
		"policy is required by the design \"likely\", and must be empty for other designs; the design is %s", o.Design)
	return errors.Join(faults...)
}
