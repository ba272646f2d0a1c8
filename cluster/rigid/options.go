package rigid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/validate"
)

// Options describes the simulated cluster and its jobs. Paths use the operating system's syntax. Relative paths are
// looked up in the working directory first, then in the folder of the file.
type Options struct {
	// Folder of cluster data: vc_config.csv (virtual clusters and their nodes), *_lgb.csv and *_ebm*.csv (estimated
	// job durations), single_data.csv and colocate_info.csv (model profiles), *throughput_pred.csv (forecast of
	// submissions). May be empty if the key "nodes" or "vc_file" is set and no scheduler needs the other files.
	Data string `config:",path"`
	// Trace format: a name that 'graft list formats' prints. Empty detects the format from the trace's first lines.
	Format string
	// Path of a file that lists the virtual clusters and their nodes, such as vc_config.csv, with or without types of
	// GPUs. If empty, and cluster.nodes is set, all jobs share a single virtual cluster with this number of nodes. If
	// neither vc_file nor cluster.nodes is set, graft reads vc_config.csv in the folder cluster.data.
	VCFile string `config:"vc_file,path"`
	// Virtual clusters of jobs with other names in the trace, each as NAME=VC. For example, "debug=gpu" runs the jobs
	// of partition debug on the nodes of gpu. Requires vc_file, or vc_config.csv in the folder cluster.data.
	Aliases []string `config:"vc_aliases" json:",omitempty"`
	// Number of nodes, if all jobs share a single virtual cluster. Zero means that vc_file lists the nodes.
	Nodes int
	// Types of GPUs, and their nodes in a single virtual cluster, instead of cluster.nodes. If vc_file has a column
	// "type", it lists the nodes of each type. Empty means that all nodes are alike.
	Types []GPUType `json:",omitempty"`
	// Number of GPUs per node, at most 64. Default 8.
	PerNode int `config:"gpus_per_node"`
	// Number of processors per node. A job's requested processors are divided evenly among its GPUs. Zero ignores
	// processors.
	CPUs int `config:"cpus_per_node"`
	// Memory per node in MiB. A job's requested memory is divided evenly among its GPUs. Zero ignores memory.
	Memory int64 `config:"memory_mb_per_node,was=memory_per_node"`
	// Gives a whole GPU to a job that requests a part of one. False gives the job only the requested part, and other
	// jobs can use the remaining part.
	WholeGPUs bool `config:"whole_gpus"`
	// Start of the simulated part of the trace, in seconds after time 0 of the trace. Zero means the start of the trace
	// or, if compat = "lucid", the start of the month that Lucid's authors simulated.
	From int64 `config:"from_seconds,was=from"`
	// End of the simulated part of the trace, in seconds after time 0 of the trace. Zero means the end of the trace or,
	// if compat = "lucid", the end of the month that Lucid's authors simulated.
	To int64 `config:"to_seconds,was=to"`
	// Rule that selects nodes and GPUs for a job. "consolidate" uses as few nodes as possible, and delays the job until
	// these nodes are free. "consolidate-first" also uses as few nodes as possible, but spreads the job over more nodes
	// instead of delaying the job. "random" takes the first free GPUs in node order; despite its name, it draws nothing
	// at random. Default "consolidate".
	Placement string `config:",one=consolidate|consolidate-first|random"`
	// Reference simulator: "lucid" reproduces Lucid's simulator, including its bugs; "none" fixes the bugs. Default
	// "none".
	Compat string `config:",one=none|lucid"`
	// Work of jobs before failures and preemptions on the traced cluster: "replay" repeats it, "drop" leaves it out.
	// Empty means "drop" if nodes fail in the simulation, because the simulated failures replace the real ones, and
	// otherwise "replay". To compare simulations with and without failures, set it to "drop" in both.
	EarlierStarts string `config:",one=|replay|drop" json:",omitempty"`
	// Ends a job when it had GPUs for as long as the user's time limit, in total over all its starts. Default false:
	// jobs can exceed their limits.
	EnforceLimits bool `json:",omitempty"`
	// Eviction of spot jobs.
	Spot SpotOptions `json:",omitzero"`
	// Power of the GPUs.
	Power PowerOptions `json:",omitzero"`
	// Time between two rows of the usage tables, in seconds. Zero writes no usage tables.
	UsageEvery int64 `config:"usage_every_seconds"`
}

// Values of the key earlier_starts.
const (
	ReplayStarts = "replay"
	DropStarts   = "drop"
)

// Values of the key compat: compatNone corrects the faults of other simulators; CompatLucid keeps the faults of Lucid's
// simulator.
const (
	compatNone  = "none"
	CompatLucid = "lucid"
)

// usualPerNode is the default number of GPUs per node.
const usualPerNode = 8

// EnsureDefaults replaces zero values with defaults.
func (o *Options) EnsureDefaults() {
	o.PerNode = cmp.Or(o.PerNode, usualPerNode)
	o.Placement = cmp.Or(o.Placement, "consolidate")
	o.Compat = cmp.Or(o.Compat, compatNone)
	o.Spot.EnsureDefaults()
	if o.Compat == CompatLucid && o.From == 0 && o.To == 0 {
		o.From, o.To = lucidFrom, lucidTo
	}
}

