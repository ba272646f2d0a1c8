package train

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/trainer"
)

// source is the run from which a job starts, with its key run.branch.
type source struct {
	folder string
	job    *config.Job
	rows   []trainer.Row
}

// CheckBranch returns an error if a job with the given seed cannot start from the run that its key run.branch names.
func CheckBranch(fsys files.FS, c *config.Job, seed int64) error {
	_, err := openSource(fsys, c, seed)
	return err
}

// openSource reads the run that run.branch names. It returns nil if the key is empty.
func openSource(fsys files.FS, c *config.Job, seed int64) (*source, error) {
	if c.Run.Branch == "" {
		return nil, nil
	}
	s := &source{folder: c.Run.BranchOf(seed)}
	if err := s.read(fsys, c.WithSeed(seed)); err != nil {
		return nil, failure.With(failure.Configuration, fmt.Errorf("run.branch: %w", err))
	}
	return s, nil
}

// read reads the run's job, and checks that it differs from the new job only in what a checkpoint allows.
func (s *source) read(fsys files.FS, c *config.Job) error {
	if err := runs.MayResume(fsys, s.folder, runs.JobKind); err != nil {
		return err
	}
	m, err := results.ReadManifest(fsys, s.folder)
	if err != nil {
		return err
	}
	if s.job, err = config.ReadJob(fsys, filepath.Join(s.folder, runs.ResolvedFile), nil); err != nil {
		return err
	}
	if s.job.Digest() != m.ConfigSHA256 {
		return fmt.Errorf("a file that the job of %s read has changed since; start the job without run.branch",
			s.folder)
	}
	if _, err := c.Ahead(s.job, trainer.Reached{}); err != nil {
		return fmt.Errorf("the job of %s differs: %w", s.folder, err)
	}
	if was, now := s.job.Time.Budget, c.Time.Budget; was != now {
		return fmt.Errorf("time.budget was %v in %s and is now %v; a branch needs an equal budget, because the "+
			"learning rate depends on it; use time.stop to end a job early", was, s.folder, now)
	}
	s.rows, _, err = trainer.ReadHistory(fsys, s.folder)
	return err
}

// newest opens the newest kept checkpoint at which the two jobs agree. It returns nil if there is none.
func (s *source) newest(fsys files.FS, c *config.Job) (*results.Checkpoint, error) {
	paths, err := results.KeptCheckpoints(fsys, s.folder)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Backward(paths) {
		kept, err := results.ReadCheckpoint(fsys, path)
		if errors.Is(err, fs.ErrNotExist) { // another process has just deleted it
			continue
		}
		if err != nil {
			return nil, err
		}
		agrees, err := s.agrees(c, kept)
		if agrees || err != nil {
			return kept, err
		}
		if err := kept.Close(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// agrees reports whether a job would have the same state at a checkpoint.
func (s *source) agrees(c *config.Job, kept *results.Checkpoint) (bool, error) {
	reached, err := trainer.ReachedAt(kept)
	if err != nil {
		return false, err
	}
	if _, err := c.Ahead(s.job, reached); err != nil {
		return false, nil
	}
	ended := func(r trainer.Row) bool { return r.Time <= reached.Time && c.Time.Reached(r.Validation.Loss) }
	return !slices.ContainsFunc(s.rows, ended), nil
}

// branch starts a job without a checkpoint from the run that run.branch names: it copies the tables of that run up to
// the checkpoint. It returns nil if the key is empty, or if the two jobs agree at no kept checkpoint.
func (j *job) branch() (*results.Checkpoint, error) {
	if j.o.Resume {
		last, err := j.stored.LoadCheckpoint()
		if err == nil {
			return nil, last.Close()
		}
		if !errors.Is(err, results.ErrNoCheckpoint) {
			return nil, err
		}
	}
	s, err := openSource(j.env.Files, j.Job, j.Run.Seed)
	if s == nil || err != nil {
		return nil, err
	}
	kept, err := s.newest(j.env.Files, j.Job)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		j.env.Log.Info("starting from the beginning: the jobs agree at no kept checkpoint",
			zap.String("branch", s.folder))
		return nil, nil
	}
	j.env.Log.Info("starting from a kept checkpoint", zap.String("path", kept.Path))
	j.was = s.job
	return kept, j.stored.Branch(s.folder, kept)
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
