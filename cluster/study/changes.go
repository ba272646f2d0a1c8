package study

import (
	"math"

	"graft/internal/stat"
)

// missProbability is the probability that an interval does not contain the true mean.
const missProbability = 0.05

// addChanges compares each scheduler between points.
func (j *Job) addChanges(o *Outcome) {
	for point, base := range j.Plan.Bases {
		if base < 0 || base == point {
			continue
		}
		for k := range j.Plan.Schedulers {
			for _, key := range j.Plan.Compared {
				differences := j.differences(point, base, k, key)
				if len(differences) == 0 {
					continue
				}
				o.Changes = append(o.Changes, PointChange{
					Point: o.Points[point].Name, From: o.Points[base].Name,
					Scheduler: j.Plan.Schedulers[k].Name, Metric: key,
					Change: stat.NewOverSeeds(differences, missProbability, stat.Unbounded),
				})
			}
		}
	}
}

// differences returns the differences of a metric of a scheduler between two points, by workload and seed.
func (j *Job) differences(point, base, scheduler int, key string) (list []float64) {
	at, from := j.table(point, scheduler, key), j.table(base, scheduler, key)
	for workload := range at {
		for k := range at[workload] {
			if d := at[workload][k] - from[workload][k]; !math.IsNaN(d) {
				list = append(list, d)
			}
		}
	}
	return list
}
