package schedulers

import "graft/cluster/elastic"

// newFIFO orders jobs by arrival.
func newFIFO(*elastic.World) elastic.Scheduler {
	return newOrdered(func(*elastic.Job) float64 { return 0 })
}
