package report

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/live"
	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
	"graft/results"
)

// Limits of the jobs in the report of a single simulation.
const (
	longestJobs = 20          // jobs in a report
	mostJobRows = maxPageRows // jobs in a report with --all, and on a page
)

// readCellDetail reads the report of a single simulation, or of the selected job or node.
func readCellDetail(r *runs.Run, all bool) (Detail, error) {
	switch s := r.Selected; {
	case s.Job != "":
		return readCellJob(r, s.Job)
	case s.Node != "":
		return readCellNode(r, s.Node)
	}
	return readWholeCell(r, all)
}

// CellDetail holds the result of a single simulation of a cluster.
type CellDetail struct {
	Point     string       `json:"point"`     // combination of swept values; empty for the only one
	Workload  string       `json:"workload"`  // name of the workload; empty before the study ends
	Scheduler string       `json:"scheduler"` // name of the scheduler; empty before the study ends
	Seed      uint64       `json:"seed"`      // seed of the simulation; zero if it draws nothing
	Metrics   []cellMetric `json:"metrics"`   // metrics of the simulation; empty before the study ends
	Jobs      int          `json:"jobs"`      // number of jobs
	// jobs with the longest completion times, longest first; with --all, up to 200 jobs
	Longest []runs.JobRow `json:"longest"`
	Outages []runs.Outage `json:"outages"` // outages of nodes; empty if no node fails

	cell   *runs.Cell
	folder string
}

// cellMetric is a metric of a single simulation.
type cellMetric struct {
	Metric string       `json:"metric"` // name of the metric
	Unit   string       `json:"unit"`   // unit; share means a fraction between 0 and 1, empty means a count or ratio
	About  string       `json:"about"`  // meaning of the metric
	Value  study.Number `json:"value"`  // value; null if unknown

	of *study.Metric
}

func readWholeCell(r *runs.Run, all bool) (Detail, error) {
	c, err := r.Cell()
	if err != nil {
		return nil, err
	}
	d := &CellDetail{Metrics: []cellMetric{}, cell: c, folder: r.Path}
	most := longestJobs
	if all {
		most = mostJobRows
	}
	if d.Longest, d.Jobs, err = r.LongestJobs(most); err != nil {
		return nil, err
	}
	if d.Outages, err = r.Outages(); err != nil {
		return nil, err
	}
	d.Outages = append([]runs.Outage{}, d.Outages...)
	if c.Of == nil {
		return d, nil
	}
	d.Point, d.Workload, d.Scheduler, d.Seed = c.Of.Point, c.Of.Workload, c.Of.Scheduler, c.Of.Seed
	for k := range c.Study.Metrics {
		m := &c.Study.Metrics[k]
		if v, has := c.Of.Values[m.Key()]; has {
			d.Metrics = append(d.Metrics, cellMetric{m.Name, m.Unit, m.About, v, m})
		}
	}
	return d, nil
}

func (c *CellDetail) write(d *document.Document) {
	d.Head("simulation")
	d.Know("scheduler", c.Scheduler, "setting", c.Point, "workload", c.Workload, "seed", seedText(c.Seed),
		"cluster run", c.cell.Run.Path)
	switch {
	case c.cell.Study == nil:
		d.Say("The cluster run has not ended. Metrics follow at its end.")
	case c.cell.Of == nil:
		d.Say("The outcome of the cluster run does not list this simulation.")
	}
	c.writeMetrics(d)
	c.writeOutages(d)
	d.Head("longest jobs")
	if len(c.Longest) < c.Jobs {
		d.Say(fmt.Sprintf("The %d of %s with the longest completion times.", len(c.Longest),
			words.Plural(c.Jobs, "job")))
	}
	d.Show(jobsTable(c.Longest))
	d.Say("graft report " + c.folder + " --job ID reports on one job. jobs.csv has all jobs.")
}

// writeMetrics adds a row per metric.
func (c *CellDetail) writeMetrics(d *document.Document) {
	if len(c.Metrics) == 0 {
		return
	}
	t := document.NewTable("metric").Numbers("", "", "value").Texts("unit", "meaning")
	for _, m := range c.Metrics {
		unit := m.Unit
		switch {
		case unit != document.UnitShare:
		case strings.HasSuffix(formatOf(m.of), "%%"):
			unit = "" // the value has it
		default:
			unit = "%"
		}
		t.Add(m.of.Title, cellOf(m.of, m.Value), unit, m.About)
	}
	d.Head("metrics")
	d.Show(t)
}

func seedText(seed uint64) string {
	if seed == 0 {
		return ""
	}
	return strconv.FormatUint(seed, 10)
}

