package node

import "slices"

// Bound returns a lower bound on the mean turnaround of a study over all schedules, in seconds. The bound ignores
// arrival times and the placement of tasks on devices. Sort the tasks by their amount of work. The k-th task to
// complete needs at least the time in which the fastest device does the k-th smallest amount of work. A task also uses
// an amount of core-seconds and of memory-seconds: its number of cores, or its memory, multiplied by its run time. By
// the time the k-th task completes, all devices together have provided at least the sum of the k smallest amounts of
// core-seconds. The same holds for memory-seconds.
func Bound(s Study) float64 {
	s.EnsureDefaults()
	speed, speeds, memory, first := 0.0, 0.0, 0.0, s.Tasks[0].Arrival
	for _, d := range s.Options.Devices {
		speed, speeds, memory = max(speed, d.Speed), speeds+d.Speed, memory+d.Memory*d.Speed
	}
	var works, cores, memories []float64
	for _, t := range s.Tasks {
		first = min(first, t.Arrival)
		works = append(works, t.Work.Seconds()/speed)
		cores = append(cores, t.Work.Seconds()*t.Cores/whole/speeds)
		memories = append(memories, t.Work.Seconds()*t.Memory/memory)
	}
	slices.Sort(works)
	prefixes(cores)
	prefixes(memories)
	sum := 0.0
	for k, t := range s.Tasks {
		sum += max(works[k], cores[k], memories[k]) - (t.Arrival - first).Seconds()
	}
	return max(sum/float64(len(s.Tasks)), meanWork(s, speed))
}

// meanWork is the mean turnaround of tasks that never wait.
func meanWork(s Study, speed float64) (mean float64) {
	for _, t := range s.Tasks {
		mean += t.Work.Seconds() / speed / float64(len(s.Tasks))
	}
	return mean
}

// prefixes sorts values and replaces each by its prefix sum.
func prefixes(values []float64) {
	slices.Sort(values)
	for k := 1; k < len(values); k++ {
		values[k] += values[k-1]
	}
}
