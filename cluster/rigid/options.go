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

// Options describe the simulated cluster and its jobs. Paths use the operating system's syntax. Relative paths are
// looked up in the working folder first, then in the folder of the file.
type Options struct {
	// Folder with files about a cluster: vc_config.csv (virtual clusters and their nodes), *_lgb.csv and *_ebm*.csv
	// (estimated durations of jobs), single_data.csv and colocate_info.csv (profiles of models), *throughput_pred.csv
	// (forecast submissions). May be empty if nodes is set and nothing else is needed.
	Data string `config:",path"`
	// Trace format, from the list in 'graft trace convert --help'. Empty detects it from the first lines of the trace.
	Format string
	// File of the virtual clusters and their nodes, or the number of nodes of a single virtual cluster for all jobs.
	// Empty means vc_config.csv in data.
	Nodes string `config:",path=word"`
	// GPUs per node, at most 64. Default 8.
	PerNode int `config:"gpus_per_node"`
	// Processors per node. A job's requested processors are divided among its GPUs. Zero ignores processors.
	CPUs int `config:"cpus_per_node"`
	// Memory per node in MiB. A job's requested memory is divided among its GPUs. Zero ignores memory.
	Memory int64 `config:"memory_mb_per_node,was=memory_per_node"`
	// Gives a whole GPU to a job that requests part of one. False gives it only that part; other jobs can use the rest.
	WholeGPUs bool `config:"whole_gpus"`
	// First second of the trace to simulate. Zero means the start of the trace or, with compat = "lucid", the
	// start of the month that Lucid's authors simulated.
	From int64 `config:"from_seconds,was=from"`
	// Last second of the trace to simulate. Zero means the end of the trace or, with compat = "lucid", the end
	// of the month that Lucid's authors simulated.
	To int64 `config:"to_seconds,was=to"`
	// Placement rule: consolidate uses as few nodes as possible; consolidate-first does the same but spreads jobs that
	// do not fit; random takes free GPUs in any order. Default consolidate.
	Placement string `config:",one=consolidate|consolidate-first|random"`
	// Simulator to reproduce: lucid keeps the faults of Lucid's simulator, none corrects them. Default none.
	Compat string `config:",one=none|lucid"`
	// Seconds between two rows of the usage tables. Zero writes no usage tables.
	UsageEvery int64 `config:"usage_every_seconds"`
}

// compatNone corrects the faults of other simulators; CompatLucid keeps the faults of Lucid's simulator.
const (
	compatNone  = "none"
	CompatLucid = "lucid"
)

// EnsureDefaults replaces zero values with defaults.
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

// Validate returns every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Data == "" && o.Nodes == "",
		"data and nodes are missing; name a folder with vc_config.csv, or a file of that format")
	faults.When(o.PerNode < 1 || o.PerNode > 64, "gpus_per_node is %d; must be between 1 and 64", o.PerNode)
	faults.When(o.UsageEvery < 0, "usage_every_seconds is %d; must not be negative", o.UsageEvery)
	faults.When(o.CPUs < 0 || o.Memory < 0, "cpus_per_node is %d and memory_mb_per_node is %d; both must be at least 0",
		o.CPUs, o.Memory)
	faults.When(o.From < 0 || o.To < 0 || o.To > 0 && o.To < o.From,
		"from_seconds is %d and to_seconds is %d; expected ascending numbers of at least 0", o.From, o.To)
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
	// Expected durations of jobs: lgb or ebm read files in cluster.data, exact takes the true durations (an oracle),
	// any other text is a file path. Empty means ebm for Lucid and lgb for other schedulers that need estimates.
	Estimates string `config:",path=word"`
	// Factors that speed up the arrivals of the trace. Each factor is a point of the study. Empty means 1.
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
			"arrival_factors[%d] is %v; expected unique, positive numbers", k, factor)
	}
	return errors.Join(append(faults, o.Schedule.Validate(known))...)
}
