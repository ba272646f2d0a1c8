package cluster

import "graft/internal/events"

// Queue holds waiting jobs, ordered by numbers that a scheduler gives them; jobs with equal
// numbers stand in the order in which they came. [NewQueue] makes one.
type Queue struct {
	by    []func(j *Job) float64
	heap  events.Heap[*Job] // of a queue with numbers
	came  int64
	list  []*Job // of a queue without numbers: jobs as they came, from first on
	first int
}

// mostKeys is the largest number of numbers that order a queue.
const mostKeys = 2

// NewQueue returns an empty queue. The functions in by return the numbers of a job; the smallest
// first number is at the head, a second one decides between equals, and more are ignored. They
// are called when a job is put in. Without any, jobs stand as they came.
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

// First returns the job at the head; nil if there is none.
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

// Take removes the job at the head and returns it; nil if there is none.
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
	if q.first++; 2*q.first >= len(q.list) { // give up the removed half
		q.list = q.list[:copy(q.list, q.list[q.first:])]
		q.first = 0
	}
	return j
}

// Len returns the number of jobs.
func (q *Queue) Len() int { return q.heap.Len() + len(q.list) - q.first }

// Start starts jobs from the head on, up to the first that has no place.
func (q *Queue) Start(p *Pool) {
	for j := q.First(); j != nil && p.Start(j); j = q.First() {
		q.Take()
	}
}
