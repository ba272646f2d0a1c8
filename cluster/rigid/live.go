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

// fewerLive returns the smallest number of live jobs of a trace with fewer of them than live.count; zero without one.
func (s *simulations) fewerLive() (least int) {
	for _, w := range s.workloads {
		if n := len(w.live()); n < s.Live.Count && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// liveMetrics are the metrics of live jobs that end by their losses.
var liveMetrics = []study.Metric{
	{Name: "live_jct_mean", Unit: "s", Title: "live completion", About: "mean completion time of the live jobs",
		Better: study.Lower, Format: "%.0f", Main: true},
	{Name: "live_work", Unit: "share", Title: "live work", About: "mean work of the live jobs until their ends, " +
		"relative to their work in the trace", Better: study.Lower, Format: "%.1f%%", Main: true},
	{Name: "live_missed", Unit: "jobs", Title: "live missed", About: "live jobs that ended after the most work, " +
		"because they needed more for their loss", Better: study.Lower, Format: "%.0f", Total: true},
	{Name: "live_first", Unit: "share", Title: "first", About: "mean part of the work in the trace after which a " +
		"live job first has its last loss without a decider; if it is small, the loss is noisy or rises again, and " +
		"LIVE WORK means little", Better: study.Neutral, Format: "%.0f%%"},
}

// aboutLive describes the live jobs that end by their losses.
func (s *simulations) aboutLive() string {
	return fmt.Sprintf("Live jobs that adapt end when their networks have the validation loss that they have without "+
		"the decider after their work in the trace, at the latest after %g times this work. Their networks were "+
		"trained during the simulation.", s.Live.MostWork)
}

// addLive adds the metrics of live jobs that end by their losses.
func (w *inputs) addLive(v study.Values, o *cluster.Outcome) {
	if !w.Live.Waits() {
		return
	}
	ids, jobs, missed, work, first, completion := w.live(), 0, 0, 0.0, 0.0, 0.0
	for _, p := range o.Pools {
		l, adapts := p.Learner.(*live.Learner)
		for _, j := range p.Jobs {
			if !slices.Contains(ids, j.Trace.ID) {
				continue
			}
			one := live.Untrained(j)
			if adapts {
				one = l.Result(j)
			}
			if one.Missed {
				missed++
			}
			jobs, work, first = jobs+1, work+one.Share, first+one.First
			completion += float64(j.Completion())
		}
	}
	if jobs > 0 {
		n := float64(jobs)
		v["live_jct_mean_s"], v["live_work_share"], v["live_first_share"] = finite(completion/n), finite(work/n),
			finite(first/n)
		v["live_missed_jobs"] = study.Number(missed)
	}
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
