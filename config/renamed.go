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
	"adaptive.traces": "renamed to workload.traces",
	"distill.keep":    "use schedule.restart, which sets when the learning rate restarts",
	"elastic.trace":   "renamed to workload.traces, a list of files",
	"cluster.trace":   "renamed to workload.traces, a list of files",
	"schedule.loads":  "renamed to schedule.arrival_factors",
	"output":          "output.folder was renamed to run.folder, output.every to cluster.usage_every_seconds",
	"schedule.worth":  "renamed to schedule.ablate",
	"degree": "degree.deciders was renamed to schedule.schedulers, degree.against to schedule.against, " +
		"degree.worth to schedule.ablate, degree.workers to schedule.workers",
	"tasks.from": "renamed to workload.traces, a list of at most one file",
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
