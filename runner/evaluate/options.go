package evaluate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/original/bilstm"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
)

// Options configures an evaluation.
type Options struct {
	// paths of policy files or of their run folders; at least one, or none for leave-one-out
	Policies []string
	Tables   []string           // paths of table folders; at least one, unless Leave.File names them
	Trees    []*simulation.Tree // tables that are already read; if nil, the folders in Tables are read
	// path of the vocabulary for policies in the original system's format, which require it
	Vocab string
	// whether policies in the original system's format read token 0 before the tokens of the network's layers: "always"
	// or "never"; empty means as in the policy's training
	Prefix string
	Out    string   // path of the run folder; empty means that no run folder is written
	Force  bool     // moves an existing run folder aside; if false, an existing run folder is an error
	Leave  LeaveOut // leave-one-out evaluation; if zero, the given policies are evaluated
}

// LeaveOut configures an evaluation that trains policies on some tables and evaluates them on the others.
type LeaveOut struct {
	// kind of group that each evaluation leaves out: "scenario", "network", "dataset", "budget", or "held-out" for the
	// tables that the configuration file holds out; empty means no leave-one-out evaluation
	By string
	// path of a configuration file of graft learn with tables, options and seeds; if empty, the fields For, Seeds and
	// Steps replace it
	File     string
	Learning *config.TreeLearning // content of File if it is already read; if nil, the file is read
	// candidate assignments to configuration keys of File; cross-validation on the training tables selects one of them,
	// or none
	Try []string
	// kind of scenarios that the policies are for, "new" or "known", which sets the defaults of the learning options;
	// empty means "new"
	For   string
	Seeds int // number of policies per group; zero means the number in the file, or 10
	Steps int // maximum number of learning steps; zero means the default of For
	// baselines that policies are compared with, of evaluation.BaselineNames; differences in the table of policies are
	// relative to the first; empty means the best fixed sequence
	Against []string
}

// defaultSeeds is the default number of policies per group.
const defaultSeeds = 10

// heldOut is the value of LeaveOut.By that uses the tables that a file holds out.
const heldOut = "held-out"

// groupings map the other values of LeaveOut.By to the unit of holding out.
var groupings = map[string]func(trees []*simulation.Tree) evaluation.By{"scenario": evaluation.ByScenario,
	"network": always(evaluation.ByNetwork), "dataset": always(evaluation.ByDataset),
	"budget": always(evaluation.ByBudget)}

// always returns a grouping that does not depend on the other trees.
func always(by evaluation.By) func([]*simulation.Tree) evaluation.By {
	return func([]*simulation.Tree) evaluation.By { return by }
}

// defaults are the options of learning, by LeaveOut.For.
var defaults = map[string]func() learning.Options{"": learning.NewTransferOptions, "new": learning.NewTransferOptions,
	"known": learning.NewOptions}

// Validate returns an error that lists every invalid option. Its errors have the code failure.Usage.
func (o Options) Validate(fsys files.FS) error {
	switch {
	case o.Leave.By == heldOut && o.Leave.File == "":
		return failure.Usagef("option \"leave-out\" is held-out, but option \"learn\" is missing; " +
			"name a file with tables.held_out")
	case o.Leave.By == "" && (len(o.Policies) == 0 || slices.Contains(o.Policies, "")):
		return failure.Usagef("option \"policy\" is missing; expected a policy file or a run folder")
	case o.Leave.File == "" && len(o.Tables) == 0 || slices.Contains(o.Tables, ""):
		return failure.Usagef("option \"table\" is missing; expected a table folder")
	}
	if twice := repeated(fsys, o.Policies); twice != "" {
		return failure.Usagef("option \"policy\": %s is given twice; name each policy once", twice)
	}
	if twice := repeated(fsys, o.Tables); twice != "" {
		return failure.Usagef("option \"table\": %s is given twice; name each table once", twice)
	}
	return failure.With(failure.Usage, errors.Join(o.reading().Validate(), o.Leave.validate()))
}

func (o LeaveOut) validate() error {
	if o.By == "" {
		return nil
	}
	var faults validate.Faults
	faults.When(groupings[o.By] == nil && o.By != heldOut,
		"option \"leave-out\" is %q; expected scenario, network, dataset, budget or held-out", o.By)
	faults = append(faults, evaluation.CheckAgainst(o.Against))
	faults.When(len(o.Try) > 0 && o.File == "",
		"option \"try\" changes keys of a learning file; set option \"learn\" to the file")
	for _, try := range o.Try {
		faults.When(!strings.HasPrefix(try, "learn.") && !strings.HasPrefix(try, "policy."),
			"option \"try\" is %q; must be an assignment to a key of learn or policy, such as learn.leaf=5", try)
	}
	faults.When(defaults[o.For] == nil, "option \"for\" is %q; expected new or known", o.For)
	faults.When(o.Seeds < 0, "option \"seeds\" is %d; must be at least 1", o.Seeds)
	faults.When(o.Steps < 0, "option \"steps\" is %d; must not be negative", o.Steps)
	return errors.Join(faults...)
}

// reading returns the options for reading and deciding of the original's policies.
func (o Options) reading() bilstm.Options {
	return bilstm.Options{Prefix: bilstm.Prefix(o.Prefix)}
}

// repeated returns the first path that occurs twice, or empty.
func repeated(fsys files.FS, paths []string) string {
	for k, p := range paths {
		if slices.ContainsFunc(paths[:k], func(other string) bool { return samePath(fsys, other, p) }) {
			return p
		}
	}
	return ""
}

// samePath reports whether two paths refer to the same file.
func samePath(fsys files.FS, a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err1 := fsys.Stat(a)
	two, err2 := fsys.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}
