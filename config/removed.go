package config

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
