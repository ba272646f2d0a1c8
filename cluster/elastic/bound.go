package elastic

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"graft/internal/events"
)

// Bound is a lower bound on the mean completion time of a study under every scheduler, in slots. Mean is the maximum of
// Alone, SRPT and MeanBusy.
type Bound struct {
	Mean     float64
	Alone    float64 // bound by each job alone at its maximum speed
	SRPT     float64 // bound by all jobs on one machine, shortest remaining work first
	MeanBusy float64 // bound by mean busy times on one machine, plus half of Alone
}

// LowerBound computes a [Bound]. A scheduler decides only placements and start times. The bound holds for all such
// decisions, since it does not depend on them. Let E(j) be the true number of epochs of job j. Let T(j) be E(j) divided
// by the maximum number of epochs that job j can complete in one slot.
//
// Alone. A job never exceeds its maximum speed, so its completion time is at least T(j).
//
// SRPT. Assign a weight to each kind of resource so that all resources of the cluster together have weight one. The
// cost of an epoch is the weight of the job's resources multiplied by the length of the epoch in slots. Let v(j) be
// E(j) multiplied by the minimum cost of an epoch over all numbers of tasks. A job that holds resources of weight x
// completes work at a rate of at most x, measured in units of v, and all jobs together complete work at a rate of at
// most one. Now consider a single machine with preemption, on which job j arrives at the same time and needs the
// processing time v(j). This machine can complete every job at least as early as any schedule of the cluster does. On
// this machine, shortest remaining processing time first minimises the sum of completion times (Schrage, "A proof of
// the optimality of the shortest remaining processing time discipline", Operations Research 16, 1968). Jobs that hold
// resources until the end of their last slot use more than v(j), so the bound still holds.
//
// MeanBusy. Let M(j) be the mean time at which job j does its work, weighted by the work done. Since a job never
// exceeds its maximum speed, its completion time is at least M(j) + T(j)/2. On the single machine described above for
// SRPT, the sum of M(j) over all jobs is minimal if the machine always runs the arrived job with the smallest v(j),
// with preemption (Goemans, "Improved approximation algorithms for scheduling with release dates", SODA 1997).
//
// SRPT and MeanBusy hold for any weights of the resource kinds; the code tries several weights and takes the best
// bound. Scaling costs and rounding to whole slots only lengthen jobs, so the bounds ignore them. If speeds have
// errors, the bounds assume the best speed plus the maximum error.
func LowerBound(s Study) (Bound, error) {
	s.Options.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return Bound{}, fmt.Errorf("compute a lower bound on completion times: %w", err)
	}
	alone, err := s.alone()
	if err != nil {
		return Bound{}, fmt.Errorf("compute a lower bound on completion times: %w", err)
	}
	b := Bound{Alone: mean(alone)}
	for _, weights := range relaxations {
		jobs := s.volumes(weights)
		completions, _ := onOneMachine(jobs, true)
		_, busy := onOneMachine(jobs, false)
		b.SRPT = max(b.SRPT, completions)
		b.MeanBusy = max(b.MeanBusy, busy+b.Alone/2)
	}
	b.Mean = max(b.Alone, b.SRPT, b.MeanBusy)
	return b, nil
}

// relaxations are the tried weights of the kinds of resources.
var relaxations = [][Kinds]float64{{1, 0}, {0, 1}, {0.75, 0.25}, {0.5, 0.5}, {0.25, 0.75}}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// alone returns the time that each job takes at its best speed, in slots.
func (s *Study) alone() (times []float64, err error) {
	best := make(map[int]float64)
	for _, j := range s.Jobs {
		t := &s.Types[j.Type-1]
		if _, known := best[j.Type]; !known {
			_, _, epochs := Best(s.Speed, t, &s.Options)
			best[j.Type] = epochs * (1 + s.Options.SpeedError)
		}
		if best[j.Type] <= 0 {
			return nil, fmt.Errorf("job %d of type %s never ends: its speed is zero for every number of tasks; "+
				"correct the speed model", j.ID, t.Name)
		}
		times = append(times, j.RealEpochs/best[j.Type])
	}
	return times, nil
}

// machineJob is a job on the relaxed machine.
type machineJob struct {
	id, arrival int
	volume      float64 // work, in slots of the machine
}

// volumes returns all jobs by arrival.
func (s *Study) volumes(weights [Kinds]float64) (jobs []machineJob) {
	cheapest := make(map[int]float64)
	for _, j := range s.Jobs {
		if _, known := cheapest[j.Type]; !known {
			cheapest[j.Type] = s.cheapestEpoch(&s.Types[j.Type-1], weights)
		}
		jobs = append(jobs, machineJob{j.ID, j.Arrival, j.RealEpochs * cheapest[j.Type]})
	}
	slices.SortFunc(jobs, func(a, b machineJob) int {
		return cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.id, b.id))
	})
	return jobs
}

// cheapestEpoch returns the smallest product of cluster share and slots of an epoch of a type.
func (s *Study) cheapestEpoch(t *JobType, weights [Kinds]float64) float64 {
	least, total := math.Inf(1), s.Options.total()
	for workers, servers := range counts(&s.Options) {
		need, share := t.Worker.Times(workers).Plus(t.Server.Times(servers)), 0.0
		for k, weight := range weights {
			if total[k] > 0 {
				share += weight * float64(need[k]) / float64(total[k])
			}
		}
		if epochs := s.Speed.Limit(t, workers, servers, s.Options.Slot) * (1 + s.Options.SpeedError); epochs > 0 {
			least = min(least, share/epochs)
		}
	}
	return least
}

// onOneMachine runs jobs, sorted by arrival, on a machine of speed one. At any moment it runs the job with the least
// volume, counting the remaining volume or the whole. It returns the means of the times from arrival to completion and
// from arrival to the mean busy time.
func onOneMachine(jobs []machineJob, remaining bool) (completions, busy float64) {
	var queue events.Heap[*running]
	now, n := 0.0, float64(len(jobs))
	for next := 0; next < len(jobs) || queue.Len() > 0; {
		if queue.Len() == 0 {
			now = max(now, float64(jobs[next].arrival))
		}
		for ; next < len(jobs) && float64(jobs[next].arrival) <= now; next++ {
			r := &running{machineJob: jobs[next], left: jobs[next].volume}
			queue.Push(r.key(remaining), r)
		}
		until := math.Inf(1)
		if next < len(jobs) {
			until = float64(jobs[next].arrival)
		}
		_, r, _ := queue.Pop()
		done := min(r.left, until-now)
		if r.volume > 0 {
			busy += done / r.volume * (now + done/2 - float64(r.arrival)) / n
		}
		if now += done; done < r.left {
			r.left -= done
			now = until
			queue.Push(r.key(remaining), r)
			continue
		}
		completions += (now - float64(r.arrival)) / n
	}
	return completions, busy
}

// running is an uncompleted job on the machine.
type running struct {
	machineJob
	left float64
}

func (r *running) key(remaining bool) events.Key {
	if remaining {
		return events.Key{events.Float(r.left), int64(r.id)}
	}
	return events.Key{events.Float(r.volume), int64(r.id)}
}
