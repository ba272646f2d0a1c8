package main

import (
	"fmt"
	"math"
	"slices"
)

// measured holds the bursts of one comparison.
type measured struct {
	ours, twin []float64    // seconds
	first      [2][]float64 // losses of the first burst after the start
	peaks      [2]float64   // peak memory in MB, ours and the twin's
}

// burst is the work of one side of a pair. Its time is divided by a number of parts.
type burst struct {
	side *side
	command
	parts int
}

// alike returns the same burst for both sides.
func alike(us, twin *side, c command) [2]burst { return [2]burst{{us, c, 1}, {twin, c, 1}} }

// pairs lets both sides warm up, then take turns; the first side alternates.
func (m *measured) pairs(bursts [2]burst, rounds int) error {
	for k := -1; k < rounds; k++ {
		var times [2]float64
		for j := range 2 {
			which := (k + 1 + j) % 2
			a, err := bursts[which].side.ask(bursts[which].command)
			if err != nil {
				return err
			}
			times[which] = a.Seconds / float64(bursts[which].parts)
			m.peaks[which] = max(m.peaks[which], a.PeakMB)
			if k < 0 {
				m.first[which] = a.Losses
			}
		}
		if k >= 0 {
			m.ours, m.twin = append(m.ours, times[0]), append(m.twin, times[1])
		}
	}
	return nil
}

// ratio returns the median of the pairs' ratios with its quartiles.
func (m *measured) ratio() string {
	ratios := make([]float64, len(m.ours))
	for k := range ratios {
		ratios[k] = m.twin[k] / m.ours[k]
	}
	return fmt.Sprintf("%.2f\t%s", median(ratios), quartiles(ratios, "%.2f"))
}

func quartiles(values []float64, format string) string {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return fmt.Sprintf("["+format+" "+format+"]", sorted[n/4], sorted[n-1-n/4])
}

// agreement returns the difference between the two sides' losses. Rounding differences grow during training, so it
// compares the first burst.
func (m *measured) agreement() string {
	worst, n := 0.0, min(len(m.first[0]), len(m.first[1]))
	for k := range n {
		worst = math.Max(worst, math.Abs(m.first[0][k]-m.first[1][k])/m.first[1][k])
	}
	if worst == 0 {
		return fmt.Sprintf("%d equal", n)
	}
	return fmt.Sprintf("%d within %.0e", n, worst)
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
