package world

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/cluster/node"
	"graft/internal/validate"
)

// Tasks configures the tasks if the file has no [[task]] sections. The tasks are generated, or taken from
// workload.traces: every job with at most one GPU becomes a task and keeps its arrival time and duration, except jobs
// without a duration and runaway jobs, which still run more than an hour beyond their time limits. The tasks of a trace
// are divided, in order, into workloads with max_tasks tasks each. If the trace does not record cores or memory, random
// values are used.
type Tasks struct {
	Least int           `config:"min_tasks,was=least"` // Minimum number of tasks per generated workload. Default 40.
	Most  int           `config:"max_tasks,was=most"`  // Maximum number of tasks per workload. Default 50.
	Unit  time.Duration // Time unit of generated task durations. Default 1s.
	// Mean time between arrivals (Poisson process) of generated tasks. Zero means that all tasks arrive at the start.
	Interval time.Duration `config:"arrival_interval,was=interval"`
	// Maximum relative error of the duration estimates that schedulers use, in [0, 1). Errors are drawn
	// uniformly between minus and plus this value. Default 0.
	EstimateError   float64
	Seed            uint64 // Random seed of the workloads. Default 1.
	TrainCount      int    // Number of training workloads. Default 100.
	ValidationCount int    // Number of validation workloads, used to select the best learned policy. Default 20.
	TestCount       int    // Number of test workloads, on which schedulers are compared. Default 20.
}

// EnsureDefaults fills in defaults.
func (t *Tasks) EnsureDefaults() {
	g := t.generator(0)
	t.Least, t.Most, t.Unit = g.Least, g.Most, g.Unit
	t.TrainCount, t.ValidationCount, t.TestCount = cmp.Or(t.TrainCount, 100), cmp.Or(t.ValidationCount, 20),
		cmp.Or(t.TestCount, 20)
}

// Limits of generated workloads: mostGenerated is the maximum number of tasks per workload, and mostWorkloads the
// maximum number of workloads per purpose.
const (
	mostGenerated = 100_000
	mostWorkloads = 10_000
)

// Validate returns an error that lists every invalid option.
func (t Tasks) Validate() error {
	var faults validate.Faults
	g := t.generator(1)
	if err := g.Validate(); err != nil {
		faults = append(faults, err)
	}
	faults.When(t.Most > mostGenerated, "max_tasks is %d; must be at most %d", t.Most, mostGenerated)
	for name, v := range map[string]int{"train_count": t.TrainCount, "validation_count": t.ValidationCount,
		"test_count": t.TestCount} {
		faults.When(v < 1 || v > mostWorkloads, "%s is %d; must be from 1 to %d", name, v, mostWorkloads)
	}
	return errors.Join(faults...)
}

func (t *Tasks) generator(memory float64) node.Generator {
	g := node.Generator{Least: t.Least, Most: t.Most, Unit: t.Unit, Interval: t.Interval, Error: t.EstimateError,
		Memory: memory}
	g.EnsureDefaults()
	return g
}

// Streams of random numbers of a seed.
const (
	traceStream = 1 << 40
	taskStream  = 1 << 41
	errorStream = 1 << 42 // of the estimates of the tasks of a trace
)

// seeded returns a stream of random numbers.
func seeded(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Purposes of workloads.
const (
	toLearn = iota
	toChoose
	toCompare
)

// Studies returns the studies on which schedulers are compared, one per workload. If the file lists tasks, they form
// the only workload; otherwise, the workloads are generated or taken from a trace.
func (f *File) Studies() []node.Study {
	if len(f.Task) > 0 {
		return []node.Study{f.study(f.specs)}
	}
	return f.workloads(toCompare, f.Tasks.TestCount)
}

// Learning returns the training and the validation workloads.
func (f *File) Learning() (train, validation []node.Study) {
	return f.workloads(toLearn, f.Tasks.TrainCount), f.workloads(toChoose, f.Tasks.ValidationCount)
}

func (f *File) study(specs []node.Spec) node.Study {
	return node.Study{Tasks: specs, Speed: f.speed, Options: f.Machine.options()}
}

// workloads draws workloads, or splits the tasks of the trace. Training workloads come first.
func (f *File) workloads(purpose, count int) (all []node.Study) {
	if f.trace() != "" {
		return f.divided(purpose)
	}
	g := f.Tasks.generator(f.Machine.smallest())
	for k := range count {
		all = append(all, f.study(g.Draw(seeded(f.Tasks.Seed, taskStream+uint64(purpose)<<32+uint64(k)))))
	}
	return all
}

// divided returns the workloads of a trace for a purpose.
func (f *File) divided(purpose int) (all []node.Study) {
	counts := [...]int{toLearn: f.Tasks.TrainCount, toChoose: f.Tasks.ValidationCount, toCompare: f.Tasks.TestCount}
	parts := slices.Collect(slices.Chunk(f.specs, f.Tasks.Most))
	for k := range purpose {
		parts = parts[min(len(parts), counts[k]):]
	}
	return f.studiesOf(parts[:min(len(parts), counts[purpose])])
}

// undivided returns the first workloads of a trace, without leaving any for learning.
func (f *File) undivided() []node.Study {
	parts := slices.Collect(slices.Chunk(f.specs, f.Tasks.Most))
	return f.studiesOf(parts[:min(len(parts), f.Tasks.TestCount)])
}

// studiesOf makes workloads of tasks. Arrivals count from the first one of each workload.
func (f *File) studiesOf(parts [][]node.Spec) (all []node.Study) {
	for _, part := range parts {
		specs := slices.Clone(part)
		for k := range specs {
			specs[k].Arrival -= part[0].Arrival
		}
		all = append(all, f.study(specs))
	}
	return all
}

// names names the workloads of a comparison.
func (f *File) names(count int) (names []string) {
	base := "tasks"
	if path := f.trace(); path != "" {
		base = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if count == 1 {
		return []string{base}
	}
	for k := range count {
		names = append(names, fmt.Sprintf("%s-%d", base, k+1))
	}
	return names
}
