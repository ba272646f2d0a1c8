package cluster

// Queue is jobs that wait, by an order of the scheduler's; those that are equal stand in the
// order in which they came. It must be made by [NewQueue].
type Queue struct {
	list   []queued // a heap; without an order of its own the jobs as they came, from first on
	first  int
	before func(a, b *Job) bool
	came   int64
}

type queued struct {
	job  *Job
	came int64
}

// NewQueue is an empty queue. Before says whether a job comes before another; nil is the
// order in which they came.
func NewQueue(before func(a, b *Job) bool) *Queue {
	return &Queue{before: before}
}

// Put adds a job.
func (q *Queue) Put(j *Job) {
	q.list = append(q.list, queued{j, q.came})
	q.came++
	if q.before == nil {
		return
	}
	for at := len(q.list) - 1; at > 0 && q.less(at, (at-1)/2); at = (at - 1) / 2 {
		q.list[at], q.list[(at-1)/2] = q.list[(at-1)/2], q.list[at]
	}
}

// First is the job at the head; nil is none.
func (q *Queue) First() *Job {
	if q.Len() == 0 {
		return nil
	}
	return q.list[q.first].job
}

// Take removes the job at the head; nil is none.
func (q *Queue) Take() *Job {
	if q.Len() == 0 {
		return nil
	}
	if q.before == nil {
		return q.next()
	}
	first, last := q.list[0].job, len(q.list)-1
	q.list[0], q.list[last] = q.list[last], queued{}
	q.list = q.list[:last]
	q.sink()
	return first
}

// next removes the job that came first. What was removed is given up once it is half of all.
func (q *Queue) next() *Job {
	j := q.list[q.first].job
	q.list[q.first] = queued{}
	if q.first++; 2*q.first >= len(q.list) {
		q.list = q.list[:copy(q.list, q.list[q.first:])]
		q.first = 0
	}
	return j
}

// Len is how many jobs there are.
func (q *Queue) Len() int { return len(q.list) - q.first }

// sink moves what stands at the head to its place.
func (q *Queue) sink() {
	for at := 0; ; {
		least := 2*at + 1
		if least >= len(q.list) {
			return
		}
		if least+1 < len(q.list) && q.less(least+1, least) {
			least++
		}
		if !q.less(least, at) {
			return
		}
		q.list[at], q.list[least] = q.list[least], q.list[at]
		at = least
	}
}

func (q *Queue) less(a, b int) bool {
	x, y := q.list[a], q.list[b]
	if q.before(x.job, y.job) {
		return true
	}
	return x.came < y.came && !q.before(y.job, x.job)
}
