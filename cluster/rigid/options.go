package rigid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/validate"
)

// Options describe the simulated cluster and its jobs. Paths are those of the
// operating system, from the working folder or, where nothing is there, from that of the file.
type Options struct {
	// Data is a folder with files about a cluster: vc_config.csv, the virtual clusters and
	// their nodes; *_lgb.csv and *_ebm*.csv, estimated durations of jobs; single_data.csv and
	// colocate_info.csv, profiles of models; *throughput_pred.csv, forecast submissions.
	// Empty where Nodes names the first and no other is needed.
	Data string `config:",path"`
	// Format is the trace's, one of those that 'graft trace convert --help' lists. Empty
	// recognises it by its first lines.
	Format string
	// Nodes is a file of the virtual clusters and their nodes, or the number of nodes of a
	// single one for all jobs. Empty means vc_config.csv in Data.
	Nodes string `config:",path=word"`
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
	// UsageEvery is the time in seconds between two rows of the tables of usage. Zero writes none.
	UsageEvery int64 `config:"usage_every_seconds"`
}

// compatNone corrects the faults of other simulators; CompatLucid keeps those of Lucid's.
const (
	compatNone  = "none"
	CompatLucid = "lucid"
)

// EnsureDefaults fills in what zero stands for.
func (o *Options) EnsureDefaults() {
	o.PerNode = cmp.Or(o.PerNode, 8)
	o.Placement = cmp.Or(o.Placement, "consolidate")
	o.Compat = cmp.Or(o.Compat, compatNone)
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
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Data == "" && o.Nodes == "",
		"data and nodes are missing; name a folder with vc_config.csv, or a file like it")
	faults.When(o.PerNode < 1 || o.PerNode > 64, "gpus_per_node is %d; must be between 1 and 64", o.PerNode)
	faults.When(o.UsageEvery < 0, "usage_every_seconds is %d; must not be negative", o.UsageEvery)
	faults.When(o.CPUs < 0 || o.Memory < 0, "cpus_per_node is %d and memory_per_node is %d; must not be negative",
		o.CPUs, o.Memory)
	faults.When(o.From < 0 || o.To < 0 || o.To > 0 && o.To < o.From,
		"from is %d and to is %d; must not be negative, and to not before from", o.From, o.To)
	if _, err := cluster.PlacerNamed(o.Placement); err != nil {
		faults = append(faults, fmt.Errorf("placement: %w", err))
	}
	faults.When(o.Compat != compatNone && o.Compat != CompatLucid, "compat is %q; must be none or lucid", o.Compat)
	return errors.Join(faults...)
}

// TraceOptions returns the options for reading the trace.
func (o Options) TraceOptions(vcs []trace.VC) trace.Options {
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

// Schedule names the schedulers and their estimates.
type Schedule struct {
	study.Schedule
	// Estimates are the expected durations of jobs: lgb or ebm are files in data, exact is
	// the true duration (an oracle), any other text is the path of a file. Empty means ebm
	// for Lucid and lgb for the others that need estimates.
	Estimates string `config:",path=word"`
	// ArrivalFactors are factors by which jobs arrive faster than in the trace, each a point of the study. Empty
	// means 1.
	ArrivalFactors []float64
}

// EnsureDefaults fills in defaults.
func (o *Schedule) EnsureDefaults() {
	o.Schedule.EnsureDefaults("fifo")
	if len(o.ArrivalFactors) == 0 {
		o.ArrivalFactors = []float64{1}
	}
}

// Validate returns every invalid option.
func (o Schedule) Validate() error {
	var faults validate.Faults
	known := func(name string) error { _, err := schedulers.Named(name); return err }
	for k, factor := range o.ArrivalFactors {
		faults.When(!(factor > 0) || math.IsInf(factor, 0) || slices.Contains(o.ArrivalFactors[:k], factor),
			"arrival_factors[%d] is %v; must be positive and given once", k, factor)
	}
	return errors.Join(append(faults, o.Schedule.Validate(known))...)
}
