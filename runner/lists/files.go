package lists

import (
	"fmt"
	"strings"

	"graft/cluster/trace"
	"graft/config"
	"graft/fleet"
	"graft/report/plot"
	"graft/report/runs"
	"graft/runner/export"
)

func formats() (list []Entry) {
	for _, f := range trace.Formats() {
		e := Entry{Name: f.Name, Of: "trace", About: f.About + "; read",
			Command: "graft trace describe jobs --from " + f.Name}
		if f.Writable {
			e.About, e.Command = f.About+"; read and written", "graft trace convert jobs.csv jobs --to "+f.Name
		}
		list = append(list, e)
	}
	for _, f := range export.List() {
		list = append(list, Entry{Name: f.Extension, Of: "export", About: f.About,
			Command: "graft export runs/job --out net" + f.Extension})
	}
	return list
}

func figures() (list []Entry) {
	for _, k := range plot.Kinds(plot.Given{}) {
		of := k.Runs()[0].Name
		command := fmt.Sprintf("graft plot runs/%s --kind %s --out figures", of, k.Name)
		if k.Many {
			command = fmt.Sprintf("graft plot runs/%s-1 runs/%s-2 --kind %s --out figures", of, of, k.Name)
		}
		list = append(list, Entry{Name: k.Name, About: k.About, Command: command})
	}
	return list
}

func engines() (list []Entry) {
	for _, name := range fleet.Engines() {
		list = append(list, Entry{Name: name, About: fleet.About(name),
			Command: "graft simulate scenario.toml --engine " + name})
	}
	return append(list, Entry{Name: config.Kubernetes,
		About:   "workers that a Kubernetes cluster starts from a manifest",
		Command: "graft fleet manifest scenario.toml"})
}

func configurations() (list []Entry) {
	for _, k := range config.Kinds() {
		sections, command := "the section "+strings.Join(k.Sections, " or "), "graft config schema --"+k.Name
		if len(k.Sections) == 0 {
			sections, command = "no section of another kind", "graft config schema"
		}
		about := fmt.Sprintf("%s for '%s', with %s", k.Files, k.Command, sections)
		list = append(list, Entry{Name: k.Name, About: about, Command: command})
	}
	return list
}

func folders() (list []Entry) {
	for _, k := range runs.Kinds() {
		list = append(list, Entry{Name: k.Name, About: k.Title + ", created by " + k.By,
			Command: "graft report runs/" + k.Name})
	}
	return list
}
