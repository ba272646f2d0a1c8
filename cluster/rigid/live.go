package rigid

import (
	"errors"
	"fmt"
	"slices"

	"graft/cluster"
	"graft/cluster/live"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/failure"
	"graft/internal/words"
)

// live returns the IDs of the live jobs of a trace.
func (w *inputs) live() []string {
	if !w.Live.On() {
		return nil
	}
	var ids []string
	for _, j := range w.base.Jobs {
		if j.GPUs > 0 && j.Duration > 0 {
			ids = append(ids, j.ID)
		}
	}
	return w.Live.Select(ids)
}

// checkLive returns an error for live jobs that no trace has. It reads the job file, so that the file belongs to the
// inputs of the study.
func (s *simulations) checkLive(env study.Env) error {
	if !s.Live.On() {
		return nil
	}
	if _, err := decode.ReadAll(env.Files, s.Live.Job, decode.LargestFile); err != nil {
		return fmt.Errorf("live.job: %w", err)
	}
	if len(s.workloads) < len(s.Workload.Traces) { // a quick check does not read large traces
		return nil
	}
	var found []string
	for _, w := range s.workloads {
		found = append(found, w.live()...)
	}
	unknown := slices.DeleteFunc(slices.Clone(s.Live.Jobs), func(id string) bool { return slices.Contains(found, id) })
	if len(unknown) > 0 {
		return failure.With(failure.Configuration, fmt.Errorf("live.jobs: no trace has the job %s with devices in the "+
			"simulated part; check the IDs with 'graft trace describe', or use live.count", words.Some(unknown, 4)))
	}
	if len(found) == 0 {
		return failure.With(failure.Configuration, errors.New("live.job is set, but no trace has a job with devices "+
			"that live.jobs or live.count selects"))
	}
	return nil
}

// writeTimelines writes the timelines of the live jobs: for each job the number of devices at its start and after each
// change, and the end of the job with zero devices.
func writeTimelines(t *study.Tables, changes []cluster.Change) error {
	var ids []string
	of := map[string][]cluster.Change{}
	for _, c := range changes {
		id := c.Job.Trace.ID
		if of[id] == nil {
			ids = append(ids, id)
		}
		of[id] = append(of[id], c)
	}
	return t.Write(live.Table, live.Columns(), func(rows *study.Rows) error {
		for _, id := range ids {
			line := live.NewTimeline(of[id])
			row := func(at float64, devices int) {
				rows.Text(id).Float(at).Int(int64(devices)).Int(int64(line.Waits)).End()
			}
			row(0, line.First)
			for _, c := range line.Changes {
				row(c.At, c.Devices)
			}
			row(line.Budget, 0)
		}
		return nil
	})
}
