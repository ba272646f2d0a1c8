package report

import (
	"graft/cluster/live"
	"graft/cluster/study"
	"graft/internal/words"
	"graft/report/document"
)

// writeLive adds the results of the live jobs; with all, also of each job.
func writeLive(o *study.Outcome, d *document.Document, all bool) {
	if o.Live == nil {
		return
	}
	d.Head("live jobs")
	d.Show(liveTable(o.Live))
	d.Say("Live jobs were trained on the devices that each scheduler gave them. Accuracy is on the test data, at the "+
		"end of the budget of the job file.", "Brackets hold 95% intervals over jobs.")
	if all {
		d.Head("each live job")
		d.Show(liveJobsTable(o.Live))
	} else {
		d.Say("graft report --all lists the " + words.Plural(len(o.Live.Jobs), "result") + ". Trainings are in the " +
			"folder " + o.Live.Folder + " of the run.")
	}
}

// liveTable has a row per scheduler and point.
func liveTable(o *live.Outcome) *document.Table {
	t := document.NewTable("scheduler").Numbers("", "%.1f", "changes of devices").
		Numbers(document.UnitShare, "%.2f%%", "adaptive", "never").Numbers(document.UnitPoints, "%+.2f", "difference")
	for _, s := range o.Summaries {
		never, difference := document.Missing(), document.Missing()
		if s.Never != nil {
			never = OverSeeds(*s.Never, document.UnitShare, "%.2f%%")
			difference = OverSeeds(*s.Difference, document.UnitPoints, "%+.2f")
		}
		t.Add(pointed(s.Point)+s.Scheduler, s.Changes, OverSeeds(s.Adaptive, document.UnitShare, "%.2f%%"), never,
			difference)
	}
	return t
}

// liveJobsTable has a row per live job and simulation.
func liveJobsTable(o *live.Outcome) *document.Table {
	t := document.NewTable("scheduler", "workload", "job").Numbers("s", "%.0f", "held").
		Numbers("", "%.0f", "devices", "changes", "waits").Texts("timeline").
		Numbers(document.UnitShare, "%.2f%%", "adaptive", "never")
	for _, j := range o.Jobs {
		never := document.Missing()
		if j.Never != nil {
			never = document.Value(*j.Never, document.UnitShare).As("%.2f%%")
		}
		t.Add(pointed(j.Point)+j.Scheduler, j.Workload, j.Job, j.Held, j.Devices, j.Changes, j.Waits, j.Timeline,
			j.Adaptive, never)
	}
	return t
}
