package adaptive

import (
	"slices"
	"strconv"
	"strings"

	"graft/cluster/adaptive"
	"graft/cluster/trace"
	"graft/internal/stat"
	"graft/report/runs"
)

// result holds a simulation, of adaptive or of rigid jobs.
type result struct {
	jobs                []job           // in the order of submission
	rounds, allocations strings.Builder // rows of tables
	gaps                []float64       // of decisions whose scheduler knows a bound
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

// alone is the time on one device with the smallest batch.
func (j *job) alone() float64 {
	seconds, _ := j.spec.App.OneDevice() // config has looked before
	return seconds
}

// times are the times to completion.
func (r *result) times() (list []float64) {
	for k := range r.jobs {
		list = append(list, r.jobs[k].jct())
	}
	return list
}

// summarize computes the figures of a cell.
func (r *result) summarize(c *runs.AdaptiveCell) {
	times := slices.Sorted(slices.Values(r.times()))
	n, alone := float64(len(times)), 0.0
	c.Jobs, c.Mean, c.Median, c.P99 = len(times), stat.Mean(times), stat.Quantile(times, 0.5),
		stat.Quantile(times, 0.99)
	for k := range r.jobs {
		j := &r.jobs[k]
		c.Makespan = max(c.Makespan, j.ended)
		c.Queue += (j.started - j.submitted) / n
		c.DeviceHours += j.held / 3600
		c.Restarts += j.restarts
		alone += j.alone()
	}
	c.Goodput = alone / 3600 / c.DeviceHours
	if len(r.gaps) > 0 {
		c.Search = &runs.AdaptiveSearch{Decisions: len(r.gaps), Gap: stat.Mean(r.gaps), WorstGap: slices.Max(r.gaps)}
	}
}

// jobColumns are the columns of the table of jobs.
const jobColumns = "job,application,submission_s,start_s,end_s,jct_s,restarts,device_s,goodput\n"

// jobTable has a row for each job.
func (r *result) jobTable() string {
	var b strings.Builder
	b.WriteString(jobColumns)
	for k := range r.jobs {
		j := &r.jobs[k]
		row := trace.AppendCell(nil, j.spec.Name)
		row = trace.AppendCell(append(row, ','), j.spec.App.Name)
		for _, v := range []float64{j.submitted, j.started, j.ended, j.jct(), float64(j.restarts), j.held,
			j.alone() / j.held} {
			row = number(append(row, ','), v)
		}
		b.Write(append(row, '\n'))
	}
	return b.String()
}

const roundColumns = "time_s,unfinished_jobs,running_jobs,devices\n"

// round adds a row for a time: jobs that were submitted and have not ended, those of them with devices, and
// these devices.
func (r *result) round(now float64, unfinished, running, devices int) {
	row := number(nil, now)
	for _, n := range []int{unfinished, running, devices} {
		row = strconv.AppendInt(append(row, ','), int64(n), 10)
	}
	r.rounds.Write(append(row, '\n'))
}

const allocationColumns = "time_s,job,devices,batch\n"

// allocated adds a row for a change.
func (r *result) allocated(now float64, name string, devices, batch int) {
	row := trace.AppendCell(append(number(nil, now), ','), name)
	row = strconv.AppendInt(append(row, ','), int64(devices), 10)
	row = strconv.AppendInt(append(row, ','), int64(batch), 10)
	r.allocations.Write(append(row, '\n'))
}

// number appends a number without an exponent, in as few digits as read back as the same.
func number(row []byte, v float64) []byte { return strconv.AppendFloat(row, v, 'f', -1, 64) }
