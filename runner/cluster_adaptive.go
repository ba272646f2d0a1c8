package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	clusteradaptive "graft/cluster/adaptive"
	"graft/config"
	"graft/results/report"
	"graft/results/runs"
	"graft/work"
	"graft/work/adaptive"
)

// adaptiveKeys are the keys of adaptive jobs that flags are short for, by flag.
var adaptiveKeys = map[string]string{
	"data": "adaptive.data", "trace": "adaptive.traces", "nodes": "adaptive.nodes", "compat": "adaptive.compat",
	"scheduler": "schedule.schedulers", "workers": "schedule.workers",
}

// adaptive reports whether the flags or the file are about adaptive jobs.
func (o *clusterRunOptions) adaptive(env *work.Env) bool {
	compat, _ := o.given.GetString("compat")
	return compat == config.CompatPollux || o.file != "" && config.KindOf(env.Files, o.file) == config.AdaptiveKind
}

func runAdaptive(ctx context.Context, w io.Writer, o clusterRunOptions, more []string) error {
	set, err := o.assignments(adaptiveKeys, o.adaptiveValue)
	if err != nil {
		return err
	}
	env := environment(ctx)
	c, err := config.ReadAdaptive(env.Files, o.file, append(append(set, o.set...), more...))
	if err != nil {
		return runs.AsConfigFault(err)
	}
	options := o.FolderOptions
	if options.Config, err = env.Text(o.file); err != nil {
		return err
	}
	outcome, err := adaptive.Run(ctx, env, c, options)
	return show(w, o.json, outcome, err, func(w io.Writer, r *runs.AdaptiveOutcome) error { return report.PrintAdaptive(r, w) })
}

// adaptiveHelp lists the schedulers of adaptive jobs for a help text.
func adaptiveHelp() string {
	var b strings.Builder
	for _, k := range clusteradaptive.Kinds() {
		fmt.Fprintf(&b, "  %-10s %s\n", k.Name, k.About)
	}
	return b.String()
}

// adaptiveValue is the value of a flag as TOML.
func (o *clusterRunOptions) adaptiveValue(flag *pflag.Flag) string {
	switch {
	case flag.Name == "nodes":
		return flag.Value.String()
	case flag.Name == "trace":
		return config.QuoteList(strings.Split(flag.Value.String(), ","))
	case flag.Name != "scheduler" || len(o.schedulers) != 1 || o.schedulers[0] != "all":
		return o.value(flag)
	}
	var names []string
	compat, _ := o.given.GetString("compat")
	for _, s := range config.AdaptiveSchedulers(clusteradaptive.SchedulerOptions{}, 0) {
		if s.Rigid == nil || compat != config.CompatPollux {
			names = append(names, s.Name)
		}
	}
	return config.QuoteList(names)
}
