package adaptive

import "slices"

// attainedMost is the number of device-seconds after which Tiresias moves a job to its second queue.
const attainedMost = 57_600

// tiresias is the discretised two-dimensional scheduler without promotion of Gu et al., "Tiresias: A GPU Cluster
// Manager for Distributed Deep Learning", NSDI 2019. Jobs with little service come first, in order of submission, with
// the devices that users request.
type tiresias struct {
	queues [2][]*Job
	jobs   map[*Job]*queued
}

// queued is a job in a queue.
type queued struct {
	runs     bool
	executed float64 // seconds
	checked  float64 // time of the last check
	later    bool    // it is in the second queue
	shares   []Share
}

func newTiresias(*World) Scheduler { return &tiresias{jobs: map[*Job]*queued{}} }

func (t *tiresias) Schedule(w *World, active []*Job) [][]Share {
	for k := range t.queues {
		t.queues[k] = slices.DeleteFunc(t.queues[k], (*Job).Done)
	}
	for _, j := range active {
		if t.jobs[j] == nil {
			t.jobs[j] = &queued{}
			t.queues[0] = append(t.queues[0], j)
		}
	}
	t.age(w, active)
	t.choose(w)
	return t.place(w, active)
}

// age adds the time of running jobs, and moves jobs with much service to the second queue.
func (t *tiresias) age(w *World, active []*Job) {
	for _, j := range active {
		q := t.jobs[j]
		if q.runs {
			q.executed += w.now - q.checked
		}
		q.checked = w.now
		if q.runs && !q.later && q.executed*float64(j.Spec.Devices) >= attainedMost {
			q.later = true
			t.queues[0] = slices.DeleteFunc(t.queues[0], func(o *Job) bool { return o == j })
			t.queues[1] = append(t.queues[1], j)
		}
	}
}

// choose selects jobs in the order of the queues; smaller jobs overtake jobs that do not fit.
func (t *tiresias) choose(w *World) {
	free := w.Devices()
	for _, queue := range t.queues {
		for _, j := range queue {
			q := t.jobs[j]
			q.runs = j.Spec.Devices <= free
			if q.shares = nil; q.runs {
				free -= j.Spec.Devices
				q.shares = j.Allocation
			}
		}
	}
}

// place finds devices for jobs that start. Running jobs keep theirs.
func (t *tiresias) place(w *World, active []*Job) [][]Share {
	chosen := make([][]Share, len(active))
	for k, j := range active {
		chosen[k] = t.jobs[j].shares
	}
	free := roomsOf(w, chosen)
	for _, queue := range t.queues {
		for _, j := range queue {
			if q := t.jobs[j]; q.runs && len(q.shares) == 0 {
				q.shares = free.take(j.Spec.Devices)
			}
		}
	}
	for k, j := range active {
		chosen[k] = t.jobs[j].shares
	}
	return chosen
}
