package study

import (
	"math"

	"graft/internal/stat"
)

// missProbability is the probability that an interval does not contain the true mean.
const missProbability = 0.05

// side is a scheduler at a point.
type side struct{ point, scheduler int }

// addChanges compares each scheduler between points.
func (j *Job) addChanges(o *Outcome) {
	for point, base := range j.Plan.Bases {
		if base < 0 || base == point {
			continue
		}
		for k := range j.Plan.Schedulers {
			o.Changes = append(o.Changes, j.changes(side{point, k}, side{base, k})...)
		}
	}
}

// addFromBaseline compares the schedulers at each point with the baseline at the point from which differences are
// taken.
func (j *Job) addFromBaseline(o *Outcome) {
	p := j.Plan
	if !p.PairJobs || !p.PairSeeds || len(p.Workloads) > 1 {
		return
	}
	against := p.scheduler(j.against())
	for point := range p.Points {
		base := point
		if len(p.Bases) > 0 && p.Bases[point] >= 0 {
			base = p.Bases[point]
		}
		for k := range p.Schedulers {
			if k != against {
				o.FromBaseline = append(o.FromBaseline, j.changes(side{point, k}, side{base, against})...)
			}
		}
	}
}

// changes compares two sides by each of the compared metrics.
func (j *Job) changes(at, from side) (list []PointChange) {
	for _, key := range j.Plan.Compared {
		differences := j.differences(at, from, key)
		if len(differences) == 0 {
			continue
		}
		list = append(list, PointChange{
			Point: j.Plan.Points[at.point].Name, From: j.Plan.Points[from.point].Name,
			Scheduler: j.Plan.Schedulers[at.scheduler].Name, Metric: key,
			Change:   j.change(at, from, key, differences),
			OverJobs: j.overJobs(at, from, key),
		})
	}
	return list
}

// change returns the mean of the differences with its interval: over seeds or, for several workloads, over workloads
// and seeds, which are crossed. There is no interval if a simulation lacks the metric.
func (j *Job) change(at, from side, key string, differences []float64) stat.OverSeeds {
	if len(j.Plan.Workloads) == 1 {
		return stat.NewOverSeeds(differences, missProbability, stat.Unbounded)
	}
	s := stat.OverSeeds{N: len(differences), Mean: stat.Mean(differences)}
	i := stat.CrossedDifference(j.table(at.point, at.scheduler, key), j.table(from.point, from.scheduler, key))
	if !math.IsNaN(i.Low) && !math.IsNaN(i.High) && len(differences) >= stat.FewestSeeds {
		s.Low, s.High = &i.Low, &i.High
	}
	return s
}

// differences returns the differences of a metric between two sides, by workload and seed.
func (j *Job) differences(a, b side, key string) (list []float64) {
	at, from := j.table(a.point, a.scheduler, key), j.table(b.point, b.scheduler, key)
	for workload := range at {
		for k := range min(len(at[workload]), len(from[workload])) {
			if d := at[workload][k] - from[workload][k]; !math.IsNaN(d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// overJobs returns the interval of a difference between two sides over jobs and seeds; nil if the metric is not the
// mean of the jobs' samples.
func (j *Job) overJobs(a, b side, key string) *Interval {
	p := j.Plan
	if p.Crossed == nil || len(p.Workloads) > 1 || len(p.Rank) == 0 || key != p.Rank[0] {
		return nil
	}
	at, from := j.seeds(a.point, a.scheduler), j.seeds(b.point, b.scheduler)
	if len(at) < 2 || len(at) != len(from) {
		return nil
	}
	samples := make([][]float64, len(at))
	for k := range at {
		samples[k] = at[k].less(from[k])
	}
	return p.Crossed(a.point, samples)
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
