package world

import (
	"context"
	"math/rand/v2"

	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/cluster/study"
	"graft/learn"
	"graft/learn/candidates"
)

// LearnOptions returns the sections that 'graft learn' uses.
func (f *File) LearnOptions() (*learn.RunOptions, *candidates.Options) { return &f.Run, &f.Learn }

// CheckLearning returns nil, since fabric files always set the number of episodes.
func (f *File) CheckLearning() error { return nil }

// episodes draws the training and validation episodes at the first point. The compared episodes are others.
func (f *File) episodes() (train, validation []*fabric.Study, err error) {
	p := f.points()[0]
	base, err := f.cluster(&p, f.Fabric.quirks())
	if err != nil {
		return nil, nil, err
	}
	draw := func(count int, stream uint64) (all []*fabric.Study) {
		for k := 0; k < count && err == nil; k++ {
			var s *fabric.Study
			s, err = f.draw(base, &p, rand.New(rand.NewPCG(f.Demand.Seed+uint64(k), stream)))
			all = append(all, s)
		}
		return all
	}
	train, validation = draw(f.Demand.TrainCount, trainStream), draw(f.Demand.ValidationCount, validationStream)
	return train, validation, err
}

// Learner creates the learner for a seed.
func (f *File) Learner(seed uint64) (candidates.SchedulerLearner, error) {
	train, validation, err := f.episodes()
	if err != nil {
		return nil, err
	}
	return agent.NewLearner(train, validation, f.Learn, seed)
}

// Setting describes the cluster for the first combination of swept values. It names no training data, since schedulers
// are never compared on the episodes from which they learned.
func (f *File) Setting() study.Setting { return f.settingAt(&f.points()[0]) }

func (f *File) settingAt(p *point) study.Setting {
	return study.NewSetting(map[string]any{"network": p.network, "bandwidth": p.bandwidth, "max_degree": p.degree,
		"strategy": f.Fabric.Strategy, "memory": f.Fabric.Memory, "speed": f.Fabric.Speed})
}

// remarks warns of a learned scheduler that runs on another network than it learned on, at each point.
func (f *File) remarks(l *Scheduler, points []point) (lines []string) {
	for k := range points {
		for _, line := range l.Remarks(l.Kind.Name, f.settingAt(&points[k])) {
			if name := points[k].name(); name != "" {
				line = name + ": " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// Baselines evaluates all schedulers, and all constant degrees of parallelism, on the validation episodes. The metric
// is the fraction of blocked jobs.
func (f *File) Baselines(ctx context.Context) (*candidates.Baselines, error) {
	train, validation, err := f.episodes()
	if err != nil {
		return nil, err
	}
	r := &candidates.Baselines{Train: len(train), Validation: len(validation), Unit: "share",
		Costs: map[string]float64{}}
	kinds := fabric.Kinds()
	for _, degree := range validation[0].Offered() {
		kinds = append(kinds, fabric.ConstantKind(degree))
	}
	for _, kind := range kinds {
		mean := 0.0
		for k, s := range validation {
			w, err := fabric.NewWorld(s)
			if err == nil {
				err = fabric.Play(ctx, w, kind.New(f.draws(k, 0)))
			}
			if err != nil {
				return nil, err
			}
			mean += float64(w.Record.Blocked) / float64(len(w.Jobs)*len(validation))
		}
		r.Costs[kind.Name] = mean
	}
	return r, nil
}