// writeOutages adds a row per node that failed or was drained.
func (c *CellDetail) writeOutages(d *document.Document) {
	if len(c.Outages) == 0 {
		return
	}
	type node struct {
		vc, name string
		count    int
		out      float64
		hit      int
		open     bool
	}
	var nodes []*node
	known := map[[2]string]*node{}
	for _, o := range c.Outages {
		n := known[[2]string{o.VC, o.Node}]
		if n == nil {
			n = &node{vc: o.VC, name: o.Node}
			known[[2]string{o.VC, o.Node}], nodes = n, append(nodes, n)
		}
		n.count, n.hit, n.open = n.count+1, n.hit+o.Jobs, n.open || o.To == nil
		n.out += outFor(o)
	}
	slices.SortStableFunc(nodes, func(a, b *node) int { return b.count - a.count })
	t := document.NewTable("node", "virtual cluster").Numbers("", "%.0f", "outages").Numbers("s", "%.0f", "out").
		Numbers("", "%.0f", "jobs hit").Texts("state at the end")
	for _, n := range nodes {
		state, out := "in service", document.Value(n.out, "s").As("%.0f")
		if n.open {
			state, out = "out", document.Missing() // its last outage has no end
		}
		t.Add(document.Cell{Text: n.name, Link: linkTo("node", n.vc+"/"+n.name)}, n.vc, n.count, out, n.hit, state)
	}
	d.Head("nodes with outages")
	d.Show(t)
}

// outFor returns the seconds of an outage; zero if it has no end.
func outFor(o runs.Outage) float64 {
	if o.To == nil {
		return 0
	}
	return *o.To - o.From
}

// linkTo returns a link to a part of the report of the same run.
func linkTo(key, value string) string { return "?" + url.Values{key: {value}}.Encode() }

// jobColumns are the columns of a table of several jobs, if the simulation's table has them.
var jobColumns = []string{"vc", "arrival", "start", "end", "queue", "jct", "preemptions", "failures", "restarts",
	"lost", "deepened", "widened", "accuracy", "live_work"}

// jobsTable has a row per job.
func jobsTable(list []runs.JobRow) *document.Table {
	t := document.NewTable("job")
	var used []string
	for _, name := range jobColumns {
		if len(list) == 0 {
			break
		}
		k := slices.IndexFunc(list[0].Fields, func(f runs.Field) bool { return f.Name == name })
		if k < 0 {
			continue
		}
		used = append(used, name)
		if name == "vc" {
			t.Texts("virtual cluster")
			continue
		}
		t.Numbers(list[0].Fields[k].Unit, "", labelOf(name))
	}
	for _, j := range list {
		row := []any{document.Cell{Text: j.Job, Link: linkTo("job", j.Job)}}
		for _, name := range used {
			row = append(row, fieldCell(&j, name))
		}
		t.Add(row...)
	}
	return t
}

// fieldCell returns a column of a job as a number or a text.
func fieldCell(j *runs.JobRow, name string) document.Cell {
	for _, f := range j.Fields {
		if f.Name != name {
			continue
		}
		if v, err := strconv.ParseFloat(f.Text, 64); err == nil && name != "vc" {
			if f.Unit == document.UnitShare {
				return document.Value(v, f.Unit)
			}
			if v == math.Trunc(v) {
				return document.Value(v, f.Unit).As("%.0f")
			}
			return document.Value(v, f.Unit).As("%.7g")
		}
		if f.Text != "" {
			return document.Text(f.Text)
		}
	}
	return document.Missing()
}

// CellJob holds the results of a job in a single simulation of a cluster.
type CellJob struct {
	runs.JobRow
	Devices   []deviceChange `json:"devices"`   // devices over time; empty unless the job is live
	Trainings []cellTraining `json:"trainings"` // trainings of the job; empty unless the job is live

	scheduler string
	byLoss    bool   // the job ends by its loss
	outward   string // path from the simulation to the cluster run
}

// deviceChange is a change of a live job's devices.
type deviceChange struct {
	At      float64 `json:"at_s"`    // seconds with devices since the start
	Devices int     `json:"devices"` // number of devices from this time on; zero at the end
}

// cellTraining is a training of a live job, shared by all jobs that had the same devices at the same times.
type cellTraining struct {
	Arm      string   `json:"arm"`        // adaptive, or never for the job without its decider
	Seed     int64    `json:"seed"`       // seed of the training
	Folder   string   `json:"folder"`     // path of the training's run folder in the cluster run
	Accuracy *float64 `json:"accuracy"`   // test accuracy, otherwise validation accuracy; null if unknown
	Actions  []string `json:"actions"`    // changes of the network, in order
	Size     *float64 `json:"parameters"` // parameters of the final network; null if unknown
}

