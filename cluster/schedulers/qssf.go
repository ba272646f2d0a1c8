package schedulers

import (
	"slices"

	"graft/cluster"
)

// qssf starts the job with the fewest expected device-seconds first, and waits if it has no placement (Hu et al.,
// Characterization and prediction of deep learning workloads in large-scale GPU datacenters, SC 2021).
type qssf struct {
	inTurn
	sizeFirst bool
	fresh     []*cluster.Job // jobs that arrived since the last call
}

// sizeFirst is the quirk that jobs that arrive while none waits are tried by size for one second.
var sizeFirst = cluster.Quirk{Name: "size-first",
	Fixed: "jobs that arrive when the queue is empty are ordered by priority from the start, not by size for the " +
		"first second"}

func newQSSF(s cluster.Setup) (cluster.Scheduler, error) {
	return &qssf{inTurn{cluster.NewQueue(priority, devices)}, s.Quirks.Keeps(sizeFirst), nil}, nil
}

func priority(j *cluster.Job) float64 { return j.Priority }

func devices(j *cluster.Job) float64 { return float64(j.GPUs) }

func (s *qssf) Arrived(j *cluster.Job) {
	j.Priority = j.DeviceSeconds(j.Estimate)
	s.fresh = append(s.fresh, j)
}

func (s *qssf) Schedule(p *cluster.Pool) int64 {
	if s.sizeFirst && s.waiting.Len() == 0 && len(s.fresh) > 0 {
		return s.bySize(p)
	}
	s.wait()
	return s.inTurn.Schedule(p)
}

func (s *qssf) wait() {
	for _, j := range s.fresh {
		s.waiting.Put(j)
	}
	s.fresh = s.fresh[:0]
}

// bySize implements the quirk: jobs that arrived while none waited are tried by size, and by priority only a second
// later.
func (s *qssf) bySize(p *cluster.Pool) int64 {
	tried := slices.Clone(s.fresh)
	slices.SortStableFunc(tried, func(a, b *cluster.Job) int { return a.GPUs - b.GPUs })
	for _, j := range tried {
		if !p.Start(j) {
			break
		}
	}
	s.fresh = slices.DeleteFunc(s.fresh, (*cluster.Job).Running)
	s.wait()
	if s.waiting.Len() == 0 {
		return cluster.Never
	}
	return p.Now() + 1
}
