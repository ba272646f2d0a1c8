package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/cluster"
	"graft/config"
	"graft/results"
)

// clusterReport is what `graft cluster run --json` prints.
type clusterReport struct {
	Folder    string            `json:"folder"`    // of the run
	Trace     string            `json:"trace"`     // the file of the jobs
	Format    string            `json:"format"`    // of the trace
	Jobs      int               `json:"jobs"`      // of the trace, in the span that is simulated
	GPUs      int               `json:"gpus"`      // of all nodes
	Pools     int               `json:"pools"`     // virtual clusters
	Begin     int64             `json:"begin_s"`   // second of the trace at which simulations begin
	Placement string            `json:"placement"` // how nodes are chosen
	Compat    string            `json:"compat"`    // whose faults are kept: none or lucid
	Refused   []clusterRefusals `json:"refused"`   // jobs that were left out, by why; of the scheduler that left out most
	Cells     []*clusterCell    `json:"cells"`     // a simulation each, scheduler by scheduler and load by load
}

// clusterRefusals are jobs that were left out.
type clusterRefusals struct {
	Why     string `json:"why"`     // they cannot run
	Jobs    int    `json:"jobs"`    // how many they are
	Example string `json:"example"` // id of the first of them
}

// clusterCell is a simulation: a scheduler at a load.
type clusterCell struct {
	Scheduler string            `json:"scheduler"`               // who scheduled
	Load      float64           `json:"load"`                    // how much faster than in the trace jobs were submitted
	All       clusterFigures    `json:"all"`                     // of all jobs
	Mean      clusterInterval   `json:"completion_mean"`         // of all jobs, with an interval over days of submission
	Against   *clusterInterval  `json:"against_first"`           // completion less that under the first scheduler, job by job; null for that one
	Used      *float64          `json:"used_share"`              // of the devices' time until the last submission in which they had a job; null if there is none
	Scalings  int               `json:"profiler_scalings"`       // how often a profiler grew or shrank
	Events    int64             `json:"events"`                  // arrivals and ends
	Pools     []clusterPart     `json:"pools"`                   // virtual cluster by virtual cluster
	Sizes     []clusterPart     `json:"sizes"`                   // by how many devices jobs ask for
	Fixes     []clusterFix      `json:"fixes"`                   // faults of the first simulator that are corrected; empty where they are kept or there are none
	CDF       []clusterQuantile `json:"completion_distribution"` // how long the quickest share of the jobs takes
	refused   []cluster.Refusal // jobs that were left out
}

// clusterPart is figures of some of the jobs.
type clusterPart struct {
	Name string `json:"name"` // of the virtual cluster, or the sizes
	clusterFigures
	Used *float64 `json:"used_share"` // as of all; null for sizes
}

// clusterFigures are figures of jobs; null where there are none.
type clusterFigures struct {
	Jobs        int           `json:"jobs"`              // that were simulated
	Completion  clusterSpread `json:"completion"`        // from submission to end
	Queue       clusterSpread `json:"queue"`             // of all waiting
	Slowdown    *float64      `json:"slowdown"`          // mean of completion over duration, of which 10 s count at least
	Fairness    *float64      `json:"fairness"`          // Jain's index over the users' mean slowdowns: 1 where all are equal
	Preemptions int           `json:"preemptions"`       // in all
	Packed      int           `json:"packed"`            // jobs that were put onto another's devices
	Profiled    int           `json:"profiled"`          // jobs that a profiler saw
	Skipped     int           `json:"ended_in_profiler"` // jobs that ended there
	Last        int64         `json:"last_end_s"`        // second at which the last one ended, since simulations began
}

// clusterSpread is how times are distributed, in seconds; null where there are none.
type clusterSpread struct {
	Mean   *float64 `json:"mean_s"`   // of all jobs
	Median *float64 `json:"median_s"` // half of the jobs take no longer
	P90    *float64 `json:"p90_s"`    // nine in ten take no longer
	P99    *float64 `json:"p99_s"`    // 99 in 100 take no longer
	P999   *float64 `json:"p999_s"`   // 999 in 1000 take no longer
	Max    *float64 `json:"max_s"`    // none takes longer
	Sum    int64    `json:"sum_s"`    // of all jobs
}

