package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	clusterelastic "graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/config"
	"graft/report"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/elastic"
)

// elasticKeys are the keys of elastic jobs that flags are short for, by flag.
var elasticKeys = map[string]string{
	"trace": "elastic.trace", "speeds": "elastic.speeds", "nodes": "elastic.nodes", "compat": "elastic.compat",
	"scheduler": "schedule.schedulers", "workers": "schedule.workers",
}

// elastic reports whether the flags or the file are about elastic jobs.
func (o *clusterRunOptions) elastic(env *app.Env) bool {
	compat, _ := o.given.GetString("compat")
	return o.given.Changed("speeds") || compat == config.CompatDL2 ||
		o.file != "" && config.KindOf(env.Files, o.file) == config.ElasticKind
}

func runElastic(ctx context.Context, w io.Writer, o clusterRunOptions, more []string) error {
	return runOther(ctx, w, o, elasticKeys, o.elasticValue, more, config.ReadElastic, elastic.Run,
		func(w io.Writer, r *runs.ElasticOutcome) error { return report.PrintElastic(r, w) })
}

// elasticHelp lists the schedulers of elastic jobs for a help text.
func elasticHelp() string {
	return listed(10, schedulers.Kinds(), func(k clusterelastic.Kind) (string, string) { return k.Name, k.About })
}

// elasticValue is the value of a flag as TOML.
func (o *clusterRunOptions) elasticValue(flag *pflag.Flag) string {
	switch flag.Name {
	case "nodes":
		return flag.Value.String()
	case "scheduler":
		return chosen(&o.clusterFlags, schedulers.Kinds(), func(k clusterelastic.Kind) string { return k.Name })
	}
	return o.value(flag)
}
