package tasks

import (
	"fmt"
	"math"

	"graft/internal/random/numpy"
)

// SharedJob is a job of the simulations of several GPUs with one clock.
type SharedJob struct {
	Name   string  `json:"name"`
	Time   float64 `json:"total_time"` // in seconds
	GPU    float64 `json:"gpu"`        // usage of compute that it tends to, in percent
	Memory float64 `json:"mem"`        // likewise of memory
}

// DrawSharedJobs draws jobs of 5 to 50 seconds, 20 to 80 percent of compute and 10 to 70 of memory.
func DrawSharedJobs(count int, p *Python) (list []SharedJob) {
	for k := range count {
		list = append(list, SharedJob{fmt.Sprintf("Job%d", k+1), p.Uniform(5, 50), p.Uniform(20, 80),
			p.Uniform(10, 70)})
	}
	return list
}

// Slice is a time on a GPU.
type Slice struct {
	Job        string
	On         int     // GPU, from 0
	Start, End float64 // in seconds
}

// Sample is the usage of a GPU at a time.
type Sample struct {
	Time        float64 // in seconds; whole ones under round robin
	GPU, Memory float64 // in percent
}

// Shared is a simulation of several GPUs.
type Shared struct {
	Slices   []Slice
	Events   []string // lines printed by round robin
	Usage    [][]Sample
	Makespan float64 // in seconds; the sum of all times, since one clock serves all GPUs
}

// Constants of the published trace of usage.
const (
	sampleStep = 0.1  // seconds between samples
	approach   = 0.02 // share of the way to its target that usage goes in a sample
	noiseScale = 2    // standard deviation of the noise, in percent
)

// Noise returns NumPy's normal numbers with mean zero and a deviation of two percent from a seed. A few in
// ten thousand differ by a unit in the last place or two, since NumPy's logarithm is not rounded correctly.
func Noise(seed uint32) func() float64 {
	r := numpy.New(seed)
	return func() float64 { return noiseScale * r.NormFloat64() }
}

// sharedRun is a simulation under way.
type sharedRun struct {
	Shared
	noise func() float64
	now   float64
	last  []Sample // of each GPU
	round bool
}

func newSharedRun(gpus int, noise func() float64) (*sharedRun, error) {
	if gpus < 1 {
		return nil, fmt.Errorf("simulate GPUs with one clock: %d GPUs; expected at least one", gpus)
	}
	return &sharedRun{Shared: Shared{Usage: make([][]Sample, gpus)}, noise: noise, last: make([]Sample, gpus)}, nil
}

// run lets a job run on a GPU and samples its usage, which stays where it is while the GPU is idle.
func (r *sharedRun) run(j SharedJob, gpu int, seconds float64) {
	start, u := r.now, &r.last[gpu]
	r.now += seconds
	for t := start; t < r.now; t += sampleStep {
		u.GPU, u.Memory = r.toward(u.GPU, j.GPU), r.toward(u.Memory, j.Memory)
		if u.Time = t; r.round {
			u.Time = math.RoundToEven(t)
		}
		r.Usage[gpu] = append(r.Usage[gpu], *u)
	}
	r.Slices = append(r.Slices, Slice{j.Name, gpu, start, r.now})
	r.Makespan = r.now
}

func (r *sharedRun) toward(value, target float64) float64 {
	value += float64(approach * (target - value))
	if r.noise != nil {
		value += r.noise()
	}
	return max(0, min(100, value))
}

// SharedFCFS runs jobs in order, on GPUs in turn, but one at a time. Noise is added to each sample of
// compute and then of memory, in percent; nil adds none.
func SharedFCFS(list []SharedJob, gpus int, noise func() float64) (Shared, error) {
	r, err := newSharedRun(gpus, noise)
	if err != nil {
		return Shared{}, err
	}
	for k, j := range list {
		r.run(j, k%gpus, j.Time)
	}
	return r.Shared, nil
}

// SharedRR runs slices of so many seconds, one at a time. The GPU of a slice is the whole seconds of its start
// modulo the number of GPUs. Noise is that of SharedFCFS.
func SharedRR(list []SharedJob, gpus int, slice float64, noise func() float64) (Shared, error) {
	r, err := newSharedRun(gpus, noise)
	if err != nil {
		return Shared{}, err
	}
	if !(slice > 0) {
		return Shared{}, fmt.Errorf("simulate round robin: slices of %g seconds; expected a positive number", slice)
	}
	r.round = true
	queue := append([]SharedJob(nil), list...)
	for len(queue) > 0 {
		j := queue[0]
		queue = queue[1:]
		part, end := min(slice, j.Time), "completed"
		r.run(j, int(math.Mod(r.now, float64(gpus))), part)
		if j.Time -= part; j.Time != 0 {
			queue, end = append(queue, j), "paused"
		}
		r.Events = append(r.Events, fmt.Sprintf("Job %s %s at time %.2fs.", j.Name, end, r.now))
	}
	return r.Shared, nil
}
