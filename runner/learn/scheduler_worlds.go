package learn

import (
	"cmp"
	"context"
	"math"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/cluster/fabric"
	"graft/cluster/node"
	"graft/cluster/node/agent"
	nodeschedulers "graft/cluster/node/schedulers"
	"graft/config"
	"graft/internal/stat"
	"graft/learn"
	"graft/learn/candidates"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
)

// readWorld reads a file of schedulers that learn.
func readWorld(env *app.Env, path string, set []string) (world, error) {
	if config.KindOf(env.Files, path) == config.NodeKind {
		n, err := config.ReadNode(env.Files, path, set)
		if err == nil {
			err = n.CheckLearning()
		}
		return tasks{n}, err
	}
	if config.KindOf(env.Files, path) == config.FabricKind {
		f, err := config.ReadFabric(env.Files, path, set)
		return steps{f}, err
	}
	l, err := config.ReadElasticLearning(env.Files, path, set)
	return jobs{l}, err
}

// jobs are elastic jobs.
type jobs struct{ *config.ElasticLearning }

func (j jobs) options() (*learn.RunOptions, *candidates.Options) { return &j.Run, &j.Learn }

func (j jobs) file() config.File { return j.ElasticLearning }

func (j jobs) rivals(ctx context.Context, o *runs.ElasticLearningOutcome) error {
	train, validation, _ := j.Studies()
	o.Scaling, o.Train, o.Choose, o.Unit = j.Elastic.Scaling, len(train), len(validation), document.UnitSlots
	for _, v := range validation {
		bound, err := elastic.LowerBound(v)
		if err != nil {
			return err
		}
		o.Bound += bound.Mean / float64(len(validation))
	}
	for _, kind := range schedulers.Kinds() {
		mean, err := j.meanJCT(ctx, validation, kind)
		if err != nil {
			return err
		}
		if !math.IsInf(mean, 0) {
			o.Rivals[kind.Name] = mean
		}
	}
	return nil
}

// meanJCT is the mean over workloads; infinite where a scheduler leaves jobs.
func (j jobs) meanJCT(ctx context.Context, studies []elastic.Study, kind elastic.Kind) (mean float64, err error) {
	for _, v := range studies {
		v.Options.Limit = cmp.Or(v.Options.Limit, j.Slots())
		r, err := v.Run(ctx, kind)
		if ctx.Err() != nil {
			return 0, learn.ErrStopped // what was learned is saved
		}
		if err != nil {
			return math.Inf(1), nil
		}
		mean += r.MeanJCT / float64(len(studies))
	}
	return mean, nil
}

// tasks is the world of one machine's tasks.
type tasks struct{ *config.Node }

func (t tasks) options() (*learn.RunOptions, *candidates.Options) { return &t.Run, &t.Learn }

func (t tasks) file() config.File { return t.Node }

func (t tasks) rivals(ctx context.Context, o *runs.ElasticLearningOutcome) error {
	train, validation := t.Learning()
	o.Train, o.Choose, o.Unit = len(train), len(validation), t.Objective().Unit()
	if t.Objective() == agent.Completion {
		var bounds []float64
		for _, v := range validation {
			bounds = append(bounds, node.Bound(v))
		}
		o.Bound = stat.Mean(bounds)
	}
	for _, kind := range nodeschedulers.Kinds() {
		var costs []float64
		for k, v := range validation {
			r, err := v.Run(ctx, kind, t.Schedule.Options(uint64(k)))
			if ctx.Err() != nil {
				return learn.ErrStopped // what was learned is saved
			}
			if err != nil {
				return err
			}
			costs = append(costs, t.Objective().Of(&r.Summary))
		}
		o.Rivals[kind.Name] = stat.Mean(costs)
	}
	return nil
}

// steps are training steps on a network.
type steps struct{ *config.Fabric }

func (s steps) options() (*learn.RunOptions, *candidates.Options) { return &s.Run, &s.Learn }

func (s steps) file() config.File { return s.Fabric }

func (s steps) rivals(ctx context.Context, o *runs.ElasticLearningOutcome) error {
	train, validation, err := s.Learning()
	if err != nil {
		return err
	}
	o.Train, o.Choose, o.Unit = len(train), len(validation), document.UnitShare
	kinds := fabric.Kinds()
	for _, degree := range validation[0].Offered() {
		kinds = append(kinds, fabric.ConstantKind(degree))
	}
	for _, kind := range kinds {
		mean := 0.0
		for k, v := range validation {
			w, err := fabric.NewWorld(v)
			if err == nil {
				err = fabric.Play(w, kind.New(s.Draws(k)))
			}
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return learn.ErrStopped // what was learned is saved
			}
			mean += float64(w.Record.Blocked) / float64(len(w.Jobs)*len(validation))
		}
		o.Rivals[kind.Name] = mean
	}
	return nil
}
