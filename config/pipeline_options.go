package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"graft/internal/decode"
)

// PipelineOptions selects the scenarios to simulate or the trials to run, and the output.
type PipelineOptions struct {
	// Paths of the scenario files; policies learn from the tables of these scenarios. Required without
	// pipeline.trials.
	Scenarios []string `result:"contents"`
	// Path of the folder of results, with one subfolder per scenario and one for the policies, or one per entry of
	// pipeline.trials. Empty lets the command choose a path, such as runs/NAME for a file NAME.toml.
	Folder string `result:"none"`
	// Path of the folder that caches the outcomes of runs. If empty, each scenario uses its own key simulate.cache;
	// scenarios without this key use the folder "cache" next to the scenarios' folders.
	Cache string `result:"none"`
	// Assignments to keys of every scenario, or of every job in pipeline.trials, such as run.device="cuda:0". If the
	// list is empty, the scenarios and jobs stay as they are.
	Set []string `result:"contents"`
	// Trials of jobs to run, in order. Each entry has its own run folder. Cannot be combined with pipeline.scenarios.
	// Empty means none.
	Trials []TrialsOptions `result:"contents"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *PipelineOptions) EnsureDefaults() {
	for k := range o.Trials {
		o.Trials[k].ensureDefaults()
	}
}

// Validate returns an error that lists every invalid option.
func (o PipelineOptions) Validate() error {
	if len(o.Scenarios)+len(o.Trials) == 0 {
		return errors.New("scenarios is empty; list the scenario files to learn from, or add trials of jobs with " +
			"[[pipeline.trials]]")
	}
	return errors.Join(o.validateTrials()...)
}

// Groups of tables that are left out at a time, to evaluate policies that did not learn from them.
const (
	LeaveNone     = "none"
	LeaveScenario = "scenario" // one scenario
	LeaveNetwork  = "network"  // all scenarios with the same network
	LeaveDataset  = "dataset"  // all scenarios with the same dataset
	LeaveBudget   = "budget"   // all scenarios with the same budget
)

// PipelineEvaluate configures the evaluation of policies.
type PipelineEvaluate struct {
	// Cross-validation of the policies: "scenario" leaves out one scenario at a time; "network", "dataset" and "budget"
	// leave out all scenarios with the same network, dataset or budget; "none" evaluates the policies only on their
	// training tables. Empty means "none".
	LeaveOut string `config:",one=none|scenario|network|dataset|budget"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *PipelineEvaluate) EnsureDefaults() {
	o.LeaveOut = cmp.Or(o.LeaveOut, LeaveNone)
}

// Validate returns an error that lists every invalid option.
func (o PipelineEvaluate) Validate() error {
	if all := []string{LeaveNone, LeaveScenario, LeaveNetwork, LeaveDataset, LeaveBudget}; !slices.Contains(all,
		o.LeaveOut) {
		return fmt.Errorf("leave_out is %q; must be one of %s", o.LeaveOut, decode.Choice(all))
	}
	return nil
}
