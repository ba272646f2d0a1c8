package assign

import "math"

// knapsack chooses one option per job by dynamic programming over the number of devices (Dudzinski and Walukiewicz,
// "Exact Methods for the Knapsack Problem and its Generalizations", EJOR 28, 1987).
type knapsack struct {
	best, next []float64 // by maximum number of used devices
	taken      []uint16  // option by job and devices
	chosen     []option
}

// solve returns one option per job, and the sum of their values. The first option of a job must need no devices.
func (k *knapsack) solve(jobs [][]option, devices int) (chosen []option, value float64) {
	width := devices + 1
	k.best, k.next = grow(k.best, width), grow(k.next, width)
	k.taken = grow(k.taken, width*len(jobs))
	clear(k.best)
	for row, options := range jobs {
		k.add(options, k.taken[row*width:(row+1)*width])
	}
	k.chosen = grow(k.chosen, len(jobs))
	value = k.best[devices]
	for row := len(jobs) - 1; row >= 0; row-- {
		o := jobs[row][k.taken[row*width+devices]]
		k.chosen[row] = o
		devices -= o.devices
	}
	return k.chosen, value
}

// add adds a job.
func (k *knapsack) add(options []option, taken []uint16) {
	for c := range k.next {
		k.next[c] = math.Inf(-1)
	}
	for at, o := range options {
		for c := o.devices; c < len(k.next); c++ {
			if v := k.best[c-o.devices] + o.value; v > k.next[c] {
				k.next[c], taken[c] = v, uint16(at)
			}
		}
	}
	k.best, k.next = k.next, k.best
}

// grow returns a slice of a given length. It reuses the memory of another slice if possible.
func grow[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n, 2*n)
	}
	return old[:n]
}
