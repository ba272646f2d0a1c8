package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	clusteradaptive "graft/cluster/adaptive"
	"graft/config"
	"graft/report"
	"graft/report/runs"
	"graft/runner/adaptive"
	"graft/runner/app"
)

// adaptiveKeys are the keys of adaptive jobs that flags are short for, by flag.
var adaptiveKeys = map[string]string{
	"data": "adaptive.data", "trace": "adaptive.traces", "nodes": "adaptive.nodes", "compat": "adaptive.compat",
	"scheduler": "schedule.schedulers", "workers": "schedule.workers",
}

// adaptive reports whether the flags or the file are about adaptive jobs.
func (o *clusterRunOptions) adaptive(env *app.Env) bool {
	compat, _ := o.given.GetString("compat")
	data, _ := o.given.GetString("data")
	applications := o.file == "" && data != "" && (compat == "" || compat == config.CompatNone) &&
		clusteradaptive.HasApplications(env.Files, data)
	return compat == config.CompatPollux || applications ||
		o.file != "" && config.KindOf(env.Files, o.file) == config.AdaptiveKind
}

func runAdaptive(ctx context.Context, w io.Writer, o clusterRunOptions, more []string) error {
	return runOther(ctx, w, o, adaptiveKeys, o.adaptiveValue, more, config.ReadAdaptive, adaptive.Run,
		func(w io.Writer, r *runs.AdaptiveOutcome) error { return report.PrintAdaptive(r, w) })
}

// adaptiveHelp lists the schedulers of adaptive jobs for a help text.
func adaptiveHelp() string {
	return listed(10, clusteradaptive.Kinds())
}

// adaptiveValue is the value of a flag as TOML.
func (o *clusterRunOptions) adaptiveValue(flag *pflag.Flag) string {
	switch flag.Name {
	case "nodes":
		return flag.Value.String()
	case "trace":
		return config.QuoteList(strings.Split(flag.Value.String(), ","))
	case "scheduler":
		all := config.AdaptiveSchedulers(clusteradaptive.SchedulerOptions{}, 0)
		if compat, _ := o.given.GetString("compat"); compat == config.CompatPollux {
			all = slices.DeleteFunc(all, func(s config.AdaptiveScheduler) bool { return s.Rigid != nil })
		}
		return chosen(&o.clusterFlags, all)
	}
	return o.value(flag)
}
