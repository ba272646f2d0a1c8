package world

import (
	"slices"

	"graft/cluster/adaptive"
	"graft/cluster/study"
	"graft/internal/stat"
	"graft/results"
)

// result holds a simulation of adaptive or rigid jobs.
type result struct {
	jobs    []job     // in order of submission
	devices int       // of the cluster
	begin   float64   // second from which makespan and used device time count
	gaps    []float64 // of decisions by schedulers that compute a bound
}

// job is the result of a job. Times are in seconds from the start.
type job struct {
	spec                      *adaptive.Spec
	submitted, started, ended float64
	held                      float64 // device-seconds
	restarts                  int
}

// jct is the time to completion.
func (j *job) jct() float64 { return j.ended - j.submitted }

// alone is the run time on one device with the smallest batch.
func (j *job) alone() float64 {
	seconds, _ := j.spec.Alone() // File.Check has checked it
	return seconds
}

// times lists the times to completion.
func (r *result) times() (list []float64) {
	for k := range r.jobs {
		list = append(list, r.jobs[k].jct())
	}
	return list
}

// values computes the metrics.
func (r *result) values() study.Values {
	times := slices.Sorted(slices.Values(r.times()))
	n, makespan, queue, hours, restarts, alone := float64(len(times)), 0.0, 0.0, 0.0, 0, 0.0
	for k := range r.jobs {
		j := &r.jobs[k]
		makespan = max(makespan, j.ended-r.begin)
		queue += (j.started - j.submitted) / n
		hours += j.held / 3600
		restarts += j.restarts
		alone += j.alone()
	}
	all := study.Values{
		"jct_mean_s": study.Number(stat.Mean(times)), "jct_p50_s": study.Number(stat.Quantile(times, 0.5)),
		"jct_p99_s": study.Number(stat.Quantile(times, 0.99)), "makespan_s": study.Number(makespan),
		"queue_mean_s": study.Number(queue), "device_time_h": study.Number(hours),
		"used_share": study.Number(hours * 3600 / makespan / float64(r.devices)), "restarts": study.Number(restarts),
		"goodput": study.Number(alone / 3600 / hours),
	}
	if len(r.gaps) > 0 {
		all[decisions], all[gapMean], all[gapWorst] = study.Number(len(r.gaps)), study.Number(stat.Mean(r.gaps)),
			study.Number(slices.Max(r.gaps))
	}
	return all
}

var jobColumns = []results.Column{
	{Name: study.JobColumn, Kind: results.String}, {Name: "application", Kind: results.String},
	{Name: "arrival", Unit: "s"}, {Name: "start", Unit: "s"}, {Name: "end", Unit: "s"}, {Name: "jct", Unit: "s"},
	{Name: "restarts", Kind: results.Int}, {Name: "device_time", Unit: "s"}, {Name: "goodput"},
}

// write writes the table of jobs.
func (r *result) write(t *study.Tables) error {
	return t.Write(study.JobsTable, jobColumns, func(rows *study.Rows) error {
		for k := range r.jobs {
			j := &r.jobs[k]
			rows.Text(j.spec.Name).Text(j.spec.App.Name).Floats(j.submitted, j.started, j.ended, j.jct()).
				Int(int64(j.restarts)).Floats(j.held, j.alone()/j.held).End()
		}
		return nil
	})
}

var seriesColumns = []results.Column{
	{Name: "time", Unit: "s"}, {Name: "unfinished", Unit: "jobs", Kind: results.Int},
	{Name: "running", Unit: "jobs", Kind: results.Int}, {Name: "used", Unit: "devices", Kind: results.Int},
}

var allocationColumns = []results.Column{
	{Name: "time", Unit: "s"}, {Name: study.JobColumn, Kind: results.String}, {Name: "devices", Kind: results.Int},
	{Name: "batch", Kind: results.Int},
}

// course writes the tables of a simulation over time.
type course struct{ rounds, allocations *study.Rows }

// writeCourse writes both tables while body adds rows.
func writeCourse(t *study.Tables, body func(c course) error) error {
	return t.Write(study.SeriesTable, seriesColumns, func(rounds *study.Rows) error {
		return t.Write(study.AllocationsTable, allocationColumns, func(allocations *study.Rows) error {
			return body(course{rounds, allocations})
		})
	})
}

// round adds a time with the number of unfinished jobs, of running jobs and of their devices.
func (c course) round(now float64, unfinished, running, devices int) {
	c.rounds.Float(now).Ints(unfinished, running, devices).End()
}

// allocated adds a change of a job's devices or batch.
func (c course) allocated(now float64, name string, devices, batch int) {
	c.allocations.Float(now).Text(name).Ints(devices, batch).End()
}