func readCellJob(r *runs.Run, id string) (Detail, error) {
	row, err := r.JobRow(id)
	if err != nil {
		return nil, err
	}
	c, err := r.Cell()
	if err != nil {
		return nil, err
	}
	d := &CellJob{JobRow: *row, Devices: []deviceChange{}, Trainings: []cellTraining{}}
	if d.outward, err = filepath.Rel(r.Path, c.Run.Path); err != nil {
		return nil, err
	}
	line, err := r.DevicesOf(id)
	if err != nil {
		return nil, err
	}
	if line != nil {
		d.Devices = devicesOf(line)
	}
	if c.Of != nil {
		d.scheduler = c.Of.Scheduler
	}
	return d, d.addTrainings(c)
}

// devicesOf lists the devices of a live job from its start to its end.
func devicesOf(line *live.Timeline) []deviceChange {
	list := []deviceChange{{0, line.First}}
	for _, c := range line.Changes {
		list = append(list, deviceChange{c.At, c.Devices})
	}
	return append(list, deviceChange{line.Budget, 0})
}

// addTrainings adds the trainings of a live job.
func (j *CellJob) addTrainings(c *runs.Cell) error {
	for _, f := range trainingFolders(c, &j.JobRow) {
		j.byLoss = j.byLoss || f.name == ""
		if !filepath.IsLocal(f.sweep) {
			return failure.AsDamage(fmt.Errorf("job %s: the trainings in %q are outside of the run folder", j.Job,
				f.sweep))
		}
		sweep, err := c.Run.OpenPart(filepath.Join(c.Run.Path, f.sweep))
		if err != nil {
			return err
		}
		o, err := runs.OutcomeOf[runs.SweepOutcome](sweep)
		if err != nil {
			return err
		}
		if o != nil {
			j.addTrials(f, o)
		}
	}
	return nil
}

// addTrials adds the trainings of an arm.
func (j *CellJob) addTrials(f armFolder, o *runs.SweepOutcome) {
	for _, c := range o.Cases {
		if c == nil || f.name != "" && c.Name != f.name {
			continue
		}
		for _, t := range c.Trials {
			if filepath.IsLocal(t.Folder) {
				j.Trainings = append(j.Trainings, trainingOf(f.arm, filepath.Join(f.sweep, t.Folder), t))
			}
		}
	}
}

// armFolder names the trainings of an arm: a case of a sweep, or its only case.
type armFolder struct{ arm, sweep, name string }

// trainingFolders returns the sweeps with the trainings of a live job.
func trainingFolders(c *runs.Cell, j *runs.JobRow) (list []armFolder) {
	for _, f := range j.Fields {
		switch {
		case f.Text == "":
		case f.Name == live.AdaptiveColumn:
			list = append(list, armFolder{live.Adaptive, f.Text, ""})
		case f.Name == live.NeverColumn:
			list = append(list, armFolder{live.Never, f.Text, ""})
		}
	}
	if len(list) > 0 || c.Study == nil || c.Study.Live == nil || c.Of == nil {
		return list
	}
	for _, one := range c.Study.Live.Jobs {
		if one.Job != j.Job || one.Point != c.Of.Point || one.Workload != c.Of.Workload ||
			one.Scheduler != c.Of.Scheduler || one.Seed != c.Of.Seed {
			continue
		}
		for _, arm := range []string{live.Adaptive, live.Never} {
			list = append(list, armFolder{arm, c.Study.Live.Folder, live.CaseName(one.Timeline, arm)})
		}
	}
	return list
}

func trainingOf(arm, folder string, t runs.TrialOutcome) cellTraining {
	one := cellTraining{Arm: arm, Seed: t.Seed, Folder: folder, Actions: append([]string{}, t.Actions...)}
	for _, measure := range []string{runs.TestAccuracy, runs.ValidationAccuracy} {
		if v, has := t.Values[measure]; has && one.Accuracy == nil {
			one.Accuracy = &v
		}
	}
	if v, has := t.Values["parameters"]; has {
		one.Size = &v
	}
	return one
}

