package schedulers

import "graft/cluster/elastic"

// peak holds the numbers of tasks at which jobs of a type are fastest.
type peak struct {
	workers, servers int
	epochs           float64 // per slot
}

// peaks caches the peak of each type.
type peaks struct {
	world  *elastic.World
	byType map[*elastic.JobType]peak
}

func newPeaks(w *elastic.World) *peaks { return &peaks{w, map[*elastic.JobType]peak{}} }

func (p *peaks) of(t *elastic.JobType) peak {
	best, known := p.byType[t]
	if !known {
		best.workers, best.servers, best.epochs = p.world.Best(t)
		p.byType[t] = best
	}
	return best
}

// left returns the remaining time of a job at its best speed, in slots.
func (p *peaks) left(j *elastic.Job) float64 { return j.EpochsLeft() / p.of(j.Model).epochs }
