package cluster

import (
	"maps"
	"math"
	"slices"

	"graft/internal/stat"
)

// Summary holds statistics over jobs of an outcome. All times are in seconds. Statistics over zero jobs are NaN.
type Summary struct {
	Jobs       int    // number of simulated jobs
	Completion Spread // time from submission to end
	Queue      Spread // total waiting time, including the time in a profiler's queue
	// mean bounded slowdown: a job's completion time divided by its duration, or by ten seconds if the duration is
	// shorter; at least 1 for each job. The duration of a job that reached its time limit is the limit
	Slowdown    float64
	Preemptions int            // total number of preemptions
	Counts      map[string]int // number of jobs by event that their policy records
	// Jain's fairness index over the users' mean slowdowns: 1 if all users have the same slowdown, and 1 divided by the
	// number of users in the worst case
	Fairness float64
	Last     int64 // second at which the last job ended
}

// Spread summarizes a distribution of values. Quantiles are interpolated between neighbouring values.
type Spread struct {
	Mean   float64
	Median float64
	P90    float64
	P99    float64
	P999   float64
	Max    float64
	Sum    int64
}

// shortest is the minimum duration in a slowdown: a job that ends immediately would have an infinite one (Feitelson et
// al., Theory and practice in parallel job scheduling, 1997).
const shortest = 10

// Summarizer computes summaries. It keeps its memory for the next one. The zero value is ready for use.
type Summarizer struct {
	completion, queue, spare []int64
}

// Summarize computes statistics over jobs.
func (z *Summarizer) Summarize(jobs []*Job) Summary {
	s := Summary{Counts: map[string]int{}}
	z.completion, z.queue = slices.Grow(z.completion[:0], len(jobs)), slices.Grow(z.queue[:0], len(jobs))
	users := map[string]*share{}
	for _, j := range jobs {
		z.completion, z.queue = append(z.completion, j.Completion()), append(z.queue, j.Queue)
		slow := float64(j.Completion()) / float64(max(j.alone(), shortest))
		s.Slowdown += max(1, slow)
		u := users[j.Trace.User]
		if u == nil {
			u = &share{}
			users[j.Trace.User] = u
		}
		u.add(max(1, slow))
		s.count(j)
	}
	s.Jobs = len(jobs)
	s.Slowdown /= float64(s.Jobs)
	s.Completion, s.Queue = z.spread(z.completion), z.spread(z.queue)
	s.Fairness = jain(users)
	return s
}

// alone returns the seconds that a job would take if it started at once.
func (j *Job) alone() int64 {
	if j.TimedOut() {
		return min(j.Trace.Duration, j.Trace.Allowed())
	}
	return j.Trace.Duration
}

func (s *Summary) count(j *Job) {
	s.Preemptions += int(j.Preemptions)
	if j.Record != nil {
		j.Record.Count(s.Counts)
	}
	s.Last = max(s.Last, j.End)
}

func (z *Summarizer) spread(values []int64) Spread {
	z.spare = stat.SortInts(values, z.spare)
	s := Spread{Max: math.NaN(), Median: stat.Quantile(values, 0.5), P90: stat.Quantile(values, 0.9),
		P99: stat.Quantile(values, 0.99), P999: stat.Quantile(values, 0.999)}
	for _, v := range values {
		s.Sum += v
	}
	s.Mean = float64(s.Sum) / float64(len(values))
	if len(values) > 0 {
		s.Max = float64(values[len(values)-1])
	}
	return s
}

type share struct {
	sum   float64
	count int
}

func (s *share) add(x float64) {
	s.sum += x
	s.count++
}

// join adds the values of another share.
func (s *share) join(o share) {
	s.sum += o.sum
	s.count += o.count
}

// jain returns Jain's fairness index over the means of users.
func jain(users map[string]*share) float64 {
	var slowdowns []float64
	for _, name := range slices.Sorted(maps.Keys(users)) { // sorted, so that sums are reproducible
		slowdowns = append(slowdowns, users[name].sum/float64(users[name].count))
	}
	return stat.Jain(slowdowns)
}

// Used returns the utilization of all pools, and of reserved nodes, up to the last submission: the device-seconds in
// use, divided by all device-seconds.
func (o *Outcome) Used() float64 {
	used, all := 0.0, 0.0
	for _, p := range slices.Concat(o.Pools, o.Reserved) {
		used, all = used+p.Used, all+p.All
	}
	return used / all
}

// Power is the power of a device in watts.
type Power struct{ Busy, Idle float64 }

// Joules returns the energy of all devices in service until the last job ended. A device with several jobs counts once,
// and a device out of service uses no energy.
func (o *Outcome) Joules(w Power) float64 {
	joules := 0.0
	for _, p := range slices.Concat(o.Pools, o.Reserved) {
		joules += w.Busy*p.UsedEver + w.Idle*(p.AllEver-p.UsedEver)
	}
	return joules
}
