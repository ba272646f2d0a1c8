package adaptive

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"graft/cluster/trace"
	"graft/files"
)

// sizes are the classes of jobs by device-time (Qiao et al., OSDI 2021, section 5.1), and hours the
// device-hours at which the next one begins.
var (
	sizes = []string{"small", "medium", "large", "extra-large"}
	hours = []float64{1, 10, 100}
)

// sizeOf is the class of device-seconds.
func sizeOf(seconds float64) (size int) {
	for size < len(hours) && seconds > hours[size]*3600 {
		size++
	}
	return size
}

// readTrace reads jobs of a format of package trace. Those without devices are left out.
func readTrace(fsys files.FS, path string, apps map[string]*Application) ([]Spec, error) {
	t, err := trace.ReadAll(fsys, path, trace.Options{Origin: trace.FirstJob, OnlyGPU: true})
	if err != nil {
		return nil, err
	}
	return FromTrace(t.Jobs, apps)
}

// FromTrace gives jobs of a trace that says only devices and durations applications to train: one whose
// name is the job's model, otherwise one of the class of the job's device-hours, or of the nearest class.
// Among several a hash of the job's ID decides. Jobs have the devices that they ask for, as far as the
// largest batch suffices for them, and each device has the smallest batch, as far as the largest allows.
// They last as long as the application does, whatever their duration was.
func FromTrace(jobs []trace.Job, apps map[string]*Application) ([]Spec, error) {
	classes, err := classesOf(apps)
	if err != nil {
		return nil, err
	}
	specs := make([]Spec, 0, len(jobs))
	for k := range jobs {
		j := &jobs[k]
		app := apps[j.Model]
		if app == nil {
			app = draw(nearest(classes, sizeOf(float64(j.GPUs)*float64(j.Duration))), j.ID)
		}
		specs = append(specs, app.request(j))
	}
	return specs, nil
}

// classesOf sorts applications by class, and within it by name. Where no fact says the class, it is that of
// a job alone on one device with the smallest batch.
func classesOf(apps map[string]*Application) ([][]*Application, error) {
	classes := make([][]*Application, len(sizes))
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		at := apps[name].size
		if at < 0 {
			seconds, err := apps[name].OneDevice()
			if err != nil {
				return nil, fmt.Errorf("application %s alone on one device: %w", name, err)
			}
			at = sizeOf(seconds)
		}
		classes[at] = append(classes[at], apps[name])
	}
	return classes, nil
}

// nearest are the applications of the class nearest to one; of two, those of the smaller.
func nearest(classes [][]*Application, to int) (apps []*Application) {
	least := math.MaxInt
	for at, list := range classes {
		if distance := max(at-to, to-at); len(list) > 0 && distance < least {
			apps, least = list, distance
		}
	}
	return apps
}

// draw chooses by a name, so that other jobs do not matter.
func draw(apps []*Application, name string) *Application {
	h := fnv.New64a()
	h.Write([]byte(name)) // it returns no error
	return apps[h.Sum64()%uint64(len(apps))]
}

// request is a job of the application with the devices of a job of a trace.
func (a *Application) request(j *trace.Job) Spec {
	s := Spec{Name: j.ID, Submitted: float64(j.Submit), App: a, Devices: 1, Batch: a.Alone}
	if a.Alone == 0 {
		s.Devices = max(min(j.GPUs, a.Limits.Most/max(a.Limits.DeviceLeast, 1)), 1)
		s.Batch = min(max(s.Devices*a.Limits.Least, a.Limits.Least), a.Limits.Most)
	}
	return s
}
