package learn

import (
	"cmp"
	"context"
	"math"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	elasticworld "graft/cluster/elastic/world"
	clusterstudy "graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
	"graft/learn"
	"graft/learn/candidates"
	jobfile "graft/original/dl2/learning"
	"graft/report/document"
	"graft/report/runs"
)

// readWorld reads a file of schedulers that learn.
func readWorld(d *config.Document, set []string) (world, error) {
	if learns(d.Kind()) {
		return readLearnable(d, set)
	}
	l, err := config.ReadNamed[*jobfile.File](jobfile.KindName, d, set)
	return jobs{l}, err
}

// jobs is the file of learned schedulers of elastic jobs.
type jobs struct{ *jobfile.File }

func (j jobs) options() (*learn.RunOptions, *candidates.Options) { return &j.Run, &j.Learn }

func (j jobs) file() config.File { return j.File }

func (j jobs) setting(fsys files.FS) (clusterstudy.Setting, error) {
	train, _, _ := j.Studies()
	s := elasticworld.SettingOf(train[0].Options)
	return s, s.Read(fsys, j.Learned()...)
}

func (j jobs) baselines(ctx context.Context, o *runs.ElasticLearningOutcome) error {
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
			o.Baselines[kind.Name] = mean
		}
	}
	return nil
}

// meanJCT returns the mean over workloads; infinite if a scheduler leaves jobs.
func (j jobs) meanJCT(ctx context.Context, studies []elastic.Study, kind elastic.Kind) (mean float64, err error) {
	for _, v := range studies {
		v.Options.Limit = cmp.Or(v.Options.Limit, j.Slots())
		r, err := v.Run(ctx, kind)
		if ctx.Err() != nil {
			return 0, learn.ErrStopped // learned state is saved
		}
		if err != nil {
			return math.Inf(1), nil
		}
		mean += r.MeanJCT / float64(len(studies))
	}
	return mean, nil
}

// learnable is the file of a world whose schedulers learn.
type learnable interface {
	config.File
	// LearnOptions returns the configuration sections that 'graft learn' reads.
	LearnOptions() (*learn.RunOptions, *candidates.Options)
	// CheckLearning returns an error if the configuration's schedulers cannot learn.
	CheckLearning() error
	// Learner creates the learner for a seed.
	Learner(seed uint64) (candidates.SchedulerLearner, error)
	// Setting describes the cluster and the workloads on which the schedulers learn.
	Setting() clusterstudy.Setting
	// Baselines returns the mean costs of schedulers that need no learning, on the validation workloads.
	Baselines(ctx context.Context) (*candidates.Baselines, error)
}

// learns reports whether the schedulers of a kind of files learn.
func learns(kind *config.Kind) bool {
	if worlds.Named(kind.Name) == nil {
		return false
	}
	_, can := kind.New().(learnable)
	return can
}

// readLearnable reads the file of a world whose schedulers learn.
func readLearnable(d *config.Document, set []string) (world, error) {
	f, err := d.Read(set)
	if err != nil {
		return nil, err
	}
	l := f.(learnable)
	return worldFile{l}, l.CheckLearning()
}

// worldFile is the file of a world of package cluster/study.
type worldFile struct{ learnable }

func (w worldFile) Resolved() string { return config.Resolved(w.learnable) }

func (w worldFile) Digest() string { return config.Digest(w.learnable) }

func (w worldFile) file() config.File { return w.learnable }

func (w worldFile) setting(files.FS) (clusterstudy.Setting, error) { return w.Setting(), nil }

func (w worldFile) options() (*learn.RunOptions, *candidates.Options) { return w.LearnOptions() }

func (w worldFile) Figures() []string { return candidates.FigureNames() }

func (w worldFile) Steps() int {
	_, o := w.LearnOptions()
	return o.Steps()
}

func (w worldFile) TeacherAndMethod() (teacher, method string) {
	_, o := w.LearnOptions()
	return o.Teacher, o.Method
}

func (w worldFile) baselines(ctx context.Context, o *runs.ElasticLearningOutcome) error {
	r, err := w.Baselines(ctx)
	if ctx.Err() != nil {
		return learn.ErrStopped // learned state is saved
	}
	if err != nil {
		return err
	}
	o.Train, o.Choose, o.Unit, o.Bound, o.Baselines = r.Train, r.Validation, r.Unit, r.Bound, r.Costs
	o.Remark = r.Remark
	return nil
}
