package world

import (
	"cmp"
	"slices"
	"time"

	"graft/cluster/node"
	"graft/cluster/study"
	"graft/results"
)

var jobColumns = []results.Column{
	{Name: study.JobColumn, Kind: results.String}, {Name: "kind", Kind: results.String},
	{Name: "device", Kind: results.Int}, {Name: "arrival", Unit: "s"}, {Name: "start", Unit: "s"},
	{Name: "end", Unit: "s"}, {Name: "run", Unit: "s"}, {Name: "starts", Kind: results.Int},
	{Name: "energy", Unit: "J"}, {Name: "completed", Kind: results.Bool}, {Name: "jct", Unit: "s"},
}

var spanColumns = append(study.SpanColumns(),
	results.Column{Name: "cores", Unit: "%"}, results.Column{Name: "memory", Unit: "MiB"})

var seriesColumns = []results.Column{
	{Name: "time", Unit: "s"}, {Name: "cores_used", Unit: "share"}, {Name: "waiting", Unit: "tasks"},
}

// write writes the tables of a cell. Tables over time are written for the first workload only.
func (s *simulations) write(c *study.Cell, one *node.Study, r *node.Result) error {
	if c.Tables == nil {
		return nil
	}
	err := c.Tables.Write(study.JobsTable, jobColumns, func(rows *study.Rows) error {
		for k := range r.Tasks {
			addTask(rows, kindOf(&one.Tasks[k]), &r.Tasks[k])
		}
		return nil
	})
	if err != nil || c.Workload > 0 {
		return err
	}
	err = c.Tables.Write(study.SpansTable, spanColumns, func(rows *study.Rows) error {
		addSpans(rows, one, r)
		return nil
	})
	if err != nil {
		return err
	}
	return c.Tables.Write(study.SeriesTable, seriesColumns, func(rows *study.Rows) error {
		for _, u := range useOf(one, r) {
			rows.Float(u.at.Seconds()).Float(u.cores).Int(int64(u.waiting)).End()
		}
		return nil
	})
}

// addTask adds a task to the table of jobs. A task that did not complete has no JCT.
func addTask(rows *study.Rows, kind string, t *node.Outcome) {
	rows.Text(t.Name).Text(kind).Ints(t.Device).Floats(t.Arrival.Seconds(), t.Began.Seconds(), t.Ended.Seconds(),
		t.Run.Seconds()).Ints(t.Starts).Float(t.Joules).Bool(!t.Failed).Float(jct(t)).End()
}

// addSpans adds the times at which tasks ran. Lanes are rows of a GPU in a figure; concurrent tasks use several.
func addSpans(rows *study.Rows, one *node.Study, r *node.Result) {
	last := map[int]time.Duration{}
	for _, span := range r.Spans {
		last[span.Task] = max(last[span.Task], span.To)
	}
	for k, lane := range node.Lanes(r.Spans) {
		span := r.Spans[k]
		end := "stopped"
		if last[span.Task] == span.To {
			end = map[bool]string{false: "completed", true: "failed"}[r.Tasks[span.Task].Failed]
		}
		t := &one.Tasks[span.Task]
		rows.Text(r.Tasks[span.Task].Name).Text(kindOf(t)).Ints(span.Device, lane).
			Floats(span.From.Seconds(), span.To.Seconds()).Text(end).Floats(t.Cores, t.Memory).End()
	}
}

// use is the state of a machine from a time onwards.
type use struct {
	at      time.Duration
	cores   float64 // share of the cores of all GPUs that tasks request, capped at 100% of each GPU
	waiting int     // tasks that have arrived and are not running or ended, including tasks that wait for other tasks
}

// change is a change of the state.
type change struct {
	at      time.Duration
	cores   float64 // of the device, percent
	device  int
	waiting int
}

// useOf returns the state after each change.
func useOf(one *node.Study, r *node.Result) (all []use) {
	changes := changesOf(one, r)
	asked, sum, waiting := map[int]float64{}, 0.0, 0
	for k, c := range changes {
		sum -= min(asked[c.device], 100)
		asked[c.device] += c.cores
		sum += min(asked[c.device], 100)
		if waiting += c.waiting; k+1 == len(changes) || changes[k+1].at > c.at {
			all = append(all, use{c.at, max(0, sum) / 100 / float64(max(1, len(one.Options.Devices))), waiting})
		}
	}
	return all
}

func changesOf(one *node.Study, r *node.Result) (all []change) {
	for _, s := range r.Spans {
		cores := one.Tasks[s.Task].Cores
		all = append(all, change{s.From, cores, s.Device, -1}, change{s.To, -cores, s.Device, 1})
	}
	for k := range r.Tasks {
		t := &r.Tasks[k]
		all = append(all, change{at: t.Arrival, waiting: 1})
		if t.Ended >= 0 {
			all = append(all, change{at: t.Ended, waiting: -1})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all
}
