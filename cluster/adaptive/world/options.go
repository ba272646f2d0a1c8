package world

import (
	"cmp"
	"errors"
	"fmt"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/internal/validate"
)

// Options describes the applications and the cluster. Paths use the operating system's syntax. Relative paths are
// looked up in the working directory first, then in the folder of the file.
type Options struct {
	// Folder of applications. Each application has a subfolder in this folder or in its subfolder "traces". The
	// application's subfolder holds placements.csv and validation-BATCH.csv. The folder itself holds applications.csv,
	// which lists the number of epochs of each application. Required.
	Data    string `config:",path" result:"contents"`
	Nodes   int    // Number of nodes; all nodes have the same number of GPUs. Default 16.
	Devices int    `config:"gpus_per_node,was=devices"` // GPUs per node. Default 8, or 4 if compat = "pollux".
	// Time between two scheduling decisions, in seconds. Default 60.
	Interval float64 `config:"interval_seconds"`
	// Restart time of a job after a change of its devices, in seconds. Default 30.
	Delay float64 `config:"delay_seconds"`
	// Fraction of speed that a multi-node job loses while it shares a node with another multi-node job, from 0 to below
	// 1. It does not apply under rigid schedulers. Default 0.
	Interference float64
	// Maximum simulated time in seconds; a longer simulation fails. Zero means no limit.
	Limit float64 `config:"max_seconds,was=limit_seconds"`
	// Reference simulator: "pollux" reproduces Pollux's simulator, including its bugs; "none" fixes the bugs. Default
	// "none".
	Compat string `config:",one=none|pollux"`
	// Names of the bugs of Pollux's simulator that graft reproduces; requires compat = "none". Empty reproduces no
	// bugs.
	Quirks []string
}

// CompatPollux is the value of the key compat that reproduces the results of Pollux's simulator.
const CompatPollux = "pollux"

// compatNone corrects the faults of other simulators.
const compatNone = "none"

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	o.Compat = cmp.Or(o.Compat, compatNone)
	if o.Compat == compatNone {
		o.Devices = cmp.Or(o.Devices, 8) // as in the other worlds
	}
	c := o.cluster()
	c.EnsureDefaults()
	o.Nodes, o.Devices, o.Interval, o.Delay = c.Nodes, c.Devices, c.Interval, c.Delay
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Data == "", "data is missing; name a folder of applications")
	faults.When(o.Compat != compatNone && o.Compat != CompatPollux, "compat is %q; must be \"none\" or \"pollux\"",
		o.Compat)
	faults.When(o.Compat == CompatPollux && len(o.Quirks) > 0,
		"quirks is set, but compat = \"pollux\" enables all quirks anyway; remove one of the two keys")
	if _, err := cluster.NamedQuirks(o.Quirks, adaptive.Quirks()); err != nil {
		faults = append(faults, fmt.Errorf("quirks: %w", err))
	}
	return errors.Join(append(faults, o.cluster().Validate())...)
}

// cluster returns the cluster options with the quirks to keep.
func (o *Options) cluster() *adaptive.Options {
	return &adaptive.Options{Nodes: o.Nodes, Devices: o.Devices, Interval: o.Interval, Interference: o.Interference,
		Delay: o.Delay, Limit: o.Limit, Quirks: o.quirks()}
}

// quirks returns the faults to keep.
func (o *Options) quirks() cluster.Quirks {
	if o.Compat == CompatPollux {
		return cluster.QuirksOf(adaptive.Quirks())
	}
	return o.Quirks
}
