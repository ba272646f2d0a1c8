package config

import (
	"errors"
	"fmt"
	"slices"

	"graft/config/decode"
)

// PipelineOptions say which scenarios are simulated, and where results go.
type PipelineOptions struct {
	Scenarios []string `result:"contents"` // paths of the files of scenarios, which policies learn from; must be given, empty is none
	Folder    string   `result:"none"`     // where results go, a folder for each scenario and one for the policies; empty leaves the choice to the command
	Cache     string   `result:"none"`     // the folder that keeps what was run; empty means what each scenario says, or the folder cache beside the others
	// Set are assignments to keys of all scenarios, such as run.device="cuda:0"; empty
	// leaves them as they are.
	Set []string `result:"contents"`
}

// Validate lists all that is wrong.
func (o PipelineOptions) Validate() error {
	if len(o.Scenarios) == 0 {
		return errors.New("scenarios are not given; name the files of scenarios to learn from")
	}
	return nil
}

// What is left out together, to judge policies by what they did not learn from.
const (
	LeaveNone     = "none"
	LeaveScenario = "scenario" // one at a time
	LeaveNetwork  = "network"  // all scenarios of a network
)

// PipelineEvaluate says how policies are judged.
type PipelineEvaluate struct {
	// LeaveOut is what is left out in turn, to judge by it policies that learn from all
	// else: scenario is one at a time, network all of a network, none judges the
	// policies by what they learned from, and no more. Empty means none.
	LeaveOut string `config:",one=none|scenario|network"`
}

// EnsureDefaults fills in what zero stands for.
func (o *PipelineEvaluate) EnsureDefaults() {
	if o.LeaveOut == "" {
		o.LeaveOut = LeaveNone
	}
}

// Validate lists all that is wrong.
func (o PipelineEvaluate) Validate() error {
	if all := []string{LeaveNone, LeaveScenario, LeaveNetwork}; !slices.Contains(all, o.LeaveOut) {
		return fmt.Errorf("leave_out is %q; must be one of %s", o.LeaveOut, decode.Choice(all))
	}
	return nil
}
