package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"graft/cluster/elastic/schedulers"
	"graft/config"
	"graft/results/report"
	"graft/results/runs"
	"graft/work"
	"graft/work/elastic"
)

// elasticKeys are the keys of elastic jobs that flags are short for, by flag.
var elasticKeys = map[string]string{
	"trace": "elastic.trace", "speeds": "elastic.speeds", "nodes": "elastic.nodes", "compat": "elastic.compat",
	"scheduler": "schedule.schedulers", "workers": "schedule.workers",
}

// elastic reports whether the flags or the file are about elastic jobs.
func (o *clusterRunOptions) elastic(env *work.Env) bool {
	compat, _ := o.given.GetString("compat")
	return o.given.Changed("speeds") || compat == config.CompatDL2 || o.file != "" && config.KindOf(env.Files, o.file) == config.ElasticKind
}

func runElastic(ctx context.Context, w io.Writer, o clusterRunOptions, more []string) error {
	set, err := o.assignments(elasticKeys, o.elasticValue)
	if err != nil {
		return err
	}
	env := environment(ctx)
	c, err := config.ReadElastic(env.Files, o.file, append(append(set, o.set...), more...))
	if err != nil {
		return runs.AsConfigFault(err)
	}
	options := o.FolderOptions
	if options.Config, err = env.Text(o.file); err != nil {
		return err
	}
	outcome, err := elastic.Run(ctx, env, c, options)
	return show(w, o.json, outcome, err, func(w io.Writer, r *runs.ElasticOutcome) error { return report.PrintElastic(r, w) })
}

// elasticHelp lists the schedulers of elastic jobs for a help text.
func elasticHelp() string {
	var b strings.Builder
	for _, k := range schedulers.Kinds() {
		fmt.Fprintf(&b, "  %-10s %s\n", k.Name, k.About)
	}
	return b.String()
}

// elasticValue is the value of a flag as TOML.
func (o *clusterRunOptions) elasticValue(flag *pflag.Flag) string {
	if flag.Name == "nodes" {
		return flag.Value.String()
	}
	if flag.Name != "scheduler" || len(o.schedulers) != 1 || o.schedulers[0] != "all" {
		return o.value(flag)
	}
	var names []string
	for _, k := range schedulers.Kinds() {
		names = append(names, k.Name)
	}
	return config.QuoteList(names)
}
