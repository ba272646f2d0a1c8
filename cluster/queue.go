package cluster

import "graft/internal/events"

// Queue holds waiting jobs, ordered by keys that a scheduler computes. Jobs with equal keys stay in order of arrival.
// Create it with [NewQueue].
type Queue struct {
	by    []func(j *Job) float64
	heap  events.Heap[*Job] // used by a queue with keys
	came  int64
	list  []*Job // used by a queue without keys: jobs in order of arrival, starting at first
	first int
}

// mostKeys is the maximum number of keys.
const mostKeys = 2

// NewQueue returns an empty queue. Put computes the keys of a job with the functions by, one per key. The job with the
// smallest first key is at the head. A second key breaks ties; further keys are ignored. Without functions, the jobs
// are in order of arrival.
func NewQueue(by ...func(j *Job) float64) *Queue {
	return &Queue{by: by[:min(len(by), mostKeys)]}
}

// Put adds a job.
func (q *Queue) Put(j *Job) {
	if len(q.by) == 0 {
		q.list = append(q.list, j)
		return
	}
	key := events.Key{mostKeys: q.came}
	for k, by := range q.by {
		key[k] = events.Float(by(j))
	}
	q.came++
	q.heap.Push(key, j)
}

// First returns the job at the head, or nil if the queue is empty.
func (q *Queue) First() *Job {
	if len(q.by) > 0 {
		_, j, _ := q.heap.Head()
		return j
	}
	if q.first == len(q.list) {
		return nil
	}
	return q.list[q.first]
}

// Take removes the job at the head and returns it. It returns nil if the queue is empty.
func (q *Queue) Take() *Job {
	if len(q.by) > 0 {
		_, j, _ := q.heap.Pop()
		return j
	}
	j := q.First()
	if j == nil {
		return nil
	}
	q.list[q.first] = nil
	if q.first++; 2*q.first >= len(q.list) { // release the removed half
		q.list = q.list[:copy(q.list, q.list[q.first:])]
		q.first = 0
	}
	return j
}

// Len returns the number of jobs.
func (q *Queue) Len() int { return q.heap.Len() + len(q.list) - q.first }

// Start starts jobs from the head of the queue until a job has no placement.
func (q *Queue) Start(p *Pool) {
	for j := q.First(); j != nil && p.Start(j); j = q.First() {
		q.Take()
	}
}