// clusterInterval is a mean of times with an interval of confidence of 95%.
type clusterInterval struct {
	Mean *float64 `json:"mean_s"` // over jobs; null where there are none
	Low  *float64 `json:"low_s"`  // end of the interval; null where jobs are of less than two days
	High *float64 `json:"high_s"` // the other end
	Days int      `json:"days"`   // of submission, whose jobs were drawn together
}

// clusterFix is a fault that is corrected, and what that changes.
type clusterFix struct {
	What  string          `json:"what"`       // is so now
	Worth clusterInterval `json:"completion"` // less that with the fault, job by job
}

// clusterQuantile is a point of a distribution.
type clusterQuantile struct {
	Share float64 `json:"share"`  // of the jobs
	Time  float64 `json:"time_s"` // that they take at most
}

// finiteOrNil is a figure, or null where there is none.
func finiteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func clusterIntervalOf(i cluster.Interval) clusterInterval {
	return clusterInterval{finiteOrNil(i.Mean), finiteOrNil(i.Low), finiteOrNil(i.High), i.Windows}
}

func clusterSpreadOf(s cluster.Spread) clusterSpread {
	return clusterSpread{finiteOrNil(s.Mean), finiteOrNil(s.Median), finiteOrNil(s.P90), finiteOrNil(s.P99), finiteOrNil(s.P999), finiteOrNil(s.Max), s.Sum}
}

func clusterFiguresOf(jobs []*cluster.Job, keep func(j *cluster.Job) bool, begin int64) clusterFigures {
	s := cluster.Summarize(jobs, keep)
	return clusterFigures{s.Jobs, clusterSpreadOf(s.Completion), clusterSpreadOf(s.Queue), finiteOrNil(s.Slowdown), finiteOrNil(s.Fairness),
		s.Preemptions, s.Counts["packed"], s.Counts["profiled"], s.Counts["ended_in_profiler"], max(0, s.Last-begin)}
}

// clusterSizes are the groups that jobs are shown in by their size.
var clusterSizes = []struct {
	name     string
	from, to int
}{{"1 GPU", 1, 1}, {"2 to 8 GPUs", 2, 8}, {"more than 8 GPUs", 9, math.MaxInt}}

// report is what is known before anything is simulated.
func (r *replay) report() *clusterReport {
	c := r.Cluster.Cluster
	report := &clusterReport{Trace: c.Trace, Format: r.format, Jobs: len(r.study.Jobs), Pools: len(r.study.VCs), Begin: r.study.Begin, Placement: c.Placement, Compat: c.Compat}
	for _, vc := range r.study.VCs {
		report.GPUs += vc.Nodes * r.study.PerNode
	}
	return report
}

// take computes the figures of a simulation.
func (c *clusterCell) take(o *cluster.Outcome, mean cluster.Interval) {
	begin := o.Begin
	c.All, c.Mean = clusterFiguresOf(o.Jobs, nil, begin), clusterIntervalOf(mean)
	c.Used, c.Scalings, c.Events, c.refused, c.Fixes = finiteOrNil(o.Used()), o.Counts["profiler_scalings"], o.Events, o.Refused, []clusterFix{}
	for _, p := range o.Pools {
		c.Pools = append(c.Pools, clusterPart{p.Name, clusterFiguresOf(p.Jobs, nil, begin), finiteOrNil(p.Used / p.All)})
	}
	for _, size := range clusterSizes {
		keep := func(j *cluster.Job) bool { return size.from <= j.Trace.GPUs && j.Trace.GPUs <= size.to }
		if f := clusterFiguresOf(o.Jobs, keep, begin); f.Jobs > 0 {
			c.Sizes = append(c.Sizes, clusterPart{size.name, f, nil})
		}
	}
	c.distribute(o)
}

// distributionPoints are into how many parts of equal share a distribution is divided.
const distributionPoints = 200

