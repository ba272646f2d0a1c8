package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/cluster/schedulers"
	"graft/config"
	"graft/results/runs"
	"graft/work"
)

// clusterFlags are the flags that say what is simulated: short names of keys.
type clusterFlags struct {
	file       string   // TOML, with the same and more; empty for none
	data       string   // folder
	trace      string   // file
	nodes      string   // file
	schedulers []string // names
	compat     string   // whose faults are kept
	placement  string   // how nodes are chosen
	estimates  string   // of how long jobs take
	loads      []string // numbers
	from, to   int64    // seconds
	workers    int      // side by side
	set        []string // assignments

	given *pflag.FlagSet
}

// clusterKeys are the keys that flags are short for.
var clusterKeys = map[string]string{
	"data": "cluster.data", "trace": "cluster.trace", "nodes": "cluster.nodes", "scheduler": "schedule.schedulers",
	"compat": "cluster.compat", "placement": "cluster.placement", "estimates": "schedule.estimates", "load": "schedule.loads",
	"from": "cluster.from", "to": "cluster.to", "workers": "schedule.workers",
}

func (f *clusterFlags) add(command *cobra.Command) {
	f.given = command.Flags()
	f.given.StringVar(&f.data, "data", "", "folder with what is known of the cluster: its nodes, profiles, estimates, forecasts")
	f.given.StringVar(&f.trace, "trace", "", "file of the trace")
	f.given.StringVar(&f.nodes, "nodes", "", "file of the virtual clusters and their nodes, or a number of nodes for all jobs; empty is vc_config.csv in --data")
	f.given.StringSliceVar(&f.schedulers, "scheduler", nil, "who schedules, one or several with commas between them; all is every one")
	f.given.StringVar(&f.compat, "compat", "", "keep the faults of an original: lucid; none corrects them")
	f.given.StringVar(&f.placement, "placement", "", "how nodes are chosen: consolidate, consolidate-first or random")
	f.given.StringVar(&f.estimates, "estimates", "", "how long jobs are expected to take: lgb or ebm of --data, exact, or a file")
	f.given.StringSliceVar(&f.loads, "load", nil, "submit jobs so many times faster than in the trace; several with commas between them")
	f.given.Int64Var(&f.from, "from", 0, "leave out jobs that were submitted before this second of the trace")
	f.given.Int64Var(&f.to, "to", 0, "leave out jobs that were submitted after this second of the trace")
	f.given.IntVar(&f.workers, "workers", 0, "how many are simulated side by side; 0 is as many as processors")
	f.given.StringArrayVar(&f.set, "set", nil, "set a key, such as lucid.limit=300, after file and flags; may be given several times")
}

// schedulerHelp lists the schedulers for a help text.
func schedulerHelp() string {
	var b strings.Builder
	for _, k := range schedulers.Kinds() {
		fmt.Fprintf(&b, "  %-10s %s\n", k.Name, k.About)
	}
	return b.String()
}

// read is what file and flags say.
func (f *clusterFlags) read(env *work.Env, more ...string) (*config.Cluster, error) {
	var set []string
	f.given.Visit(func(flag *pflag.Flag) {
		if key := clusterKeys[flag.Name]; key != "" {
			set = append(set, key+"="+f.value(flag))
		}
	})
	c, err := config.ReadCluster(env.Files, f.file, append(append(set, f.set...), more...))
	if err == nil {
		tuneCollector(env, c.Cluster.Trace)
	}
	return c, runs.AsConfigFault(err)
}

// value writes a flag as an assignment has it.
func (f *clusterFlags) value(flag *pflag.Flag) string {
	switch flag.Name {
	case "scheduler":
		names := f.schedulers
		if len(names) == 1 && names[0] == "all" {
			names = nil
			for _, k := range schedulers.Kinds() {
				names = append(names, k.Name)
			}
		}
		return config.QuoteList(names)
	case "load":
		return "[" + strings.Join(floats(f.loads), ", ") + "]"
	case "from", "to", "workers":
		return flag.Value.String()
	}
	return config.Quote(flag.Value.String())
}

// floats writes whole numbers as floats; what is no number stays, and is a fault of the key.
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
