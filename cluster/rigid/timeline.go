package rigid

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"graft/cluster"
	"graft/cluster/study"
	"graft/internal/failure"
)

// TimelineOptions selects the job to follow.
type TimelineOptions struct {
	Job string // ID of the job in the trace; required
	// scales the timeline so that the job has devices for this number of seconds in total; zero keeps the original
	// times
	Budget float64
}

// Timeline lists the changes of a job's devices. Time is counted only while the job has devices.
type Timeline struct {
	Budget  float64  // total seconds with devices
	First   int      // number of devices at the start
	Waits   int      // number of times that the job lost all devices and waited
	Changes []Change // changes in order of time
}

// Change is a change in a job's number of devices.
type Change struct {
	At      float64 // seconds with devices before the change
	Devices int     // number of devices after the change
	Up      bool    // the change added devices
}

// Follow runs the simulation that a file configures, and records the changes in one job's number of devices. The file
// must have exactly one trace, one scheduler and one arrival factor. A device that the job shares with another job
// counts as half a device.
func (f *File) Follow(ctx context.Context, env study.Env, o TimelineOptions) (*Timeline, error) {
	if len(f.Schedule.Schedulers) != 1 || len(f.Schedule.ArrivalFactors) != 1 || len(f.Workload.Traces) != 1 {
		return nil, failure.Usagef("a timeline needs exactly one trace, one scheduler and one arrival factor; " +
			"choose a scheduler with option scheduler")
	}
	if !(o.Budget >= 0) || math.IsInf(o.Budget, 0) {
		return nil, failure.Usagef("option budget is %g s; must be finite and at least 0", o.Budget)
	}
	s, err := f.read(env, f.Workload.Traces[0])
	if err != nil {
		return nil, err
	}
	policy := s.policy(f.Schedule.Schedulers[0])
	one, err := s.with(policy, f.Schedule.ArrivalFactors[0])
	if err != nil {
		return nil, err
	}
	if one.Failures, err = s.failures(f.Schedule.Seed); err != nil {
		return nil, err
	}
	out, err := one.Run(ctx, policy, cluster.Options{Placement: f.Cluster.Placement, Quirks: s.quirks(policy),
		Workers: f.Schedule.Workers, Follow: o.Job})
	if err != nil {
		return nil, err
	}
	t, err := timelineOf(out, o.Job)
	if err != nil {
		return nil, err
	}
	t.scale(o.Budget)
	return t, nil
}

// timelineOf extracts the timeline of the followed job.
func timelineOf(o *cluster.Outcome, id string) (*Timeline, error) {
	if len(o.Changes) == 0 {
		for _, r := range o.Refused {
			if r.ID == id {
				return nil, fmt.Errorf("job %s cannot run: %s; name another job", id, r.Why)
			}
		}
		return nil, fmt.Errorf("job %s was not scheduled: it is not in the trace, or outside the simulated part; "+
			"check the ID, or change cluster.from_seconds and cluster.to_seconds", id)
	}
	t := &Timeline{}
	began, devices, running := int64(0), 0, false
	for _, c := range o.Changes {
		if running {
			t.Budget += float64(c.At - began)
		}
		waits := c.What == "preempt" || c.What == "fail"
		began, running = c.At, !waits && c.What != "end"
		if waits {
			t.Waits++
		}
		if running {
			t.note(&devices, devicesOf(c))
		}
	}
	return t, nil
}

// devicesOf is the number of devices after a change. Shared devices count half.
func devicesOf(c cluster.Change) int {
	if c.Shared {
		return max(1, c.GPUs/2)
	}
	return c.GPUs
}

// note adds a change if the number of devices differs.
func (t *Timeline) note(devices *int, now int) {
	switch {
	case *devices == 0:
		t.First = now
	case now != *devices:
		t.Changes = append(t.Changes, Change{t.Budget, now, now > *devices})
	}
	*devices = now
}

// scale scales all times to a budget; a budget of zero does nothing.
func (t *Timeline) scale(budget float64) {
	if budget == 0 || t.Budget == 0 {
		return
	}
	by := budget / t.Budget
	for k := range t.Changes {
		t.Changes[k].At *= by
	}
	t.Budget = budget
}

// Write writes the timeline as a CSV table, which the key time.timeline of a job file can name.
func (t *Timeline) Write(w io.Writer) error {
	text := []byte("seconds,change,devices\n")
	for _, c := range t.Changes {
		change := ",down,"
		if c.Up {
			change = ",up,"
		}
		text = append(strconv.AppendFloat(text, c.At, 'f', -1, 64), change...)
		text = append(strconv.AppendInt(text, int64(c.Devices), 10), '\n')
	}
	_, err := w.Write(text)
	return err
}
