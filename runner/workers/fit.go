package workers

import (
	"fmt"
)

// Load is the throughput and the memory use of concurrent workers on one device.
type Load struct {
	Workers int     // number of concurrent workers
	Rate    float64 // total throughput in images per second
	Memory  int64   // total memory in bytes; zero means unknown
}

// leastGain is the throughput factor below which doubling the workers is not worth the memory.
const leastGain = 1.05

// Fit finds the number of workers with the highest throughput on a device. It tries 1, 2, 4, … workers, up to the
// argument most. The argument limit is the maximum memory use of the workers in bytes; zero means no limit. The result
// why is the reason for ending the search. Fit extrapolates the memory use of earlier trials, and does not try a number
// that would exceed the limit. The search ends after a trial that fails, exceeds the limit, or increases throughput by
// less than 5%. If the trial with one worker fails or exceeds the limit, Fit returns an error.
func Fit(most int, limit int64, try func(workers int) (Load, error)) (best Load, why string, err error) {
	why = fmt.Sprintf("reached the maximum of %d workers", most)
	var grown int64 // expected memory growth in bytes if the workers double
	for n := 1; n <= most; n *= 2 {
		if expected := best.Memory + grown; limit > 0 && expected > limit {
			why = fmt.Sprintf("%d workers would need %d of %d MiB", n, expected>>20, limit>>20)
			break
		}
		l, err := try(n)
		if err == nil && limit > 0 && l.Memory > limit {
			err = fmt.Errorf("the worker uses %d MiB of memory, more than the limit of %d MiB", l.Memory>>20, limit>>20)
		}
		if err != nil && n == 1 {
			return best, "", fmt.Errorf("fit workers to the device: the job failed even with only one worker: %w", err)
		}
		if err != nil {
			why = fmt.Sprintf("%d workers do not fit: %v", n, err)
			break
		}
		if n > 1 && l.Rate < best.Rate*leastGain {
			why = fmt.Sprintf("%d workers train %.3g images/s, but %d workers train %.3g images/s", n, l.Rate,
				best.Workers, best.Rate)
			break
		}
		if grown = l.Memory; n > 1 {
			grown = 2 * (l.Memory - best.Memory)
		}
		best = l
	}
	if best.Workers == 0 {
		err = fmt.Errorf("fit workers to the device: the maximum number of workers is %d; must be at least 1", most)
	}
	return best, why, err
}
