package estimate

import (
	"errors"
	"fmt"
	"time"

	"graft/cluster/trace"
)

// mostTicks is the maximum length of a table of ticks: about twenty years of ten-minute steps.
const mostTicks = 1 << 20

// TicksOf counts the submissions of a trace per time step: the number of jobs that request devices, and the number of
// requested devices, in which a part of a device counts as a fraction. The first step begins at midnight before the
// first job; the last step contains the last job. The argument zero is the date at which the trace's time is 0. A step
// of zero means ten minutes.
func TicksOf(jobs []trace.Job, zero time.Time, step time.Duration) ([]Tick, error) {
	o := ThroughputOptions{Step: step}
	o.EnsureDefaults()
	if err := errors.Join(o.Validate(), checkJobs(jobs)); err != nil {
		return nil, fmt.Errorf("count submissions: %w", err)
	}
	seconds := int64(o.Step / time.Second)
	first, last := jobs[0].Submit, jobs[0].Submit
	for k := range jobs {
		first, last = min(first, jobs[k].Submit), max(last, jobs[k].Submit)
	}
	begin := midnightBefore(zero, first)
	if n := (last-begin)/seconds + 1; n > mostTicks {
		return nil, fmt.Errorf("count submissions: the trace spans %d steps of %v; expected at most %d; remove jobs "+
			"that were submitted much earlier or later than most jobs", n, o.Step, mostTicks)
	}
	ticks := make([]Tick, (last-begin)/seconds+1)
	for k := range ticks {
		ticks[k].Time = zero.Add(time.Duration(begin+int64(k)*seconds) * time.Second)
	}
	for k := range jobs {
		if j := &jobs[k]; j.GPUs > 0 {
			t := &ticks[(j.Submit-begin)/seconds]
			t.Jobs++
			t.GPUs += j.Devices()
		}
	}
	return ticks, nil
}

// midnightBefore returns the second at which the day of a second begins.
func midnightBefore(zero time.Time, second int64) int64 {
	at := zero.Add(time.Duration(second) * time.Second).UTC()
	return second - int64(at.Hour())*3600 - int64(at.Minute())*60 - int64(at.Second())
}
