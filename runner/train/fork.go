package train

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/trainer"
)

// source is the run from which a job starts, with its key run.fork.
type source struct {
	folder   string
	job      *config.Job
	manifest results.Manifest
	rows     []trainer.Row // read after the list of kept checkpoints, because the run may still train
	skipped  []error       // kept checkpoints that cannot be used
}

// CheckFork returns an error if a job with the given seed cannot start from the run that its key run.fork names.
func CheckFork(d *files.Digests, c *config.Job, seed int64) error {
	_, kept, err := findSource(d, c, seed)
	if kept != nil {
		err = errors.Join(err, kept.Close())
	}
	return err
}

// findSource reads the run that run.fork names, and opens its newest kept checkpoint at which the two jobs agree. It
// returns nil if the key is empty, and no checkpoint if they agree at none.
func findSource(d *files.Digests, c *config.Job, seed int64) (*source, *results.Checkpoint, error) {
	if c.Run.Fork == "" {
		return nil, nil, nil
	}
	s, own := &source{folder: c.Run.ForkOf(seed)}, c.WithSeed(seed)
	var kept *results.Checkpoint
	err := s.read(d, own)
	if err == nil {
		kept, err = s.newest(d.FS, own)
	}
	if err != nil {
		return nil, nil, failure.With(failure.Configuration, fmt.Errorf("run.fork: %w", err))
	}
	return s, kept, nil
}

// read reads the run's job, and checks that it differs from the new job only in what a checkpoint allows.
func (s *source) read(d *files.Digests, c *config.Job) error {
	fsys := d.FS
	f, err := runs.ReadFolder(fsys, s.folder)
	if err != nil {
		return fmt.Errorf("%w; name the run folder of a job", err)
	}
	if k, err := f.Kind(); err != nil || k != runs.JobKind {
		return errors.Join(err, fmt.Errorf("%s is not the run folder of a job; name the folder of a job or of a "+
			"trial, such as RUN/trials/CASE/seed-{seed}", s.folder))
	}
	if s.manifest, err = results.ReadManifest(fsys, s.folder); err != nil {
		return err
	}
	if s.job, err = config.ReadJob(fsys, filepath.Join(s.folder, runs.ResolvedFile), nil); err != nil {
		return fmt.Errorf("read the job of %s: %w", s.folder, err)
	}
	return s.comparable(d, c)
}

// comparable returns an error if a job that forks from the run would not equal the same job from the beginning.
func (s *source) comparable(d *files.Digests, c *config.Job) error {
	weights, err := weightsDigest(d, c)
	switch {
	case err != nil:
		return err
	case s.job.Digest() != s.manifest.ConfigSHA256:
		return fmt.Errorf("a file that the job of %s read has changed since; remove run.fork, or restore the file",
			s.folder)
	case s.manifest.OtherBudget:
		return fmt.Errorf("%s continued with another time.budget, so its epochs follow two schedules; remove "+
			"run.fork", s.folder)
	case c.Network.Weights == s.job.Network.Weights && weights != s.manifest.WeightsSHA256:
		return fmt.Errorf("the file network.weights has changed since %s started; remove run.fork, or restore the "+
			"file", s.folder)
	}
	if err := c.ForksFrom(s.job); err != nil {
		remedy := "remove run.fork, or undo the change"
		if c.Run.Seed != s.job.Run.Seed {
			remedy = "use {seed} in run.fork, so that each trial forks from the trial with its seed"
		}
		return fmt.Errorf("the job of %s differs: %w; %s", s.folder, err, remedy)
	}
	return nil
}

// keptDigest is the digest of the initial weights' file for a job that keeps checkpoints; empty for other jobs, whose
// weights need not be read twice.
func keptDigest(d *files.Digests, c *config.Job) (string, error) {
	if c.Train.Checkpoint.Keep == 0 {
		return "", nil
	}
	return weightsDigest(d, c)
}

// weightsDigest is the digest of a job's file of initial weights; empty without one.
func weightsDigest(d *files.Digests, c *config.Job) (string, error) {
	if path := c.InitialWeights().Weights; path != "" {
		return d.Of("named", path, func() (string, error) { return runs.DigestOf(d.FS, path) })
	}
	return "", nil
}

