package elastic

import "graft/internal/registry"

// Names of the scaling models.
const (
	NoScaling         = "none"
	CheckpointRestart = "checkpoint"
	HotScaling        = "hot"
)

// Scaling is a model of the time that a job loses at the start of a slot if its number of workers or servers has
// changed since the previous slot. The time is linear in the number of added or removed tasks.
type Scaling struct {
	Name    string
	About   string  // help text in one line
	Source  string  // publication that the numbers come from
	First   float64 // seconds for the first added or removed task
	Further float64 // seconds for each further task
}

// Listing returns the name and a one-line description.
func (s Scaling) Listing() (name, about string) { return s.Name, s.About }

const measurements = "measured in the DL2 project for 1 and 6 added parameter servers; linear for other numbers"

// Scalings returns all scaling models. Register new scaling models here.
func Scalings() registry.List[Scaling] {
	return registry.List[Scaling]{
		{NoScaling, "scaling takes no time", "assumption of the original simulator", 0, 0},
		{CheckpointRestart, "the job saves a checkpoint and restarts", measurements, 11.45, (16.05 - 11.45) / 5},
		{HotScaling, "the job keeps running while tasks join and leave", measurements, 0.062, (0.625 - 0.062) / 5},
	}
}

// ScalingNamed returns a scaling model by its name.
func ScalingNamed(name string) (Scaling, error) { return Scalings().Named("scaling cost", name) }

// Seconds returns the time, in seconds, that a job loses if the given number of tasks is added or removed. It returns
// zero if this number is not positive.
func (s Scaling) Seconds(tasks int) float64 {
	if tasks <= 0 {
		return 0
	}
	return s.First + float64(tasks-1)*s.Further
}

// changed returns the number of tasks that were added or removed since the last slot in which the job ran. The first
// start is not a change.
func (j *Job) changed() int {
	if j.lastWorkers+j.lastServers == 0 {
		return 0
	}
	return abs(len(j.Workers)-j.lastWorkers) + abs(len(j.Servers)-j.lastServers)
}

func abs(n int) int { return max(n, -n) }
