package config

import (
	"fmt"
	"slices"
	"strings"

	"graft/config/decode"
	"graft/original/tasks"
)

// PPO as published is a scheduler of the published study beside its baselines.
const PublishedPPO = "ppo"

// Published reports whether the file asks for the published study.
func (n *Node) Published() bool { return n.Machine.Compat == CompatTasks }

// allPublished are the schedulers of the published study.
func allPublished() []string { return append(tasks.Baselines().Names(), PublishedPPO) }

// ofStudy reports whether a scheduler is of the published study.
func ofStudy(name string) bool { return slices.Contains(allPublished(), name) }

// PublishedSchedulers returns the schedulers of the published study to compare: the file's, or all.
func (n *Node) PublishedSchedulers() []string {
	if len(n.Schedule.Schedulers) > 0 {
		return n.Schedule.Schedulers
	}
	return allPublished()
}

// checkPublished reports keys that the published study does not have.
func (n *Node) checkPublished(r *decode.Reading) {
	for _, name := range n.Schedule.Schedulers {
		if !ofStudy(name) {
			r.Blame("schedule.schedulers", fmt.Sprintf("%s is none of the published study; "+
				"with machine.compat = \"tasks\" there are %s", name, strings.Join(allPublished(), ", ")))
		}
	}
	if len(n.Task) > 0 {
		r.Blame("task", "the published study draws its tasks; leave [[task]] out, or machine.compat")
	}
	fresh := NewNode()
	fresh.EnsureDefaults()
	defaults := map[string]string{}
	for _, v := range Values(fresh) {
		defaults[v.Key] = v.Text
	}
	read := []string{"machine.gpus", "machine.compat", "tasks.seed", "tasks.test_count", "schedule.schedulers",
		"schedule.workers", "run.", "task"}
	for _, v := range Values(n) {
		known := slices.ContainsFunc(read, func(key string) bool {
			return v.Key == key || strings.HasSuffix(key, ".") && strings.HasPrefix(v.Key, key)
		})
		if !known && v.Text != defaults[v.Key] {
			r.Blame(v.Key, v.Key+" is not read where machine.compat is tasks; leave it out")
		}
	}
}