func (c *clusterCell) distribute(o *cluster.Outcome) {
	times := make([]int64, len(o.Jobs))
	for k, j := range o.Jobs {
		times[k] = j.Completion()
	}
	slices.Sort(times)
	for k := range distributionPoints {
		if len(times) == 0 {
			break
		}
		share := float64(k+1) / distributionPoints
		at := int(math.Ceil(share*float64(len(times)))) - 1
		c.CDF = append(c.CDF, clusterQuantile{share, float64(times[max(0, at)])})
	}
}

// compare says how each simulation differs from the first scheduler's at the same load, and
// which jobs were left out.
func (r *replay) compare(report *clusterReport) {
	for _, c := range report.Cells {
		if first := r.Schedule.Schedulers[0]; c.Scheduler != first {
			i := clusterIntervalOf(cluster.Compare(r.study.Jobs, r.completions[clusterCellKey{c.Scheduler, c.Load}], r.completions[clusterCellKey{first, c.Load}]))
			c.Against = &i
		}
		if list := grouped(c.refused); total(list) > total(report.Refused) {
			report.Refused = list
		}
	}
}

func total(list []clusterRefusals) (n int) {
	for _, w := range list {
		n += w.Jobs
	}
	return n
}

func grouped(refused []cluster.Refusal) (list []clusterRefusals) {
	for _, f := range refused {
		at := slices.IndexFunc(list, func(w clusterRefusals) bool { return w.Why == f.Why })
		if at < 0 {
			at, list = len(list), append(list, clusterRefusals{Why: f.Why, Example: f.ID})
		}
		list[at].Jobs++
	}
	return list
}

// clusterColumns are those of the table of a run.
var clusterColumns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "load"}, {Name: "part", Kind: results.String}, {Name: "jobs", Kind: results.Int},
	{Name: "completion_mean", Unit: "s"}, {Name: "completion_median", Unit: "s"}, {Name: "completion_p99", Unit: "s"},
	{Name: "queue_mean", Unit: "s"}, {Name: "queue_p999", Unit: "s"}, {Name: "slowdown"}, {Name: "used", Unit: "share"}, {Name: "preemptions", Kind: results.Int}}

// tables writes the figures as a table of the run.
func (r *replay) tables(report *clusterReport) error {
	stream, err := r.run.Stream(clusterStream, clusterColumns)
	if err != nil {
		return err
	}
	for _, c := range report.Cells {
		for _, p := range c.parts() {
			f := p.clusterFigures
			err := stream.Append(c.Scheduler, c.Load, p.Name, f.Jobs, value(f.Completion.Mean), value(f.Completion.Median), value(f.Completion.P99),
				value(f.Queue.Mean), value(f.Queue.P999), value(f.Slowdown), value(p.Used), f.Preemptions)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// parts are all jobs, and those of each virtual cluster and size.
func (c *clusterCell) parts() []clusterPart {
	return slices.Concat([]clusterPart{{"all", c.All, c.Used}}, c.Pools, c.Sizes)
}

// value is a figure; NaN where there is none.
func value(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// name is what a simulation is called.
func (c *clusterCell) name() string { return clusterCellKey{c.Scheduler, c.Load}.folder() }

// secondsText writes a time in seconds, or a dash.
func secondsText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 1, 64)
}

func (r *clusterReport) print(w io.Writer) error {
	d := &document{}
	r.write(d, false)
	if r.Folder != "" {
		d.say("results in " + r.Folder)
	}
	return d.print(w)
}

// write adds the report to a document; all has every virtual cluster as well.
func (r *clusterReport) write(d *document, all bool) {
	d.say(fmt.Sprintf("%s of %s on %s in %s, placement %s", plural(r.Jobs, "job"), r.Trace, plural(r.GPUs, "GPU"), plural(r.Pools, "virtual cluster"), r.Placement))
	if r.Compat == config.CompatLucid {
		d.say("the faults of Lucid's simulator are kept")
	}
	for _, f := range r.Refused {
		d.say(fmt.Sprintf("left out: %s: %s, job %s for one", plural(f.Jobs, "job"), f.Why, f.Example))
	}
	d.show(r.overview())
	d.say("Times in seconds; completion is from submission to end. Intervals of 95% are over days of submission.", r.differences())
	d.show(r.fixes())
	if !all {
		return
	}
	for _, c := range r.Cells {
		d.head("%s, by size and virtual cluster", c.name())
		d.show(c.divided())
	}
}

// overview is a line for each simulation.
func (r *clusterReport) overview() *table {
	t := newTable("SCHEDULER", ">COMPLETION [s]", ">95%", ">MEDIAN [s]", ">P99 [s]", ">QUEUE [s]", ">P99.9 [s]", ">SLOWDOWN", ">FAIRNESS", ">LAST END [s]", ">USED", ">PREEMPTED")
	for _, c := range r.Cells {
		f := c.All
		t.add(c.name(), secondsText(f.Completion.Mean), daysText(c.Mean), secondsText(f.Completion.Median), secondsText(f.Completion.P99), secondsText(f.Queue.Mean), secondsText(f.Queue.P999),
			secondsText(f.Slowdown), ratioText(f.Fairness), strconv.FormatInt(f.Last, 10), usedText(c.Used), strconv.Itoa(f.Preemptions))
	}
	return t
}

func daysText(i clusterInterval) string {
	if i.Low == nil {
		return "-"
	}
	return "[" + plain("%.0f", *i.Low) + ", " + plain("%.0f", *i.High) + "]"
}

func ratioText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 3, 64)
}

