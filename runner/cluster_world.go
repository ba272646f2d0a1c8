package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/registry"
	"graft/report"
	"graft/report/runs"
	simulations "graft/runner/study"
)

// worldKeys maps flags to the keys that they set, common to all worlds.
var worldKeys = map[string]string{
	"trace": "workload.traces", "scheduler": "schedule.schedulers", "workers": "schedule.workers",
	"against": "schedule.against", "ablate": "schedule.ablate", "out": "run.folder",
}

// world returns the world of the file, or the one requested by flags. Without either, jobs are rigid.
func (o *clusterRunOptions) world(fsys files.FS) *study.World {
	if o.file != "" {
		k := o.document(fsys).Kind()
		switch {
		case worlds.Named(k.Name) != nil:
			return worlds.Named(k.Name)
		case k != config.JobKind: // the kind of files without sections of another kind
			return worlds.Named("rigid") // it reports the right command for the file
		}
	}
	flags := map[string]string{}
	o.given.Visit(func(f *pflag.Flag) { flags[f.Name] = f.Value.String() })
	for _, w := range worlds.All() {
		if slices.Contains(w.Compats, flags["compat"]) || w.Claims != nil && w.Claims(fsys, flags) {
			return w
		}
	}
	return worlds.Named("rigid")
}

// runWorld simulates a file of a world, with the keys of the given flags.
func runWorld(ctx context.Context, w io.Writer, world *study.World, o clusterRunOptions) error {
	if err := errors.Join(o.checkSchedulers(world), o.checkLoads()); err != nil {
		return err
	}
	set, err := o.worldAssignments(world)
	if err != nil {
		return err
	}
	env := environment(ctx)
	f, err := config.ReadNamed[study.File](world.Name, o.document(env.Files), append(set, o.set...))
	if err != nil {
		return runs.AsConfigFault(err)
	}
	o.Config = f.Origins().Text()
	if world.Name == "rigid" {
		tuneCollector(env, f.Shared().Workload.Traces...)
	}
	outcome, err := simulations.Run(ctx, env, world, f, o.file, o.FolderOptions)
	return show(w, o.json, outcome, err, func(w io.Writer, r *study.Outcome) error { return report.PrintStudy(r, w) })
}

// worldAssignments turns the given flags into keys of a world. Flags without a key are usage errors.
func (o *clusterFlags) worldAssignments(w *study.World) (set []string, err error) {
	keys := map[string]string{}
	for name, key := range worldKeys {
		keys[name] = key
	}
	text, list := map[string]bool{}, map[string]bool{}
	for _, f := range w.Flags {
		keys[f.Name], text[f.Name], list[f.Name] = f.Key, f.Text, f.List
	}
	o.given.Visit(func(flag *pflag.Flag) {
		switch key := keys[flag.Name]; {
		case key != "":
			set = append(set, key+"="+o.worldValue(w, flag, text[flag.Name], list[flag.Name]))
		case clusterKeys[flag.Name] != "" || ofAnyWorld(flag.Name):
			err = failure.Usagef("--%s does not apply to %s; omit it, or set a key with --set", flag.Name, w.Titles)
		}
	})
	return set, err
}

// ofAnyWorld reports whether a flag sets a key of some world.
func ofAnyWorld(name string) bool {
	return slices.ContainsFunc(worlds.All(), func(w *study.World) bool {
		return slices.ContainsFunc(w.Flags, func(f study.Flag) bool { return f.Name == name })
	})
}

// givesOneOf reports whether one of some flags is given; true for no flags.
func (o *clusterFlags) givesOneOf(flags []string) bool {
	return len(flags) == 0 || slices.ContainsFunc(flags, o.given.Changed)
}

// checkSchedulers returns an error for schedulers that the world does not have. It says which other world has them.
func (o *clusterFlags) checkSchedulers(w *study.World) error {
	for _, name := range o.schedulers {
		if _, found := registry.List[study.Entry](w.Schedulers()).Find(name); found || name == "all" {
			continue
		}
		for _, other := range worlds.All() {
			if _, found := registry.List[study.Entry](other.Schedulers()).Find(name); found && other.Name != w.Name {
				return failure.Usagef("the scheduler %s is for %s: %s. The given flags select %s: %s. See '%s --help'",
					name, other.Titles, other.About, w.Titles, w.About, other.RunCommand())
			}
		}
	}
	return nil
}

// worldValue returns the value of a flag as TOML.
func (o *clusterFlags) worldValue(w *study.World, flag *pflag.Flag, text, list bool) string {
	switch {
	case text:
		return config.Quote(flag.Value.String())
	case list:
		return "[" + strings.Join(floats(o.loads), ", ") + "]"
	}
	switch flag.Name {
	case "scheduler":
		compat, _ := o.given.GetString("compat")
		all := slices.DeleteFunc(w.Schedulers(), func(e study.Entry) bool {
			return slices.Contains(e.Without, compat) || o.file == "" && !o.givesOneOf(e.Needs)
		})
		return chosen(o, registry.List[study.Entry](all))
	case "trace":
		return config.QuoteList(strings.Split(flag.Value.String(), ","))
	case "ablate", "gpus-per-node", "deadline-factor":
		return flag.Value.String()
	}
	return o.value(flag)
}

// worldHelp describes the worlds and their schedulers for a help text.
func worldHelp() string {
	var b strings.Builder
	for _, w := range worlds.All() {
		fmt.Fprintf(&b, "A CONFIG with the section %s simulates %s. Schedulers:\n\n%s", w.Sections[0], w.About,
			listed(w.Schedulers()))
		if w.Notes != "" {
			b.WriteString("\n" + w.Notes + "\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
