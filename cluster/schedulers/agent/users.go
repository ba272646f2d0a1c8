package agent

import (
	"math"

	"graft/cluster/trace"
)

// users predicts the durations of jobs from ended jobs of the same user, as clusters can: users submit similar jobs
// again and again (Hu et al., Characterization and prediction of deep learning workloads, SC 2021).
type users struct {
	all   average
	of    map[string]*average
	sizes map[userSize]*average
}

// userSize is a user with a number of requested devices.
type userSize struct {
	user string
	gpus int
}

// average is the mean logarithm of durations, which forgets old jobs.
type average struct {
	mean  float64
	count int
}

// memory is the number of jobs after which an average forgets.
const memory = 10

func (a *average) add(v float64) {
	a.count++
	a.mean += (v - a.mean) / float64(min(a.count, memory))
}

// ended adds a job whose work is done.
func (u *users) ended(j *trace.Job) {
	if u.of == nil {
		u.of, u.sizes = map[string]*average{}, map[userSize]*average{}
	}
	v := math.Log1p(float64(j.Duration))
	u.all.add(v)
	at(u.of, j.User).add(v)
	at(u.sizes, userSize{j.User, j.GPUs}).add(v)
}

// at returns the average of a key, which is added if it is missing.
func at[K comparable](all map[K]*average, key K) *average {
	a := all[key]
	if a == nil {
		a = &average{}
		all[key] = a
	}
	return a
}

// expect returns the expected logarithm of a job's duration, and how much is known: 1 for ended jobs of the same user
// and size, 0.5 for other jobs of the user, 0.25 for other users, and 0 if no job has ended.
func (u *users) expect(j *trace.Job) (log, known float64) {
	if a := u.sizes[userSize{j.User, j.GPUs}]; a != nil {
		return a.mean, 1
	}
	if a := u.of[j.User]; a != nil {
		return a.mean, 0.5
	}
	if u.all.count > 0 {
		return u.all.mean, 0.25
	}
	return 0, 0
}