// newest opens the newest kept checkpoint at which the two jobs agree. It returns nil if there is none.
func (s *source) newest(fsys files.FS, c *config.Job) (*results.Checkpoint, error) {
	paths, err := results.KeptCheckpoints(fsys, s.folder)
	if err != nil {
		return nil, err
	}
	if s.rows, _, err = trainer.ReadHistory(fsys, s.folder); err != nil {
		return nil, err
	}
	for _, path := range slices.Backward(paths) {
		kept, err := results.ReadCheckpoint(fsys, path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // otherwise another process has just deleted it
				s.skipped = append(s.skipped, err)
			}
			continue
		}
		agrees, err := s.agrees(fsys, c, kept)
		if agrees {
			return kept, nil
		}
		if err != nil {
			s.skipped = append(s.skipped, err)
		}
		if err := kept.Close(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// agrees reports whether a job would have the same state at a checkpoint. Changes outside of the timeline belong to the
// other run only.
func (s *source) agrees(fsys files.FS, c *config.Job, kept *results.Checkpoint) (bool, error) {
	reached, err := trainer.ReachedAt(kept)
	if err != nil || reached.Live > 0 {
		return false, err
	}
	if _, err := c.Ahead(s.job, reached); err != nil || endedBefore(c, s.rows, reached.Time) {
		return false, nil
	}
	err = results.HasRows(fsys, s.folder, kept)
	return err == nil, err
}

// endedBefore reports whether a job would have ended by its loss up to a time.
func endedBefore(c *config.Job, rows []trainer.Row, now time.Duration) bool {
	return slices.ContainsFunc(rows, func(r trainer.Row) bool {
		return r.Time <= now && c.Time.Reached(r.Validation.Loss)
	})
}

// fork starts a job without a checkpoint from the run that run.fork names: it copies the tables of that run up to
// the checkpoint. It returns nil if the key is empty, or if the two jobs agree at no kept checkpoint.
func (j *job) fork() (*results.Checkpoint, error) {
	if j.o.Resume {
		last, err := j.stored.LoadCheckpoint()
		if err == nil {
			return nil, last.Close()
		}
		if !errors.Is(err, results.ErrNoCheckpoint) {
			return nil, err
		}
	}
	s, kept, err := findSource(j.env.FileDigests(), j.Job, j.Run.Seed)
	if s == nil || err != nil {
		return nil, err
	}
	for _, why := range s.skipped {
		j.env.Log.Warn("ignoring a kept checkpoint", zap.Error(why))
	}
	if kept == nil {
		j.env.Log.Info("starting from the beginning: the jobs agree at no kept checkpoint",
			zap.String("fork", s.folder))
		return nil, nil
	}
	if m := j.stored.Manifest(); m.Graft != s.manifest.Graft || m.Revision != s.manifest.Revision {
		j.env.Log.Warn("another version of graft made the run of run.fork, so the results may differ from a job "+
			"from the beginning", zap.String("fork", s.folder), zap.String("graft", s.manifest.Graft))
	}
	j.env.Log.Info("starting from a kept checkpoint", zap.String("path", kept.Path))
	j.was = s.job
	return kept, errors.Join(j.stored.Fork(s.folder, kept), j.noteFork(s, kept))
}

// noteFork records in the manifest from which checkpoint of another run this run starts, and whether another LibTorch
// trained that run.
func (j *job) noteFork(s *source, kept *results.Checkpoint) error {
	library, err := j.library()
	if err != nil {
		return err
	}
	was := s.manifest.LibTorch
	other := was != "" && library != "" && was != library
	if other {
		j.env.Log.Warn("another version of LibTorch trained the run of run.fork, so the results may differ from a job "+
			"from the beginning", zap.String("fork", s.folder), zap.String("libtorch", was))
	}
	return j.stored.Amend(func(m *results.Manifest) {
		m.Fork, m.LibTorch, m.OtherLibTorch = kept.Path, library, other || s.manifest.OtherLibTorch
	})
}

// startAt returns the job that a kept checkpoint of another run holds.
func (j *job) startAt(kept *results.Checkpoint) (*trainer.SavedJob, error) {
	defer kept.Close()
	sections, err := trainer.ReadSections(kept)
	if err == nil {
		err = j.stored.Rewind(kept)
	}
	if err != nil {
		return nil, err
	}
	return trainer.ReadSavedJob(sections)
}
