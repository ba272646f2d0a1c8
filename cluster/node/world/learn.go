package world

import (
	"context"
	"errors"
	"fmt"

	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/cluster/node/schedulers"
	"graft/cluster/study"
	"graft/internal/stat"
	"graft/learn"
	"graft/learn/candidates"
)

// objective is the cost that ranks schedulers.
func (f *File) objective() agent.Objective { return agent.Objective(f.Schedule.Objective) }

// LearnOptions returns the sections that 'graft learn' uses.
func (f *File) LearnOptions() (*learn.RunOptions, *candidates.Options) { return &f.Run, &f.Learn }

// CheckLearning returns an error if the file does not provide both training and validation workloads.
func (f *File) CheckLearning() error {
	train, validation := f.Learning()
	switch {
	case len(f.Task) > 0:
		return errors.New("learn a scheduler: the tables [[task]] define a single workload, but learning " +
			"needs several; remove the tables to generate workloads, or name a trace in workload.traces")
	case len(train) == 0 || len(validation) == 0:
		return fmt.Errorf("learn a scheduler: the trace yields %d training workloads and %d validation workloads; "+
			"expected at least one of each; lower tasks.max_tasks, tasks.train_count or tasks.validation_count",
			len(train), len(validation))
	}
	return nil
}

// Learner creates the learner for a seed.
func (f *File) Learner(seed uint64) (candidates.SchedulerLearner, error) {
	train, validation := f.Learning()
	return agent.NewLearner(train, validation, f.objective(), f.Learn, seed)
}

// Setting describes the machine. The description omits training data, since learned schedulers are compared only on
// other traces.
func (f *File) Setting() study.Setting {
	m, o := &f.Machine, f.Machine.options()
	var memories, speeds []float64
	for _, d := range o.Devices {
		memories, speeds = append(memories, d.Memory), append(speeds, d.Speed)
	}
	return study.NewSetting(map[string]any{"gpus": len(o.Devices), "memories_mb": memories, "speeds": speeds,
		"max_tasks_per_gpu": m.Together, "cores": m.Cores, "contention": m.Contention, "stop": m.Stop})
}

// Baselines simulates all schedulers that need no learning on the validation workloads.
func (f *File) Baselines(ctx context.Context) (*candidates.Baselines, error) {
	train, validation := f.Learning()
	r := &candidates.Baselines{Train: len(train), Validation: len(validation), Unit: f.objective().Unit(),
		Costs: map[string]float64{}}
	if f.objective() == agent.Completion {
		var bounds []float64
		for _, v := range validation {
			bounds = append(bounds, node.Bound(v))
		}
		r.Bound = stat.Mean(bounds)
	}
	for _, kind := range schedulers.Kinds() {
		var costs []float64
		for k, v := range validation {
			result, err := v.Run(ctx, kind, f.Schedule.options(f.Schedule.Seed, uint64(k)))
			if err != nil {
				return nil, err
			}
			costs = append(costs, f.objective().Of(&result.Summary))
		}
		r.Costs[kind.Name] = stat.Mean(costs)
	}
	return r, nil
}
