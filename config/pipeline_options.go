package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"graft/internal/decode"
)

// PipelineOptions name the scenarios to simulate and the output.
type PipelineOptions struct {
	Scenarios []string `result:"contents"` // paths of scenario files; policies learn from their tables; required
	// path of the results: one folder per scenario and one for the policies; empty lets the command choose
	Folder string `result:"none"`
	// folder of outcomes; empty means each scenario's own setting, or the folder cache next to the scenarios' folders
	Cache string `result:"none"`
	// Set are assignments to keys of all scenarios, such as run.device="cuda:0". Empty changes none.
	Set []string `result:"contents"`
}

// Validate returns every invalid option.
func (o PipelineOptions) Validate() error {
	if len(o.Scenarios) == 0 {
		return errors.New("scenarios is empty; list the scenario files to learn from")
	}
	return nil
}

// Units of cross-validation: data held out at a time, to evaluate policies that did not learn from it.
const (
	LeaveNone     = "none"
	LeaveScenario = "scenario" // one scenario
	LeaveNetwork  = "network"  // all scenarios of a network
	LeaveDataset  = "dataset"  // all scenarios of a dataset
	LeaveBudget   = "budget"   // all scenarios of a budget
)

// PipelineEvaluate configures the evaluation of policies.
type PipelineEvaluate struct {
	// LeaveOut selects the cross-validation: scenario holds out one scenario at a time; network, dataset and budget
	// hold out all scenarios of one network, dataset or budget; none evaluates the policies only on their training
	// tables. Empty means none.
	LeaveOut string `config:",one=none|scenario|network|dataset|budget"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *PipelineEvaluate) EnsureDefaults() {
	o.LeaveOut = cmp.Or(o.LeaveOut, LeaveNone)
}

// Validate returns every invalid option.
func (o PipelineEvaluate) Validate() error {
	if all := []string{LeaveNone, LeaveScenario, LeaveNetwork, LeaveDataset, LeaveBudget}; !slices.Contains(all,
		o.LeaveOut) {
		return fmt.Errorf("leave_out is %q; must be one of %s", o.LeaveOut, decode.Choice(all))
	}
	return nil
}
