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

// ClusterOptions describe the simulated cluster and its jobs. Paths are those of the
// operating system, from the working folder or, where nothing is there, from that of the file.
type ClusterOptions struct {
	// Data is a folder with files about a cluster: vc_config.csv, the virtual clusters and
	// their nodes; *_lgb.csv and *_ebm*.csv, estimated durations of jobs; single_data.csv and
	// colocate_info.csv, profiles of models; *throughput_pred.csv, forecast submissions.
	// Empty where Nodes names the first and no other is needed.
	Data  string
	Trace string // file of the jobs, as 'graft trace info' reads it; required
	// Format is the trace's, one of those that 'graft trace convert --help' lists. Empty
	// recognises it by its first lines.
	Format string
	// Nodes is a file of the virtual clusters and their nodes, or the number of nodes of a
	// single one for all jobs. Empty means vc_config.csv in Data.
	Nodes string
	// PerNode is the number of GPUs of a node, at most 64. Zero means 8.
	PerNode int `config:"gpus_per_node"`
	// CPUs is the number of processors of a node, of which jobs get as many as they ask for,
	// divided among their GPUs. Zero does not count processors.
	CPUs int `config:"cpus_per_node"`
	// Memory is the MiB of a node's memory, of which jobs get as much as they ask for, divided
	// among their GPUs. Zero does not count memory.
	Memory int64 `config:"memory_per_node"`
	// WholeGPUs gives a job that asks for a part of one GPU all of it. False gives it the part,
	// so that other jobs can have the rest.
	WholeGPUs bool `config:"whole_gpus"`
	// first second of the trace; zero means its start, or with compat lucid that of the month in Lucid's experiment
	From int64
	// last second of the trace; zero means its end, or with compat lucid that of the month in Lucid's experiment
	To int64
	// Placement selects nodes: consolidate takes as few as possible, consolidate-first does
	// so too and spreads jobs where that is impossible, random takes free GPUs in any order.
	// Empty means consolidate.
	Placement string `config:",one=consolidate|consolidate-first|random"`
	// Compat reproduces the faults of another simulator: lucid has the results of Lucid's,
	// none corrects its errors. Empty means none.
	Compat string `config:",one=none|lucid"`
}

// The simulators whose faults can be reproduced.
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

// The default month of Lucid's simulator, in seconds since the start of its trace.
const (
	lucidFrom = 13_219_200
	lucidTo   = 15_465_540
)

// Validate joins all that is wrong.
func (o ClusterOptions) Validate() error {
	var faults faultList
	faults.when(o.Trace == "", "trace is missing; name the file of a trace, or make one with 'graft trace generate'")
	faults.when(o.Data == "" && o.Nodes == "",
		"data and nodes are missing; name a folder with vc_config.csv, or a file like it")
	faults.when(o.PerNode < 1 || o.PerNode > 64, "gpus_per_node is %d; must be between 1 and 64", o.PerNode)
	faults.when(o.CPUs < 0 || o.Memory < 0, "cpus_per_node is %d and memory_per_node is %d; must not be negative",
		o.CPUs, o.Memory)
	faults.when(o.From < 0 || o.To < 0 || o.To > 0 && o.To < o.From,
		"from is %d and to is %d; must not be negative, and to not before from", o.From, o.To)
	if _, err := cluster.PlacerNamed(o.Placement); err != nil {
		faults = append(faults, fmt.Errorf("placement: %w", err))
	}
	faults.when(o.Compat != CompatNone && o.Compat != CompatLucid, "compat is %q; must be none or lucid", o.Compat)
	return errors.Join(faults...)
}

// TraceOptions returns the options for reading the trace.
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

// ClusterSchedule names the schedulers and their estimates.
type ClusterSchedule struct {
	// schedulers to simulate one after the other, as 'graft cluster run --help' lists them; empty means fifo
	Schedulers []string
	// Estimates are the expected durations of jobs: lgb or ebm are files in data, exact is
	// the true duration (an oracle), any other text is the path of a file. Empty means ebm
	// for Lucid and lgb for the others that need estimates.
	Estimates string
	// factors by which jobs arrive faster than in the trace, with a simulation for each; empty means 1
	Loads   []float64
	Workers int `result:"none"` // simulations in parallel; zero means one for each processor
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

// Validate joins all that is wrong.
func (o ClusterSchedule) Validate() error {
	var faults faultList
	for k, name := range o.Schedulers {
		if _, err := schedulers.Named(name); err != nil {
			faults = append(faults, fmt.Errorf("schedulers[%d]: %w", k, err))
		}
		faults.when(slices.Contains(o.Schedulers[:k], name), "schedulers[%d]: %s is given twice", k, name)
	}
	for k, load := range o.Loads {
		faults.when(!(load > 0) || math.IsInf(load, 0) || slices.Contains(o.Loads[:k], load),
			"loads[%d] is %v; must be positive and given once", k, load)
	}
	faults.when(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// ClusterOutput says what is written.
type ClusterOutput struct {
	Folder string `result:"none"` // path of the run folder; empty lets the command choose
	Every  int64  // seconds between two rows of GPU usage; zero writes none
}

// Validate joins all that is wrong.
func (o ClusterOutput) Validate() error {
	if o.Every < 0 {
		return fmt.Errorf("every is %d; must not be negative", o.Every)
	}
	return nil
}
