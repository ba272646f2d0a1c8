package world

import (
	"math"
	"strconv"

	"graft/cluster/fabric"
	"graft/cluster/study"
	"graft/results"
)

var jobColumns = []results.Column{
	{Name: study.JobColumn, Kind: results.Int}, {Name: "model", Kind: results.String},
	{Name: "status", Kind: results.String}, {Name: "cause", Kind: results.String},
	{Name: "degree", Kind: results.Int}, {Name: "arrival", Unit: "s"}, {Name: "start", Unit: "s"},
	{Name: "end", Unit: "s"}, {Name: "jct", Unit: "s"},
}

// writeJobs writes a row for each job that arrived. Start, end and time to completion are empty if they do not exist.
func writeJobs(t *study.Tables, w *fabric.World) error {
	return t.Write(study.JobsTable, jobColumns, func(rows *study.Rows) error {
		for k := range w.Jobs {
			j := &w.Jobs[k]
			if j.Status == fabric.Absent {
				continue
			}
			time := math.NaN()
			if j.Status == fabric.Completed {
				time = j.Ended - j.Arrival
			}
			rows.Int(int64(j.ID)).Text(w.Study().Models[j.Model].Name).Text(j.Status.String()).Text(j.Cause.String()).
				Int(int64(j.Degree)).Floats(j.Arrival, j.Started, j.Ended, time).End()
		}
		return nil
	})
}

// writeSpans writes the times at which jobs held servers, for the first episode of the first point.
func (s *simulations) writeSpans(c *study.Cell, w *fabric.World) error {
	if c.Point > 0 || c.Workload > 0 || c.Run > 0 {
		return nil
	}
	return c.Tables.Write(study.SpansTable, study.SpanColumns(), func(rows *study.Rows) error {
		for k := range w.Jobs {
			j := &w.Jobs[k]
			if j.Run == nil {
				continue
			}
			until, how := ended(w, j)
			for _, server := range j.Run.Placed.Servers {
				rows.Text(strconv.Itoa(j.ID)).Text(w.Study().Models[j.Model].Name).
					Ints(server, 0).Floats(j.Started, until).Text(how).End()
			}
		}
		return nil
	})
}
