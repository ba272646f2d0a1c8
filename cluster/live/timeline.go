package live

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/cluster"
)

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

// NewTimeline creates a timeline from the changes of one job, in order of time. A device that the job shares with
// another job counts as half a device.
func NewTimeline(changes []cluster.Change) *Timeline {
	t := &Timeline{}
	began, devices, running := int64(0), 0, false
	for _, c := range changes {
		if running {
			t.Budget += float64(c.At - began)
		}
		waits := c.What == "preempt" || c.What == "fail" || c.What == "evict"
		began, running = c.At, !waits && c.What != "end"
		if waits {
			t.Waits++
		}
		if running {
			t.note(&devices, devicesOf(c))
		}
	}
	return t
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

// Scale scales all times to a budget; a budget of zero does nothing.
func (t *Timeline) Scale(budget float64) {
	if budget == 0 || t.Budget == 0 {
		return
	}
	by := budget / t.Budget
	for k := range t.Changes {
		t.Changes[k].At *= by
	}
	t.Budget = budget
}

// Until removes the changes at or after a time. A simulation counts whole seconds, so a job can change its devices
// after the end of its work.
func (t *Timeline) Until(end float64) {
	t.Changes = slices.DeleteFunc(t.Changes, func(c Change) bool { return c.At >= end })
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

// Assignments returns the keys of a job file that give a job this timeline.
func (t *Timeline) Assignments() []string {
	events := t.events(func(c Change) string { return fmt.Sprintf(", devices = %d", c.Devices) })
	return []string{fmt.Sprintf("time.devices=%d", t.First), events}
}

// Directions returns the key of a job file that tells a job when it gains or loses devices, but does not change its
// speed.
func (t *Timeline) Directions() string { return t.events(func(Change) string { return "" }) }

// events returns the key with the changes, each with more text.
func (t *Timeline) events(more func(c Change) string) string {
	var events []string
	for _, c := range t.Changes {
		change := "down"
		if c.Up {
			change = "up"
		}
		at := time.Duration(math.Round(c.At * float64(time.Second)))
		events = append(events, fmt.Sprintf("{at = %q, change = %q%s}", at.String(), change, more(c)))
	}
	return "time.events=[" + strings.Join(events, ", ") + "]"
}
