package world

import (
	"cmp"
	"errors"
	"fmt"

	"graft/cluster/elastic"
	"graft/internal/validate"
)

// Options describe the jobs and the cluster. Values that are zero are those of the trace's
// parameters, where it has some. Paths are those of the operating system, from the working folder or,
// where nothing is there, from that of the file.
type Options struct {
	// Speeds is a JSON file of steps a second by model, servers and workers, each from 1 on; a folder of
	// applications as in adaptive.data, which are then the types of jobs, without parameter servers; or analytic,
	// which computes speeds from what the types say of computation and communication. Required unless the
	// trace says that speeds are analytic.
	Speeds string `config:",path=word" result:"contents"`
	// JSON file of job types: demands, size of an epoch, communication; empty means the eight models of DL2
	Types string  `config:",path" result:"contents"`
	Nodes int     // of the cluster; zero is the trace's, or 96
	CPUs  int     `config:"cpu_slots"` // CPU slots of a node; zero is the trace's, or 8
	GPUs  int     `config:"gpu_slots"` // GPU slots of a node; zero is the trace's, or 8
	Most  int     // maximum number of workers of a job, and of servers; zero is the trace's, or 16
	Slot  float64 `config:"slot_seconds"` // length of a slot in seconds; zero is the trace's, or 1200
	Limit int     `config:"max_slots"`    // slots after which a simulation fails; zero is no limit
	// SpeedError is the relative error of speeds, drawn evenly in ± of it for each job and slot, from 0 to
	// below 1. Zero is the trace's, or none.
	SpeedError float64
	// Scaling is the time that a job loses in a slot when its counts have changed: checkpoint stops and
	// restarts it, hot moves parameters while it runs, none is free. Empty means checkpoint, or none with
	// compat dl2.
	Scaling string `config:",one=checkpoint|hot|none"`
	// Compat reproduces the faults of another simulator: dl2 has the results of DL2's, none corrects its
	// errors. Empty means none.
	Compat string `config:",one=none|dl2"`
}

// usualSlots are the slots of either kind of a node of DL2.
const usualSlots = 8

// speedsAnalytic computes speeds in place of reading them.
const speedsAnalytic = "analytic"

// CompatDL2 has the results of DL2's simulator.
const CompatDL2 = "dl2"

// EnsureDefaults fills in what zero stands for, but for what the trace says.
func (o *Options) EnsureDefaults() {
	o.Compat = cmp.Or(o.Compat, compatNone)
	otherwise := elastic.CheckpointRestart
	if o.Compat == CompatDL2 {
		otherwise = elastic.NoScaling
	}
	o.Scaling = cmp.Or(o.Scaling, otherwise)
}

// Validate joins all that is wrong.
func (o Options) Validate() error {
	var faults validate.Faults
	for name, v := range map[string]int{"nodes": o.Nodes, "cpu_slots": o.CPUs, "gpu_slots": o.GPUs, "most": o.Most,
		"max_slots": o.Limit} {
		faults.When(v < 0, "%s is %d; must not be negative", name, v)
	}
	faults.When(!(o.Slot >= 0), "slot_seconds is %v; must not be negative", o.Slot)
	faults.When(!(o.SpeedError >= 0 && o.SpeedError < 1), "speed_error is %v; must be from 0 to below 1", o.SpeedError)
	if _, err := elastic.ScalingNamed(o.Scaling); err != nil {
		faults = append(faults, fmt.Errorf("scaling: %w", err))
	}
	faults.When(o.Compat != compatNone && o.Compat != CompatDL2, "compat is %q; must be none or dl2", o.Compat)
	faults.When(o.Compat == CompatDL2 && o.Scaling != elastic.NoScaling,
		"scaling is %q; the original moves jobs at no cost: with compat dl2 it is none", o.Scaling)
	return errors.Join(faults...)
}

// compatNone corrects the faults of other simulators.
const compatNone = "none"
