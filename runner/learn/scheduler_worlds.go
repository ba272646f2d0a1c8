package learn

import (
	"cmp"
	"context"
	"math"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/cluster/fabric"
	clusterstudy "graft/cluster/study"
	"graft/config"
	"graft/learn"
	"graft/learn/candidates"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
)

// readWorld reads a file of schedulers that learn.
func readWorld(env *app.Env, path string, set []string) (world, error) {
	kind := config.KindOf(env.Files, path)
	if learnsIn(kind) {
		return readLearns(env, kind, path, set)
	}
	if kind == config.FabricKind {
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

// learns is implemented by the files of worlds whose schedulers learn.
type learns interface {
	clusterstudy.File
	CheckLearning() error // refuses a file whose schedulers cannot learn
	LearnOptions() (*learn.RunOptions, *candidates.Options)
	Figures() []string // names of the values of a learner's figures
	Steps() int        // maximum number of a learner's steps
	TeacherAndMethod() (teacher, method string)
	Learner(seed uint64) (candidates.SchedulerLearner, error)
	Rivals(ctx context.Context) (*candidates.Rivals, error) // other schedulers on the workloads of validation
}

// learnsIn reports whether schedulers learn in the world of a kind of files.
func learnsIn(k *config.Kind) bool {
	if k.World == nil {
		return false
	}
	_, can := k.World.New().(learns)
	return can
}

// readLearns reads the file of a world whose schedulers learn.
func readLearns(env *app.Env, k *config.Kind, path string, set []string) (world, error) {
	f, err := config.ReadWorld(k.World, env.Files, path, set)
	if err != nil {
		return nil, err
	}
	l := f.(learns)
	return worldFile{l}, l.CheckLearning()
}

// worldFile is a file of a world whose schedulers learn.
type worldFile struct{ learns }

func (l worldFile) options() (*learn.RunOptions, *candidates.Options) { return l.LearnOptions() }

func (l worldFile) file() config.File { return l.learns }

func (l worldFile) rivals(ctx context.Context, o *runs.ElasticLearningOutcome) error {
	r, err := l.Rivals(ctx)
	if ctx.Err() != nil {
		return learn.ErrStopped // what was learned is saved
	}
	if err == nil {
		o.Train, o.Choose, o.Unit, o.Bound, o.Rivals = r.Train, r.Validation, r.Unit, r.Bound, r.Costs
	}
	return err
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
