package tasks

import (
	"cmp"
	"slices"
)

// Load is a task of the least-loaded simulation.
type Load struct {
	Duration int     // in units of time
	Usage    float64 // of the GPU, in percent; no GPU is too full for it
}

// LoadRun is a task on the GPU that it got.
type LoadRun struct {
	Load
	On, Start, End int // GPU from 0; units of time
}

// DrawLoads draws tasks of 5 to 15 units of time and 30 to 80 percent.
func DrawLoads(count int, p *Python) (list []Load) {
	for range count {
		list = append(list, Load{p.Between(5, 15), p.Uniform(30, 80)})
	}
	return list
}

// lane is a GPU and the end of its last task.
type lane struct{ end, gpu int }

func (a lane) before(b lane) bool {
	return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.gpu, b.gpu)) < 0
}

// LeastLoaded gives each task to the GPU that is free first. Of equals it takes the first in the list of a
// heap from which the GPU before was removed without repair, as published, so that ties go by history.
func LeastLoaded(list []Load, gpus int) (runs []LoadRun) {
	var heap []lane
	for gpu := range gpus {
		heap = append(heap, lane{gpu: gpu})
	}
	if gpus < 1 {
		return nil
	}
	for _, l := range list {
		at := 0
		for k, other := range heap {
			if other.end < heap[at].end {
				at = k
			}
		}
		chosen := heap[at]
		runs = append(runs, LoadRun{l, chosen.gpu, chosen.end, chosen.end + l.Duration})
		chosen.end += l.Duration
		heap = push(slices.Delete(heap, at, at+1), chosen)
	}
	return runs
}

// push adds to a heap and moves the new element up only, as Python's heapq does.
func push(heap []lane, l lane) []lane {
	at := len(heap)
	heap = append(heap, l)
	for at > 0 {
		parent := (at - 1) / 2
		if !l.before(heap[parent]) {
			break
		}
		heap[at], at = heap[parent], parent
	}
	heap[at] = l
	return heap
}

// Usage is the usage of a GPU from a time on.
type Usage struct {
	Time  int     // in units of time
	Value float64 // in percent
}

// Timeline is the usage of each GPU at all times at which that of any GPU changes. Changes at one time are
// added in the order of their size, on which the last bits depend.
func Timeline(runs []LoadRun, gpus int) [][]Usage {
	type change struct {
		time  int
		usage float64
		gpu   int
	}
	var changes []change
	for _, r := range runs {
		changes = append(changes, change{r.Start, r.Usage, r.On}, change{r.End, -r.Usage, r.On})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.usage, b.usage), cmp.Compare(a.gpu, b.gpu))
	})
	now, lines := make([]float64, gpus), make([][]Usage, gpus)
	for k, c := range changes {
		now[c.gpu] += c.usage
		if k+1 == len(changes) || changes[k+1].time != c.time {
			for gpu, v := range now {
				lines[gpu] = append(lines[gpu], Usage{c.time, v})
			}
		}
	}
	return lines
}
