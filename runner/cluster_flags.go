package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/cluster/rigid"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/registry"
	"graft/report/runs"
	"graft/runner/app"
)

// clusterFlags are the flags of a simulation. All except file and set are shortcuts for keys of the file; a flag that
// is not given leaves the key to the file.
type clusterFlags struct {
	file       string   // TOML; empty for none
	schedulers []string // names
	loads      []string // factors of the submission rate
	set        []string // assignments to keys

	given *pflag.FlagSet
	doc   *config.Document // the file; nil before it is read
}

// joined is a flag whose values are joined by commas if it is repeated.
type joined string

// String implements [pflag.Value].
func (j *joined) String() string { return string(*j) }

// Set implements [pflag.Value].
func (j *joined) Set(text string) error {
	if *j != "" {
		text = string(*j) + "," + text
	}
	*j = joined(text)
	return nil
}

// Type implements [pflag.Value].
func (*joined) Type() string { return "string" }

// document reads the file once.
func (f *clusterFlags) document(fsys files.FS) *config.Document {
	if f.doc == nil {
		f.doc = config.Open(fsys, f.file)
	}
	return f.doc
}

// clusterKeys maps flags to the keys that they set.
var clusterKeys = map[string]string{
	"data": "cluster.data", "trace": "cluster.trace", "nodes": "cluster.nodes", "vc-file": "cluster.vc_file",
	"scheduler": "schedule.schedulers",
	"compat":    "cluster.compat", "placement": "cluster.placement",
	"estimates": "schedule.estimates", "load": "schedule.loads",
	"from": "cluster.from_seconds", "to": "cluster.to_seconds", "workers": "schedule.workers",
}

func (f *clusterFlags) add(command *cobra.Command) {
	f.given = command.Flags()
	f.given.String("data", "", "folder with cluster data: nodes, profiles, estimates and "+
		"forecasts; for adaptive jobs, the folder that 'graft cluster application --out' writes")
	f.given.Var(new(joined), "trace", "trace file, or several files, separated by commas; repeatable")
	f.given.Int("nodes", 0, "number of nodes in a single cluster that all jobs share")
	f.given.String("vc-file", "",
		"file that lists the virtual clusters and their nodes (default without --nodes: vc_config.csv in the --data "+
			"folder)")
	f.given.String("failures", "", "fault trace, list of outages, or Slurm events of the nodes (rigid jobs); "+
		"'graft trace failures' describes and generates fault traces")
	f.given.StringSliceVar(&f.schedulers, "scheduler", nil,
		"names of schedulers, or paths of scheduler programs, separated by commas; "+
			`"all" selects every scheduler whose input data is available`)
	f.given.String("compat", "", "published simulator to reproduce, including its bugs: lucid (rigid jobs), "+
		`dl2 (elastic jobs) or pollux (adaptive jobs); "none" simulates without these bugs`)
	f.given.String("placement", "", "placement rule: consolidate, consolidate-first or random")
	f.given.String("estimates", "",
		"source of job duration estimates: limits (time limits in the trace), lgb or ebm (files in the --data "+
			"folder), exact (true durations), or a file")
	f.given.StringSliceVar(&f.loads, "load", nil,
		"arrival rates relative to the trace, separated by commas; at 2, jobs arrive twice as often as in the trace")
	f.given.Int64("from", 0, "drop jobs submitted before this second of the trace")
	f.given.Int64("to", 0, "drop jobs submitted after this second of the trace")
	f.given.Int("workers", 0, "number of parallel simulations; 0 means one per processor")
	f.given.StringArrayVar(&f.set, "set", nil,
		"set a configuration key, such as lucid.profile_seconds=300; overrides CONFIG and other flags; repeatable")
}

// read reads the file of rigid jobs, and sets the keys of the given flags.
func (f *clusterFlags) read(env *app.Env) (*rigid.File, error) {
	w := rigid.World()
	set, err := f.worldAssignments(w)
	if err != nil {
		return nil, err
	}
	file, err := config.ReadNamed[*rigid.File](w.Name, f.document(env.Files), append(set, f.set...))
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	tuneCollector(env, file.Workload.Traces...)
	return file, nil
}

// value returns the value of a flag as TOML.
func (f *clusterFlags) value(flag *pflag.Flag) string {
	switch flag.Name {
	case "load":
		return "[" + strings.Join(floats(f.loads), ", ") + "]"
	case "from", "to", "workers", "nodes":
		return flag.Value.String()
	}
	return config.Quote(flag.Value.String())
}

// chosen lists the schedulers of the flag as TOML; all means every kind.
func chosen[T registry.Kind](f *clusterFlags, all registry.List[T]) string {
	names := f.schedulers
	if len(names) == 1 && names[0] == "all" {
		names = all.Names()
	}
	return config.QuoteList(names)
}

// checkLoads returns an error for arrival rates that are not positive numbers.
func (f *clusterFlags) checkLoads() error {
	for _, text := range f.loads {
		if v, err := strconv.ParseFloat(text, 64); err != nil || !(v > 0) || math.IsInf(v, 0) {
			return failure.Usagef("--load contains %q; expected numbers above 0, separated by commas, such as "+
				"0.8,1,1.2", text)
		}
	}
	return nil
}

// floats writes integers as floats. Other texts are unchanged; the key refuses those that are not numbers.
func floats(list []string) []string {
	texts := make([]string, len(list))
	for k, text := range list {
		if _, err := strconv.Atoi(text); err == nil {
			text += ".0"
		}
		texts[k] = text
	}
	return texts
}
