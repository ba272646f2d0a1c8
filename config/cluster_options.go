package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// ClusterOptions say what is simulated: jobs of a trace on a cluster. Paths are those of
// the operating system, from the folder that graft is called in.
type ClusterOptions struct {
	// Data is a folder with what is known of a cluster: vc_config.csv, the virtual
	// clusters and their nodes; *_lgb.csv and *_ebm*.csv, estimates of how long jobs take;
	// single_data.csv and colocate_info.csv, the models' profiles; *throughput_pred.csv,
	// what is expected to be submitted. Empty where nodes names the first and no other is
	// needed.
	Data  string
	Trace string // the jobs, a file of which 'graft trace info' tells more; must be given, empty is none
	// Format is the trace's, one of those that 'graft trace convert --help' lists. Empty
	// means what its first lines look like.
	Format string
	// Nodes is a file of the virtual clusters and their nodes, or how many nodes there are
	// in one for all jobs. Empty means vc_config.csv in data.
	Nodes string
	// PerNode is how many GPUs a node has, up to 64. Zero means 8.
	PerNode int `config:"gpus_per_node"`
	// CPUs is how many processors a node has, of which jobs get as many as they ask for,
	// divided among their GPUs. Zero does not count them.
	CPUs int   `config:"cpus_per_node"`
	From int64 // second of the trace from which on jobs count; zero means its beginning, with compat that of the first simulator's month
	To   int64 // second of the trace up to which jobs count; zero means its end, with compat that of the first simulator's month
	// Placement is how nodes are chosen: consolidate takes as few as can be,
	// consolidate-first too and spreads jobs where that cannot be, random takes free GPUs
	// as they come. Empty means consolidate.
	Placement string `config:",one=consolidate|consolidate-first|random"`
	// Compat is whose faults are kept: lucid has the results of Lucid's simulator, none
	// corrects what is plainly wrong in it. Empty means none.
	Compat string `config:",one=none|lucid"`
}

// Whose faults a simulation keeps.
const (
	CompatNone  = "none"
	CompatLucid = "lucid"
)

// EnsureDefaults fills in what zero stands for.
func (o *ClusterOptions) EnsureDefaults() {
	o.PerNode = cmp.Or(o.PerNode, 8)
	o.Placement = cmp.Or(o.Placement, "consolidate")
	o.Compat = cmp.Or(o.Compat, CompatNone)
	if o.Compat == CompatLucid && o.From == 0 && o.To == 0 {
		o.From, o.To = lucidFrom, lucidTo
	}
}

// The month of the experiment that Lucid's simulator runs unless told otherwise, in seconds
// since its trace began.
const (
	lucidFrom = 13_219_200
	lucidTo   = 15_465_540
)

// Validate lists all that is wrong.
func (o ClusterOptions) Validate() error {
	var faults []error
	if o.Trace == "" {
		faults = append(faults, errors.New("trace is not given; name the file of a trace, or make one with 'graft trace generate'"))
	}
	if o.Data == "" && o.Nodes == "" {
		faults = append(faults, errors.New("data and nodes are not given; name a folder with vc_config.csv, or a file like it"))
	}
	if o.PerNode < 1 || o.PerNode > 64 {
		faults = append(faults, fmt.Errorf("gpus_per_node is %d; it lies between 1 and 64", o.PerNode))
	}
	if o.CPUs < 0 {
		faults = append(faults, fmt.Errorf("cpus_per_node is %d; it is not negative", o.CPUs))
	}
	if o.From < 0 || o.To < 0 || o.To > 0 && o.To < o.From {
		faults = append(faults, fmt.Errorf("from is %d and to is %d; they are not negative, and in order", o.From, o.To))
	}
	if _, err := cluster.PlacerNamed(o.Placement); err != nil {
		faults = append(faults, fmt.Errorf("placement: %w", err))
	}
	if o.Compat != CompatNone && o.Compat != CompatLucid {
		faults = append(faults, fmt.Errorf("compat is %q; it is none or lucid", o.Compat))
	}
	return errors.Join(faults...)
}

// TraceOptions are how the trace is read.
func (o ClusterOptions) TraceOptions(vcs []trace.VC) trace.Options {
	t := trace.Options{Format: o.Format}
	if o.From > 0 || o.To > 0 {
		t.Window = &trace.Window{From: o.From, To: cmp.Or(o.To, math.MaxInt64)}
	}
	if o.Compat == CompatLucid {
		t.Origin, t.OnlyGPU = trace.FirstJob, true
		for _, vc := range vcs {
			t.VCs = append(t.VCs, vc.Name)
		}
	}
	return t
}

// ClusterSchedule says who schedules, and what it knows.
type ClusterSchedule struct {
	Schedulers []string // who schedules, one after the other: see 'graft cluster run --help'; empty means fifo
	// Estimates are how long jobs are expected to take: lgb or ebm are files in data,
	// exact is what they do take, else the path of a file. Empty means ebm for Lucid and
	// lgb for others that need them.
	Estimates string
	Loads     []float64 // how much faster than in the trace jobs are submitted, a simulation of each; empty means 1
	Workers   int       `result:"none"` // how many are simulated side by side; zero means as many as processors
}

// EnsureDefaults fills in what zero stands for.
func (o *ClusterSchedule) EnsureDefaults() {
	if len(o.Schedulers) == 0 {
		o.Schedulers = []string{"fifo"}
	}
	if len(o.Loads) == 0 {
		o.Loads = []float64{1}
	}
}

// Validate lists all that is wrong.
func (o ClusterSchedule) Validate() error {
	var faults []error
	for k, name := range o.Schedulers {
		if _, err := schedulers.Named(name); err != nil {
			faults = append(faults, fmt.Errorf("schedulers[%d]: %w", k, err))
		}
		if slices.Contains(o.Schedulers[:k], name) {
			faults = append(faults, fmt.Errorf("schedulers[%d]: %s is named twice", k, name))
		}
	}
	for k, load := range o.Loads {
		if !(load > 0) || math.IsInf(load, 0) || slices.Contains(o.Loads[:k], load) {
			faults = append(faults, fmt.Errorf("loads[%d] is %v; each is more than nothing, and another", k, load))
		}
	}
	if o.Workers < 0 {
		faults = append(faults, fmt.Errorf("workers is %d; it is not negative", o.Workers))
	}
	return errors.Join(faults...)
}

// ClusterOutput says what is written.
type ClusterOutput struct {
	Folder string `result:"none"` // where results go; empty leaves the choice to the command
	Every  int64  // seconds between two rows of how GPUs were used over time; zero writes none
}

// Validate lists all that is wrong.
func (o ClusterOutput) Validate() error {
	if o.Every < 0 {
		return fmt.Errorf("every is %d; it is not negative", o.Every)
	}
	return nil
}
