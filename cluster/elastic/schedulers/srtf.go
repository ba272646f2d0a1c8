package schedulers

import "graft/cluster/elastic"

// newSRTF orders jobs by the time that they still need at their best speed, in slots.
func newSRTF(w *elastic.World) elastic.Scheduler {
	if w.Keeps(elastic.RemainingFraction) {
		return newOrdered((*elastic.Job).Left)
	}
	best := newBestSpeeds(w)
	return newOrdered(func(j *elastic.Job) float64 { return j.EpochsLeft() / best.of(j.Model) })
}

// bestSpeeds are the most epochs that jobs of each type complete in a slot with any tasks.
type bestSpeeds struct {
	world  *elastic.World
	byType map[*elastic.JobType]float64
}

func newBestSpeeds(w *elastic.World) *bestSpeeds {
	return &bestSpeeds{w, map[*elastic.JobType]float64{}}
}

func (b *bestSpeeds) of(t *elastic.JobType) float64 {
	speed, known := b.byType[t]
	if !known {
		speed = b.world.Best(t)
		b.byType[t] = speed
	}
	return speed
}
