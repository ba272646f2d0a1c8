package adaptive

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"graft/cluster/trace"
)

// FromTrace makes jobs of the jobs of a cluster's trace, in the order of submission, with devices and a
// duration. As Pollux's authors do (Qiao et al., OSDI 2021, section 5.1), each trains an application of its
// size, in the classes below 1, 10 and 100 device-hours and above: one drawn of those in the nearest class
// that has any. An application's size is known ([Fixed]), or that of a job on one device with the smallest
// batch. A job asks for
// as many devices as in the trace, or as many as its application and the cluster have work and room for, and
// for the smallest batch on each. Times count from the first submission.
func FromTrace(jobs []trace.Job, apps map[string]*Application, o Options, random *rand.Rand) ([]Spec, error) {
	if len(jobs) == 0 || len(apps) == 0 {
		return nil, errors.New("make adaptive jobs of a trace: there are no jobs or no applications")
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
	}
	return made, nil
}

// ask sets application, devices and batch.
func (s *Spec) ask(a *Application, devices int) {
	s.App, s.Devices, s.Batch = a, 1, a.Alone
	if a.Alone == 0 {
		s.Devices = max(1, min(devices, a.Limits.Most/a.Limits.DeviceLeast))
		s.Batch = min(a.Limits.Most, a.Limits.Least*s.Devices)
	}
}

// sizes are the names of the classes of sizes.
var sizes = [...]string{"small", "medium", "large", "extra-large"}

// sizeClass is the class of the jobs of an application.
func (a *Application) sizeClass() (int, error) {
	if a.size >= 0 {
		return a.size, nil
	}
	seconds, err := a.OneDevice()
	return sizeClass(seconds), err
}

// sizeClass is the class of some device-seconds.
func sizeClass(seconds float64) int {
	if seconds < 3600 {
		return 0
	}
	return min(1+int(math.Log10(seconds/3600)), len(sizes)-1)
}

// nearest returns the applications of the class nearest to one; of two as near the smaller.
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
