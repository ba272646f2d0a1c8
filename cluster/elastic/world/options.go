package world

import (
	"cmp"
	"errors"
	"fmt"

	"graft/cluster/elastic"
	"graft/internal/validate"
)

// Options describes the jobs and the cluster. A zero field takes its value from the trace, if the trace sets the
// parameter. Paths use the operating system's syntax. Relative paths are looked up in the working directory first, then
// in the folder of the file.
type Options struct {
	// Source of the job speeds. A JSON file lists the steps per second for each combination of model, number of servers
	// and number of workers. A folder of applications, in the format of adaptive.data, replaces the job types; jobs
	// then have no parameter servers. With the value "analytic", graft computes speeds from the compute time, model
	// size and bandwidths of each job type. Required unless the trace file selects "analytic".
	Speeds string `config:",path=word" result:"contents"`
	// Path of a JSON file of job types, each with its resource demands, epoch size and communication. Empty means the
	// eight models of DL2.
	Types string `config:",path" result:"contents"`
	Nodes int    // Number of nodes. Zero means the trace's value, or 96 if the trace has none.
	// Number of CPU slots per node. Zero means the trace's value, or 8 if the trace has none.
	CPUs int `config:"cpus_per_node,was=cpu_slots"`
	// Number of GPU slots per node. Zero means the trace's value, or 8 if the trace has none.
	GPUs int `config:"gpus_per_node,was=gpu_slots"`
	// Maximum number of workers per job; also the maximum number of parameter servers per job. Zero means the trace's
	// value, or 16 if the trace has none.
	Most int `config:"max_workers,was=most"`
	// Length of a slot in seconds. Zero means the trace's value, or 1200 if the trace has none.
	Slot  float64 `config:"slot_seconds"`
	Limit int     `config:"max_slots"` // Maximum number of slots; a longer simulation fails. Zero means no limit.
	// Maximum relative error of job speeds, in [0, 1). The error of each job in each slot is drawn uniformly between
	// minus and plus this value. Zero means the trace's value, or no error if the trace has none.
	SpeedError float64
	// Cost of a change in a job's number of workers or servers: "checkpoint" stops and restarts the job, "hot" moves
	// parameters while the job runs, "none" makes changes free. Empty means "checkpoint", or "none" if compat = "dl2".
	Scaling string `config:",one=checkpoint|hot|none"`
	// Reference simulator: "dl2" reproduces DL2's simulator, including its bugs; "none" fixes the bugs. Default "none".
	Compat string `config:",one=none|dl2"`
}

// usualSlots is the number of CPU slots and of GPU slots of a node of DL2.
const usualSlots = 8

// speedsAnalytic computes speeds instead of reading them.
const speedsAnalytic = "analytic"

// CompatDL2 is the value of the key compat that reproduces the results of DL2's simulator.
const CompatDL2 = "dl2"

// EnsureDefaults replaces zero values with defaults, except values that the trace may set.
func (o *Options) EnsureDefaults() {
	o.Compat = cmp.Or(o.Compat, compatNone)
	otherwise := elastic.CheckpointRestart
	if o.Compat == CompatDL2 {
		otherwise = elastic.NoScaling
	}
	o.Scaling = cmp.Or(o.Scaling, otherwise)
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	for name, v := range map[string]int{"nodes": o.Nodes, "cpus_per_node": o.CPUs, "gpus_per_node": o.GPUs,
		"max_workers": o.Most,
		"max_slots":   o.Limit} {
		faults.When(v < 0, "%s is %d; must not be negative", name, v)
	}
	faults.When(!(o.Slot >= 0), "slot_seconds is %v; must not be negative", o.Slot)
	faults.When(!(o.SpeedError >= 0 && o.SpeedError < 1), "speed_error is %v; must be at least 0 and less than 1",
		o.SpeedError)
	if _, err := elastic.ScalingNamed(o.Scaling); err != nil {
		faults = append(faults, fmt.Errorf("scaling: %w", err))
	}
	faults.When(o.Compat != compatNone && o.Compat != CompatDL2, "compat is %q; must be \"none\" or \"dl2\"", o.Compat)
	faults.When(o.Compat == CompatDL2 && o.Scaling != elastic.NoScaling,
		"scaling is %q; must be \"none\" with compat dl2, because DL2's simulator scales jobs at no cost", o.Scaling)
	return errors.Join(faults...)
}

// compatNone corrects the faults of other simulators.
const compatNone = "none"
