package elastic

import "math"

// Load returns the fraction of the cluster that the jobs need from the first slot to the last arrival. Each job is
// assumed to run with the numbers of workers and servers that minimise its need. If the load is above 1, jobs queue
// under every scheduler. The need of a job is its run time multiplied by its dominant share, the largest fraction that
// it uses of any resource (Ghodsi et al., Dominant Resource Fairness, 2011). Load returns NaN if a type has no positive
// speed, or all jobs arrive in one slot.
func (s Study) Load() float64 {
	o := s.Options
	o.EnsureDefaults()
	need := map[int]float64{} // seconds of the whole cluster per epoch, by type; speeds may lack types that no job has
	sum, last := 0.0, 0
	for _, j := range s.Jobs {
		if _, known := need[j.Type]; !known {
			need[j.Type] = s.leastNeed(&s.Types[j.Type-1], &o)
		}
		sum, last = sum+j.RealEpochs*need[j.Type], max(last, j.Arrival)
	}
	if last == 0 {
		return math.NaN()
	}
	return sum / (float64(last) * o.Slot)
}

// leastNeed is the least time of the whole cluster that an epoch of a type takes.
func (s Study) leastNeed(t *JobType, o *Options) float64 {
	least, total := math.NaN(), o.total()
	for workers, servers := range counts(o) {
		rate := s.Speed.Limit(t, workers, servers, 1)
		if rate <= 0 {
			continue
		}
		share := 0.0
		for k, all := range total {
			share = max(share, float64(workers*t.Worker[k]+servers*t.Server[k])/float64(all))
		}
		if need := share / rate; !(need >= least) {
			least = need
		}
	}
	return least
}
