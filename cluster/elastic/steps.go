package elastic

import (
	"fmt"
	"math"
	"slices"

	"graft/trainer/goodput"
)

// Steps is a [Speed] model based on measured step times, for workers that exchange gradients directly. An epoch is
// EpochSize steps of one worker. The methods do not modify the model.
type Steps map[string]Trained

// Trained holds the step times and the batch size of a model, for [Steps].
type Trained struct {
	Times  goodput.StepTimes
	Device int // number of examples per worker and step
}

// Epochs implements [Speed].
func (m Steps) Epochs(d Deployment, seconds float64) float64 {
	return m.epochs(d.Model, placementOf(d.Workers), seconds)
}

// epochs returns zero if the placement has no time.
func (m Steps) epochs(t *JobType, placement []int, seconds float64) float64 {
	step, _, err := m[t.Name].Times.Step(placement, m[t.Name].Device)
	if err != nil {
		return 0
	}
	workers := 0
	for _, n := range placement {
		workers += n
	}
	return float64(workers) * seconds / step / t.EpochSize
}

// placementOf returns the number of workers on each of their nodes, in the order of the nodes.
func placementOf(workers []int) (placement []int) {
	sorted := slices.Sorted(slices.Values(workers))
	for k, node := range sorted {
		if k == 0 || node != sorted[k-1] {
			placement = append(placement, 0)
		}
		placement[len(placement)-1]++
	}
	return placement
}

// mostPlacements is the number of workers up to which all placements are compared: 20 workers have 627.
const mostPlacements = 20

// Limit implements [Speed].
func (m Steps) Limit(t *JobType, workers, _ int, seconds float64) (most float64) {
	partitions(workers, math.MaxInt, nil, func(placement []int) { most = max(most, m.epochs(t, placement, seconds)) })
	return most
}

// partitions calls each for all ways to split a number into parts, largest part first.
func partitions(n, largest int, parts []int, each func(parts []int)) {
	if n == 0 {
		each(parts)
		return
	}
	for part := min(n, largest); part > 0; part-- {
		partitions(n-part, part, append(parts, part), each)
	}
}

// Check implements [Speed].
func (m Steps) Check(t *JobType, most int) error {
	trained, known := m[t.Name]
	switch {
	case !known || trained.Times == nil:
		return fmt.Errorf("type %s has no step times; add its measurements", t.Name)
	case most > mostPlacements:
		return fmt.Errorf("the maximum number of workers is %d, but step times were measured for at most %d workers; "+
			"lower the maximum", most, mostPlacements)
	}
	for workers := 1; workers <= most; workers++ {
		if m.Limit(t, workers, 0, 1) <= 0 {
			return fmt.Errorf("type %s has no step time for %d workers with %d examples each; measure it, or lower "+
				"the maximum number of workers", t.Name, workers, trained.Device)
		}
	}
	return nil
}
