package config

// removed maps removed keys to their replacements. The resolved file in a run folder may have them; they are ignored
// there.
var removed = map[string]string{
	"adapt.equal_shares": "use adapt.split = \"equal\" for true, \"shares\" for false",
	"adaptive.traces":    "renamed to workload.traces",
	"distill.keep":       "use schedule.restart, which sets when the learning rate restarts",
	"elastic.trace":      "renamed to workload.traces, a list of files",
	"cluster.trace":      "renamed to workload.traces, a list of files",
	"schedule.loads":     "renamed to schedule.arrival_factors",
	"output":             "output.folder was renamed to run.folder, output.every to cluster.usage_every_seconds",
	"schedule.worth":     "renamed to schedule.ablate",
	"degree": "degree.deciders was renamed to schedule.schedulers, degree.against to schedule.against, " +
		"degree.worth to schedule.ablate, degree.workers to schedule.workers",
	"tasks.from": "renamed to workload.traces, a list of at most one file",
}
