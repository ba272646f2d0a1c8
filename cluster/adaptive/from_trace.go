package adaptive

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"graft/cluster/trace"
)

// FromTrace creates adaptive jobs from the jobs of a cluster trace that have devices and a duration, in order of
// submission. Following Pollux's authors (Qiao et al., OSDI 2021, section 5.1), it classifies jobs by device-hours
// (below 1, below 10, below 100, and above) and draws an application for each job from the nearest class that has
// applications. If [Fixed] sets no class for an application, its class depends on the run time of a job on one device
// at the smallest batch size. A job requests as many devices as in the trace, up to the limits of its application and
// the cluster. Each job requests the smallest batch size per device. The work of a job is scaled so that the job uses
// as much device time as in the trace. Submission times are relative to the first submission.
func FromTrace(jobs []trace.Job, apps map[string]*Application, o Options, random *rand.Rand) ([]Spec, error) {
	if len(jobs) == 0 || len(apps) == 0 {
		return nil, fmt.Errorf("convert a trace to adaptive jobs: got %d jobs and %d applications; expected at least "+
			"one of each", len(jobs), len(apps))
	}
	o.EnsureDefaults()
	var classes [len(sizes)][]*Application
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		k, err := apps[name].sizeClass()
		if err != nil {
			return nil, err
		}
		classes[k] = append(classes[k], apps[name])
	}
	made := make([]Spec, len(jobs))
	for k := range jobs {
		j := &jobs[k]
		near := nearest(&classes, sizeClass(float64(j.Duration)*float64(j.GPUs)))
		made[k] = Spec{Name: j.ID, Submitted: float64(j.Submit - jobs[0].Submit)}
		made[k].ask(near[random.IntN(len(near))], min(j.GPUs, o.Nodes*o.Devices))
		seconds, err := made[k].Requested(o.Devices)
		if err != nil {
			return nil, err
		}
		made[k].Work = float64(j.Duration) * float64(j.GPUs) / (seconds * float64(made[k].Devices))
	}
	return made, nil
}

// ask sets application, requested devices and batch.
func (s *Spec) ask(a *Application, devices int) {
	s.App, s.Devices, s.Batch = a, 1, a.Alone
	if a.Alone == 0 {
		s.Devices = max(1, min(devices, a.Limits.Most/a.Limits.DeviceLeast))
		s.Batch = min(a.Limits.Most, a.Limits.Least*s.Devices)
	}
}

// sizes are the names of the size classes.
var sizes = [...]string{"small", "medium", "large", "extra-large"}

// sizeClass returns the size class of an application's jobs.
func (a *Application) sizeClass() (int, error) {
	if a.size >= 0 {
		return a.size, nil
	}
	seconds, err := a.OneDevice()
	return sizeClass(seconds), err
}

// sizeClass returns the size class of a number of device-seconds.
func sizeClass(seconds float64) int {
	if seconds < 3600 {
		return 0
	}
	return min(1+int(math.Log10(seconds/3600)), len(sizes)-1)
}

// nearest returns the applications of the nearest class; the smaller class on a tie.
func nearest(classes *[len(sizes)][]*Application, class int) []*Application {
	for far := range sizes {
		for _, k := range []int{class - far, class + far} {
			if k >= 0 && k < len(sizes) && len(classes[k]) > 0 {
				return classes[k]
			}
		}
	}
	return nil
}
