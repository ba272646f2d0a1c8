package config

import "strings"

// renamed maps the old name of a key to its new name in the same table. Reading a file with an old name reports the new
// name; the resolved file in a run folder may have the old one.
var renamed = map[string]string{
	"adapt.most":     "max_decisions",
	"network.anew":   "reset_epochs",
	"parallel.most":  "max_processes",
	"run.at_once":    "workers",
	"schedule.least": "min_lr",
	"simulate.most":  "max_sequences",
	"table.waste":    "discard_draws",
}

// removed maps removed keys to their replacements. The resolved file in a run folder may have them; they are ignored
// there.
var removed = map[string]string{
	"adaptive.traces": "it is workload.traces now",
	"distill.keep":    "schedule.restart says when the learning rate begins anew",
	"elastic.trace":   "it is workload.traces now, a list of files",
	"cluster.trace":   "it is workload.traces now, a list of files",
	"schedule.loads":  "it is schedule.arrival_factors now",
	"output":          "output.folder is run.folder now, and output.every cluster.usage_every_seconds",
	"schedule.worth":  "it is schedule.ablate now",
	"degree": "degree.deciders is schedule.schedulers now, degree.against schedule.against, degree.worth " +
		"schedule.ablate, and degree.workers schedule.workers",
	"tasks.from": "it is workload.traces now, a list of at most one file",
}

// newName returns the key that replaces an old one; other keys are unchanged.
func newName(key string) string {
	if now, old := renamed[key]; old {
		return inTableOf(key, now)
	}
	return key
}

// oldName returns the first name of a key. Digests use it, so that they stay the same.
func oldName(key string) string {
	for old, now := range renamed {
		if inTableOf(old, now) == key {
			return old
		}
	}
	return key
}

func inTableOf(key, name string) string { return key[:strings.LastIndexByte(key, '.')+1] + name }
