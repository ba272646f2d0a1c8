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
					Change:   stat.NewOverSeeds(differences, missProbability, stat.Unbounded),
					OverJobs: j.overJobs(point, base, k, key),
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

// overJobs returns the interval of a difference between two points over jobs and seeds; nil if the metric is not the
// mean of the jobs' samples.
func (j *Job) overJobs(point, base, scheduler int, key string) *Interval {
	p := j.Plan
	if p.Crossed == nil || len(p.Workloads) > 1 || len(p.Rank) == 0 || key != p.Rank[0] {
		return nil
	}
	at, from := j.seeds(point, scheduler), j.seeds(base, scheduler)
	if len(at) < 2 || len(at) != len(from) {
		return nil
	}
	samples := make([][]float64, len(at))
	for k := range at {
		samples[k] = at[k].less(from[k])
	}
	return p.Crossed(point, samples)
}

// seeds returns the results of a scheduler at a point, by seed.
func (j *Job) seeds(point, scheduler int) (list []*saved) {
	for k := range j.cells {
		if c := &j.cells[k]; c.Point == point && c.Scheduler == scheduler {
			list = append(list, j.results[k])
		}
	}
	return list
}
