package estimate

import (
	"cmp"
	"math"
	"slices"

	"graft/cluster/trace"
	"graft/internal/events"
)

// history holds running means over ended jobs, to estimate later jobs. It has no clock: call ended when a job has
// ended. The zero value is empty.
type history struct {
	all   summary
	users map[string]*summary
	kinds map[kind]*summary
	alike map[likeness]*summary
}

// kind is the key of similar jobs of one user.
type kind struct {
	user, name string
	gpus       float64
}

// likeness is the key of jobs with the same profiled work.
type likeness struct {
	kind
	model, dataset string
	batch          int
	amp            bool
}

type summary struct {
	count     float64
	sum, logs float64 // sums of seconds, and of the logarithms of seconds plus one
	last      float64 // seconds
}

func (s *summary) add(seconds float64) {
	s.count++
	s.sum += seconds
	s.logs += math.Log1p(seconds)
	s.last = seconds
}

func (s *summary) known() bool { return s != nil && s.count > 0 }

// mean returns the mean; missing if no job has ended.
func (s *summary) mean() float64 {
	if !s.known() {
		return math.NaN()
	}
	return s.sum / s.count
}

// usual returns the geometric mean, which is robust against a few long jobs.
func (s *summary) usual() float64 {
	if !s.known() {
		return math.NaN()
	}
	return math.Expm1(s.logs / s.count)
}

func (s *summary) latest() float64 {
	if !s.known() {
		return math.NaN()
	}
	return s.last
}

func (s *summary) size() float64 {
	if !s.known() {
		return 0
	}
	return s.count
}

func kindOfJob(j *trace.Job) kind { return kind{j.User, j.Name, j.Devices()} }

func likenessOf(j *trace.Job) likeness {
	t := j.Trains()
	return likeness{kindOfJob(j), t.Model, t.Dataset, t.Batch, t.AMP}
}

// ended adds a job that has ended.
func (h *history) ended(j *trace.Job) {
	if h.kinds == nil {
		h.users, h.kinds, h.alike = map[string]*summary{}, map[kind]*summary{}, map[likeness]*summary{}
	}
	seconds := float64(j.Duration)
	h.all.add(seconds)
	of(h.users, j.User).add(seconds)
	of(h.kinds, kindOfJob(j)).add(seconds)
	of(h.alike, likenessOf(j)).add(seconds)
}

// of returns the summary of a key, and creates it if needed.
func of[K comparable](known map[K]*summary, key K) *summary {
	s := known[key]
	if s == nil {
		s = new(summary)
		known[key] = s
	}
	return s
}

// mean returns the mean duration in seconds of ended jobs of the same user, name and devices; if none exist, of the
// same user; then of all jobs. It is NaN if no job has ended.
func (h *history) mean(j *trace.Job) float64 {
	for _, s := range []*summary{h.kinds[kindOfJob(j)], h.users[j.User]} {
		if s.known() {
			return s.mean()
		}
	}
	return h.all.mean()
}

// replay calls visit for each job in order of submission, with a history of the jobs that had ended before. A trace
// does not contain start times: jobs are assumed to start at submission, as on a cluster with enough room.
func replay(jobs []trace.Job, visit func(row int, h *history)) {
	order := upTo(len(jobs))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Submit, jobs[b].Submit) })
	h, running := new(history), events.Heap[int]{}
	for _, row := range order {
		for end, first, some := running.Head(); some && end[0] < jobs[row].Submit; end, first, some = running.Head() {
			running.Pop()
			h.ended(&jobs[first])
		}
		visit(row, h)
		running.Push(events.Key{endOf(&jobs[row]), int64(row)}, row)
	}
}

func endOf(j *trace.Job) int64 { return j.Submit + j.Duration }
