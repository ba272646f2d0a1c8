package node

import (
	"slices"
	"time"
)

// Lanes assigns each span to the first lane of its device that is free during the whole span, and returns the lane of
// each span. Concurrent tasks get different lanes, so a figure can draw them next to each other.
func Lanes(spans []Span) []int {
	order := make([]int, len(spans))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(spans[a].From - spans[b].From) })
	lanes := make([]int, len(spans))
	until := map[int][]time.Duration{} // by device and lane
	for _, k := range order {
		s := spans[k]
		free := slices.IndexFunc(until[s.Device], func(to time.Duration) bool { return to <= s.From })
		if free < 0 {
			free = len(until[s.Device])
			until[s.Device] = append(until[s.Device], 0)
		}
		until[s.Device][free] = s.To
		lanes[k] = free
	}
	return lanes
}
