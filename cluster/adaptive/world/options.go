package world

import (
	"cmp"
	"errors"
	"fmt"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/internal/validate"
)

// Options describe the applications and the cluster. Paths are those of the operating system, from the working
// folder or, where nothing is there, from that of the file.
type Options struct {
	// Data is a folder of applications, each a folder with placements.csv and validation-BATCH.csv, beneath it or
	// beneath traces; applications.csv has their epochs. Required.
	Data     string  `config:",path" result:"contents"`
	Nodes    int     // nodes of the cluster, all alike. Default 16.
	Devices  int     // devices of a node. Default 4.
	Interval float64 `config:"interval_seconds"` // time between two decisions. Default 60.
	// time for which a job stands still when its devices change. Default 30.
	Delay float64 `config:"delay_seconds"`
	// share of its speed that a job on several nodes loses next to another such job, from 0 to below 1. Default 0.
	Interference float64
	Limit        float64 `config:"limit_seconds"` // time after which a simulation fails. Zero means no limit.
	// Compat reproduces the faults of another simulator: pollux has the results of Pollux's, none corrects its
	// errors. Empty means none.
	Compat string   `config:",one=none|pollux"`
	Quirks []string // faults that are kept, by name, where compat is none. Empty keeps none.
}

// CompatPollux has the results of Pollux's simulator.
const CompatPollux = "pollux"

// compatNone corrects the faults of other simulators.
const compatNone = "none"

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	o.Compat = cmp.Or(o.Compat, compatNone)
	c := o.cluster()
	c.EnsureDefaults()
	o.Nodes, o.Devices, o.Interval, o.Delay = c.Nodes, c.Devices, c.Interval, c.Delay
}

// Validate returns every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Data == "", "data is missing; name a folder of applications")
	faults.When(o.Compat != compatNone && o.Compat != CompatPollux, "compat is %q; must be none or pollux", o.Compat)
	faults.When(o.Compat == CompatPollux && len(o.Quirks) > 0,
		"quirks is set beside compat pollux, which keeps all; leave out one of them")
	if _, err := cluster.NamedQuirks(o.Quirks, adaptive.Quirks()); err != nil {
		faults = append(faults, fmt.Errorf("quirks: %w", err))
	}
	return errors.Join(append(faults, o.cluster().Validate())...)
}

// cluster returns the cluster, with the quirks that are kept.
func (o *Options) cluster() *adaptive.Options {
	return &adaptive.Options{Nodes: o.Nodes, Devices: o.Devices, Interval: o.Interval, Interference: o.Interference,
		Delay: o.Delay, Limit: o.Limit, Quirks: o.quirks()}
}

// quirks are the faults that are kept.
func (o *Options) quirks() cluster.Quirks {
	if o.Compat == CompatPollux {
		return cluster.QuirksOf(adaptive.Quirks())
	}
	return o.Quirks
}
