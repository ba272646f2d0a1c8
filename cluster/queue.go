package cluster

// Queue is jobs that wait, by numbers that a scheduler gives them; those that are equal stand
// in the order in which they came. It must be made by [NewQueue].
type Queue struct {
	list  []queued // a heap; of a queue without numbers the jobs as they came, from first on
	first int
	by    []func(j *Job) float64
	came  int64
}

// queued is a job with its numbers, so that no job is looked at when two are compared.
type queued struct {
	keys [mostKeys]float64
	came int64
	job  *Job
}

// mostKeys is by how many numbers a queue may be ordered.
const mostKeys = 2

// NewQueue is an empty queue. By are the numbers of a job, of which it comes before those with
// a larger one; a second decides where the first are equal, and more do not count. They are
// asked for when a job is put in. Without any, jobs stand as they came.
func NewQueue(by ...func(j *Job) float64) *Queue {
	return &Queue{by: by[:min(len(by), mostKeys)]}
}

// Put adds a job.
func (q *Queue) Put(j *Job) {
	added := queued{came: q.came, job: j}
	for k, by := range q.by {
		added.keys[k] = by(j)
	}
	q.list = append(q.list, added)
	q.came++
	if len(q.by) == 0 {
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
	if len(q.by) == 0 {
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
	x, y := &q.list[a], &q.list[b]
	for k := range x.keys {
		if x.keys[k] != y.keys[k] {
			return x.keys[k] < y.keys[k]
		}
	}
	return x.came < y.came
}