func (j *CellJob) write(d *document.Document) {
	d.Head("job %s", document.Printable(j.Job))
	pairs := []string{"scheduler", j.scheduler}
	for _, f := range j.Fields {
		pairs = append(pairs, labelOf(f.Name), fieldText(f))
	}
	d.Know(pairs...)
	if len(j.Devices) > 0 {
		t := (&document.Table{}).Numbers("s", "%.0f", "with devices").Numbers("", "%.0f", "devices")
		for _, c := range j.Devices {
			t.Add(c.At, c.Devices)
		}
		d.Head(timelineHead)
		d.Show(t)
		d.Say("WITH DEVICES is the time since the start without periods in which the job had no devices.")
	}
	if len(j.Trainings) == 0 {
		return
	}
	d.Head("trainings")
	t := document.NewTable("arm").Numbers("", "%.0f", "seed").Numbers(document.UnitShare, "%.2f%%", "accuracy").
		Numbers("", "%.0f", "parameters").Texts("actions", "folder")
	for _, one := range j.Trainings {
		t.Add(one.Arm, one.Seed, one.Accuracy, one.Size, words.Some(one.Actions, mostActions),
			document.Cell{Text: one.Folder, Link: filepath.Join(j.outward, one.Folder)})
	}
	d.Show(t)
	d.Say("A live job is trained with its decider (adaptive) and without it (never), on the timeline of its devices. " +
		"Jobs with equal timelines share their trainings.")
	if j.byLoss {
		d.Say("This job ends by its loss, after the work that the table states. The accuracy of the arm never is " +
			"after the work in the trace; the accuracy of the arm adaptive is after the epoch in which the network " +
			"has the loss, or after the most work (live.most_work).")
	}
}

// labels name columns of the table of jobs, if the words of the column's name do not.
var labels = map[string]string{"vc": "virtual cluster", "jct": "completion time", "queue": "waiting time",
	"nodes": "last placement", "lost": "repeated work", "delay": "restart delays", "live_work": "work until the end",
	"live_missed": "ended after the most work", "live_first": "first reached its loss after",
	live.AdaptiveColumn: "training", live.NeverColumn: "training without the decider"}

// labelOf returns the label of a column of the table of jobs.
func labelOf(column string) string { return cmp.Or(labels[column], wordsOf(column)) }

// mostActions is the maximum number of actions in a row.
const mostActions = 6

// fieldText returns a column of a job with its unit.
func fieldText(f runs.Field) string {
	switch {
	case f.Text == "" || f.Unit == "":
		return f.Text
	case f.Unit == document.UnitShare:
		if v, err := strconv.ParseFloat(f.Text, 64); err == nil {
			return fmt.Sprintf("%.2f%%", 100*v)
		}
	}
	return f.Text + " " + f.Unit
}

func (j *CellJob) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Devices of the job over time", Unit: "s"}
	before := 0
	for _, c := range j.Devices {
		e := page.Event{At: c.At, Name: words.Plural(c.Devices, "device"), Look: results.Up}
		switch {
		case c.Devices == 0:
			e.Name, e.Look = "end", results.Plain
		case c.Devices < before:
			e.Look = results.Down
		}
		t.Events = append(t.Events, e)
		before = c.Devices
	}
	return t
}

// CellNode holds the outages of a node in a single simulation of a cluster.
type CellNode struct {
	VC      string        `json:"vc"`      // virtual cluster of the node
	Node    string        `json:"node"`    // number of the node in its virtual cluster
	Outages []runs.Outage `json:"outages"` // outages in order of time
}

func readCellNode(r *runs.Run, node string) (Detail, error) {
	list, err := r.OutagesOf(node)
	if err != nil {
		return nil, err
	}
	return &CellNode{list[0].VC, list[0].Node, list}, nil
}

func (n *CellNode) write(d *document.Document) {
	d.Head("node %s of virtual cluster %s", document.Printable(n.Node), document.Printable(n.VC))
	t := (&document.Table{}).Numbers("s", "%.0f", "from", "to", "out").Texts("kind", "class").
		Numbers("", "%.0f", "jobs hit")
	sum, hit, open := 0.0, 0, false
	for _, o := range n.Outages {
		out := document.Missing()
		if o.To != nil {
			out = document.Value(outFor(o), "s").As("%.0f")
		}
		t.Add(o.From, o.To, out, o.Kind, o.Class, o.Jobs)
		sum, hit, open = sum+outFor(o), hit+o.Jobs, open || o.To == nil
	}
	d.Say(fmt.Sprintf("%s of %.0f s in total hit %s.", words.Plural(len(n.Outages), "outage"), sum,
		words.Plural(hit, "job")))
	if open {
		d.Say("The node stayed out of service. Its last outage has no end and counts no seconds.")
	}
	d.Head(timelineHead)
	d.Show(t)
}

func (n *CellNode) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Outages of the node over time", Unit: "s"}
	for _, o := range n.Outages {
		t.Events = append(t.Events, page.Event{At: o.From, Name: document.Printable(o.Kind + " " + o.Class),
			Detail: words.Plural(o.Jobs, "job") + " hit", Look: results.Down})
		if o.To != nil {
			t.Events = append(t.Events, page.Event{At: *o.To, Name: "back in service", Look: results.Up})
		}
	}
	return t
}
