package tasks

import (
	"cmp"
	"fmt"
	"slices"
)

// Process needs one processor.
type Process struct {
	ID             string
	Arrival, Burst int // in whole units of time
}

// Completed is a process that has ended.
type Completed struct {
	Process
	Start, End          int // first start, and end
	Waiting, Turnaround int // from the arrival, without and with the burst
}

func completed(p Process, start, end int) Completed {
	return Completed{p, start, end, end - p.Arrival - p.Burst, end - p.Arrival}
}

// Turn is a time on the processor.
type Turn struct {
	ID         string
	Start, End int
}

// Processed is a schedule of one processor.
type Processed struct {
	Done  []Completed // in the order of their ends
	Turns []Turn
}

// Means returns the mean waiting and turnaround, and the processes that end in a unit of time; zeros without
// processes.
func (p Processed) Means() (waiting, turnaround, throughput float64) {
	if len(p.Done) == 0 {
		return 0, 0, 0
	}
	waits, turnarounds := 0, 0
	for _, d := range p.Done {
		waits, turnarounds = waits+d.Waiting, turnarounds+d.Turnaround
	}
	n := float64(len(p.Done))
	if end := p.Done[len(p.Done)-1].End; end > 0 {
		throughput = n / float64(end)
	}
	return float64(waits) / n, float64(turnarounds) / n, throughput
}

// run lets a process run from a time to its end.
func (p *Processed) run(q Process, start int) (end int) {
	end = start + q.Burst
	p.Done, p.Turns = append(p.Done, completed(q, start, end)), append(p.Turns, Turn{q.ID, start, end})
	return end
}

// ListOrder runs processes in the order of the list, whatever their arrivals: the published FCFS.
func ListOrder(list []Process) (p Processed) {
	now := 0
	for _, q := range list {
		now = p.run(q, max(now, q.Arrival))
	}
	return p
}

// SJF runs the shortest process that has arrived to its end. Equal ones go by arrival and then by the list.
func SJF(list []Process) (p Processed) {
	left := slices.Clone(list)
	slices.SortStableFunc(left, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.Burst, b.Burst))
	})
	for now := 0; len(left) > 0; {
		now = max(now, left[0].Arrival)
		best := 0
		for k, q := range left {
			if q.Arrival <= now && q.Burst < left[best].Burst {
				best = k
			}
		}
		now = p.run(left[best], now)
		left = slices.Delete(left, best, best+1)
	}
	return p
}

// begun is a process in the queue of round robin.
type begun struct {
	Process
	left, start int // start is -1 before it
}

// RR runs processes in turns of at most a quantum, which is positive. A process that is preempted queues
// before those that arrived in its turn.
func RR(list []Process, quantum int) (p Processed, err error) {
	if quantum < 1 {
		return p, fmt.Errorf("schedule round robin: a quantum of %d; expected at least 1", quantum)
	}
	future := slices.Clone(list)
	slices.SortStableFunc(future, func(a, b Process) int { return cmp.Compare(a.Arrival, b.Arrival) })
	var queue []begun
	for now := 0; len(queue)+len(future) > 0; {
		if len(queue) == 0 {
			now = max(now, future[0].Arrival)
		}
		for ; len(future) > 0 && future[0].Arrival <= now; future = future[1:] {
			queue = append(queue, begun{future[0], future[0].Burst, -1})
		}
		b := queue[0]
		queue = queue[1:]
		now = p.turn(&b, now, quantum)
		if b.left > 0 {
			queue = append(queue, b)
		}
	}
	return p, nil
}

// turn runs a process for at most a quantum.
func (p *Processed) turn(b *begun, now, quantum int) (end int) {
	if b.start < 0 {
		b.start = now
	}
	end = now + min(quantum, b.left)
	b.left -= end - now
	p.Turns = append(p.Turns, Turn{b.ID, now, end})
	if b.left == 0 {
		p.Done = append(p.Done, completed(b.Process, b.start, end))
	}
	return end
}

// RRText returns the published program's output for processes that all arrive at time 0.
func RRText(list []Process, quantum int) (lines []string, err error) {
	left := make(map[string]int)
	for k := range list {
		left[list[k].ID] += list[k].Burst
	}
	p, err := RR(list, quantum)
	if err != nil {
		return nil, err
	}
	now := 0
	for _, t := range p.Turns {
		lines = append(lines, fmt.Sprintf("Time %d: Process %s starts execution", t.Start, t.ID))
		now = t.End
		if left[t.ID] -= t.End - t.Start; left[t.ID] > 0 {
			lines = append(lines, fmt.Sprintf("Process %s did not finish. Remaining time: %d", t.ID, left[t.ID]))
		} else {
			lines = append(lines, fmt.Sprintf("Process %s finished at time %d", t.ID, now))
		}
	}
	return append(lines, fmt.Sprintf("All processes completed by time %d", now)), nil
}
