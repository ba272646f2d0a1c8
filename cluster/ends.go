package cluster

// ends is a heap of the jobs that run, by when they end and then by the order of their
// starts. Each job knows its place in it, so that one in the middle can be moved.
type ends []*Job

func (h ends) less(a, b int) bool {
	if h[a].end != h[b].end {
		return h[a].end < h[b].end
	}
	return h[a].run < h[b].run
}

func (h ends) swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].heap, h[b].heap = a, b
}

// next is when the next job ends.
func (h ends) next() int64 {
	if len(h) == 0 {
		return Never
	}
	return h[0].end
}

func (h *ends) push(j *Job) {
	j.heap = len(*h)
	*h = append(*h, j)
	h.up(j.heap)
}

func (h *ends) remove(j *Job) {
	at, last := j.heap, len(*h)-1
	h.swap(at, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	if at < last {
		h.fix(at)
	}
}

// fix moves a job whose end has changed.
func (h ends) fix(at int) {
	if !h.down(at) {
		h.up(at)
	}
}

func (h ends) up(at int) {
	for at > 0 && h.less(at, (at-1)/2) {
		h.swap(at, (at-1)/2)
		at = (at - 1) / 2
	}
}

func (h ends) down(at int) bool {
	from := at
	for {
		least := 2*at + 1
		if least >= len(h) {
			break
		}
		if least+1 < len(h) && h.less(least+1, least) {
			least++
		}
		if !h.less(least, at) {
			break
		}
		h.swap(at, least)
		at = least
	}
	return at > from
}