// The default month of Lucid's simulator, in seconds since the start of its trace.
const (
	lucidFrom = 13_219_200
	lucidTo   = 15_465_540
)

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Data == "" && o.VCFile == "" && o.Nodes == 0 && len(o.Types) == 0,
		"nodes is missing; set cluster.nodes (option nodes) to the number of nodes, cluster.vc_file (option vc-file) "+
			"to a file of virtual clusters, or cluster.data (option data) to a folder that contains vc_config.csv")
	faults.When(o.Nodes < 0 || o.Nodes > trace.MaxNodes, "nodes is %d; must be between 1 and %d", o.Nodes,
		trace.MaxNodes)
	faults.When(o.Nodes != 0 && o.VCFile != "", "nodes is %d, but vc_file lists the nodes too; remove one of them",
		o.Nodes)
	faults.When(o.PerNode < 1 || o.PerNode > trace.MaxPerNode, "gpus_per_node is %d; must be between 1 and %d",
		o.PerNode, trace.MaxPerNode)
	faults.When(o.UsageEvery < 0, "usage_every_seconds is %d; must not be negative", o.UsageEvery)
	faults.Unless(slices.Contains([]string{"", ReplayStarts, DropStarts}, o.EarlierStarts),
		"earlier_starts is %q; must be %q or %q", o.EarlierStarts, ReplayStarts, DropStarts)
	faults.When(o.CPUs < 0 || o.Memory < 0, "cpus_per_node is %d and memory_mb_per_node is %d; both must be at least 0",
		o.CPUs, o.Memory)
	faults.When(o.From < 0 || o.To < 0 || o.To > 0 && o.To < o.From,
		"from_seconds is %d and to_seconds is %d; expected ascending numbers of at least 0", o.From, o.To)
	faults = append(faults, o.validateTypes()...)
	_, aliases := o.aliases()
	for _, err := range []error{o.Spot.Validate(), o.Power.validate(), aliases} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	if _, err := cluster.PlacerNamed(o.Placement); err != nil {
		faults = append(faults, fmt.Errorf("placement: %w", err))
	}
	faults.When(o.Compat != compatNone && o.Compat != CompatLucid, "compat is %q; must be \"none\" or \"lucid\"",
		o.Compat)
	return errors.Join(faults...)
}

// TraceOptions returns the options for reading the trace.
func (o Options) TraceOptions(vcs []trace.VC) trace.Options {
	t := trace.Options{Format: o.Format, History: true}
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

// Schedule selects the schedulers to compare and the source of their duration estimates.
type Schedule struct {
	study.Schedule
	// Source of expected job durations: "limits" uses the time limits that users requested (for a job without one,
	// the longest limit in the trace); "lgb" and "ebm" read files in cluster.data; "exact" uses the true durations
	// (an oracle); any other value is a file path. If empty, the default depends on the scheduler: "ebm" for lucid;
	// "limits" for backfill, or "exact" if the trace has no time limits; "lgb" for other schedulers that need
	// estimates.
	Estimates string `config:",path=word"`
	// Factor of the users' time limits in the jobs' deadlines, at most 1e6: a deadline is the submission plus the
	// factor times the limit. The report then has the share of jobs that met their deadlines. Zero means no deadlines
	// in the report, and 1 for the scheduler edf.
	DeadlineFactor float64 `json:",omitempty"`
	study.Arrivals
}

// EnsureDefaults fills in defaults.
func (o *Schedule) EnsureDefaults() {
	o.Schedule.EnsureDefaults("fifo")
	o.Arrivals.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (o Schedule) Validate() error {
	known := func(name string) error {
		_, err := schedulers.Named(name)
		if err != nil {
			err = fmt.Errorf("%w; the path of a learned scheduler or of a program, such as ./%s, is also valid", err,
				name)
		}
		return err
	}
	var faults validate.Faults
	faults.Unless(o.DeadlineFactor >= 0 && o.DeadlineFactor <= mostFactor, "deadline_factor is %g; must be between 0 "+
		"and %g", o.DeadlineFactor, float64(mostFactor))
	return errors.Join(o.Arrivals.Validate(), o.Schedule.Validate(known), o.names(), errors.Join(faults...))
}

// mostFactor is the largest factor of deadlines.
const mostFactor = 1e6

// names returns an error if two schedulers have one name in tables and in the run folder.
func (o Schedule) names() error {
	paths := map[string]string{}
	for _, name := range o.Schedulers {
		p, err := schedulers.Named(name)
		if other := paths[p.Name]; err == nil && other != "" && other != name {
			if filepath.Clean(other) == filepath.Clean(name) {
				return fmt.Errorf("schedulers: %s is named twice; name each scheduler once", name)
			}
			return fmt.Errorf("schedulers: %s and %s have the same name %s in the run folder; rename a program", other,
				name, p.Name)
		}
		paths[p.Name] = name
	}
	return nil
}