func usedText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(100**x, 'f', 1, 64) + "%"
}

// differences compares the simulations to the first scheduler's, in a line for each.
func (r *clusterReport) differences() string {
	var lines []string
	for _, c := range r.Cells {
		if c.Against == nil || c.Against.Mean == nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s less %s: %s", c.name(), clusterCellKey{r.Cells[0].Scheduler, c.Load}.folder(), c.Against.text()))
	}
	return strings.Join(lines, "\n")
}

// text is a difference with its interval, and whether that leaves zero out.
func (i clusterInterval) text() string {
	text := fmt.Sprintf("%+.1f s", *i.Mean)
	switch {
	case i.Low == nil:
		return text + ", of fewer than two days: nothing can be said of its spread"
	case *i.Low <= 0 && *i.High >= 0:
		return text + fmt.Sprintf(" [%.1f, %.1f] ~, inside the spread over days", *i.Low, *i.High)
	}
	return text + fmt.Sprintf(" [%.1f, %.1f]", *i.Low, *i.High)
}

// fixes are the faults that are corrected, and what each is worth.
func (r *clusterReport) fixes() *table {
	t := newTable("SCHEDULER", "CORRECTED: NOW", ">COMPLETION [s]", ">95%")
	for _, c := range r.Cells {
		for _, f := range c.Fixes {
			t.add(c.name(), f.What, signed(f.Worth.Mean), daysText(f.Worth))
		}
	}
	return t
}

// plain writes a number; a zero has no sign.
func plain(format string, x float64) string {
	text := fmt.Sprintf(format, x)
	if strings.Trim(text, "+-0.") == "" {
		return strings.TrimLeft(text, "+-")
	}
	return text
}

func signed(x *float64) string {
	if x == nil {
		return "-"
	}
	return plain("%+.1f", *x)
}

// divided is a line for each size and virtual cluster.
func (c *clusterCell) divided() *table {
	t := newTable("JOBS OF", ">JOBS", ">COMPLETION [s]", ">MEDIAN [s]", ">P99 [s]", ">QUEUE [s]", ">P99.9 [s]", ">SLOWDOWN", ">USED", ">PREEMPTED")
	for _, p := range slices.Concat(c.Sizes, c.Pools) {
		t.add(p.Name, strconv.Itoa(p.Jobs), secondsText(p.Completion.Mean), secondsText(p.Completion.Median), secondsText(p.Completion.P99), secondsText(p.Queue.Mean), secondsText(p.Queue.P999),
			secondsText(p.Slowdown), usedText(p.Used), strconv.Itoa(p.Preemptions))
	}
	return t
}
