package train

import (
	"errors"
	"fmt"
	"path/filepath"

	"graft/config"
	"graft/dataset"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/results"
	"graft/runner/control"
	"graft/torch"
	"graft/trainer"
)

// open makes the run folder, or opens it and finds the last checkpoint.
func (j *job) open(data *dataset.Set, device torch.Device) (*trainer.SavedJob, error) {
	var err error
	switch {
	case j.o.Resume:
		j.stored, err = results.Open(j.env.Files, j.folder)
	case j.Run.Fork != "" && filepath.Clean(j.folder) == filepath.Clean(j.Run.ForkOf(j.Run.Seed)):
		err = failure.With(failure.Configuration, fmt.Errorf("run.fork is the run folder of this job, %s; choose "+
			"another folder for the job", j.folder))
	default:
		j.stored, err = j.create(data)
	}
	if err != nil {
		return nil, err
	}
	if j.o.Resume {
		if err := runs.MayResume(j.env.Files, j.folder, runs.JobKind); err != nil {
			return nil, err
		}
		if err := j.same(); err != nil {
			return nil, err
		}
		control.RemoveStaleFiles(j.env.Files, j.stored.Path(""))
	}
	kept, err := j.fork()
	if err != nil {
		return nil, err
	}
	if err := j.openTables(device); err != nil {
		return nil, err
	}
	last, err := j.last(kept)
	if err == nil && (j.o.Resume || kept != nil) {
		err = j.energy.resume(last == nil)
	}
	if err == nil && j.o.Resume {
		err = j.forgetLater(last)
	}
	return last, err
}

// forgetLater deletes the kept checkpoints after the last checkpoint, whose rows are gone.
func (j *job) forgetLater(last *trainer.SavedJob) error {
	if last == nil {
		return results.RemoveKept(j.env.Files, j.folder)
	}
	return trainer.ForgetKept(j.env.Files, j.folder, last.Time)
}

// last returns the job at its last checkpoint, or at a kept checkpoint of another run. It returns nil for a new job.
func (j *job) last(kept *results.Checkpoint) (*trainer.SavedJob, error) {
	switch {
	case kept != nil:
		return j.startAt(kept)
	case j.o.Resume:
		return j.record.Last()
	}
	return nil, nil
}

// openTables opens the tables and the log of the run folder.
func (j *job) openTables(device torch.Device) error {
	folder, err := trainer.OpenFolder(j.stored, j.Options().AdaptiveBatch.Measures())
	if err != nil {
		return err
	}
	j.runLog.Open(j.stored)
	err = j.openEnergy(device)
	j.record = &recorder{Folder: folder, fsys: j.env.Files, energy: j.energy, stop: j.Time.Stop}
	return err
}

// same checks that a resumed run belongs to the same job, or to one that differs only ahead of the progress.
func (j *job) same() error {
	began := j.stored.Manifest().ConfigSHA256
	was, err := config.ReadJob(j.env.Files, j.stored.Path(runs.ResolvedFile), nil)
	if began == j.Digest() {
		// an earlier process was killed while it wrote the change
		j.changed = err == nil && len(j.Differences(was)) > 0
		return nil
	}
	why := errors.New(config.Changes(j.env.Files, j.stored.Path(runs.ResolvedFile), j.Job))
	if err == nil && was.Digest() == began { // the files that were read are unchanged
		var reached trainer.Reached
		if reached, err = trainer.ReachedBy(j.stored); err != nil {
			return err
		}
		if j.accepted, why = j.Ahead(was, reached); why == nil {
			why = j.notEnded(reached)
		}
		if why == nil {
			j.was, j.changed = was, true
			return nil
		}
	}
	return failure.With(failure.Configuration, fmt.Errorf("resume %s: the job has changed since the run started: %w; "+
		"restore the configuration, or start a new run with option \"folder\"", j.folder, why))
}

// notEnded returns an error if time.stop_loss would have ended the job before the point that it has reached.
func (j *job) notEnded(r trainer.Reached) error {
	rows, _, err := trainer.ReadHistory(j.env.Files, j.folder)
	if err == nil && endedBefore(j.Job, rows, r.Time) {
		err = fmt.Errorf("time.stop_loss = %v would have ended the job before time %v, which it has reached",
			j.Time.StopLoss, r.Time)
	}
	return err
}

// adopt records that the run continues with another configuration, once a checkpoint has it. Kept checkpoints belong to
// the configuration before it.
func (j *job) adopt(last *trainer.SavedJob) error {
	if err := j.amend(last); err != nil || !j.changed {
		return err
	}
	if err := results.RemoveKept(j.env.Files, j.folder); err != nil {
		return err
	}
	for _, what := range j.accepted {
		j.env.Log.Info("configuration change accepted: " + what)
	}
	otherBudget := j.was != nil && j.was.Time.Budget != j.Time.Budget
	weights := j.stored.Manifest().InitialWeightsSHA256
	if weights == "" { // none, or not recorded by an earlier version
		var err error
		if weights, err = j.SharedWeightsDigest(j.env.FileDigests()); err != nil {
			return err
		}
	}
	return j.stored.Reconfigure(j.Text(), j.Resolved(), results.Digests{ConfigSHA256: j.Digest(),
		FilesSHA256: j.FilesDigest(weights)}, otherBudget)
}

// amend records what differs in this process from the start of a resumed run. A run without a checkpoint starts again,
// with the current weights. Otherwise the digest of the initial weights stays, even if the file has changed or is gone.
func (j *job) amend(last *trainer.SavedJob) error {
	if !j.o.Resume {
		return nil
	}
	library, err := j.library()
	if err != nil {
		return err
	}
	if last == nil {
		weights, err := j.SharedWeightsDigest(j.env.FileDigests())
		if err != nil {
			return err
		}
		return j.stored.Amend(func(m *results.Manifest) {
			m.InitialWeightsSHA256, m.FilesSHA256 = weights, j.FilesDigest(weights)
			m.LibTorch, m.OtherLibTorch = library, false
		})
	}
	return j.stored.Amend(func(m *results.Manifest) {
		if m.LibTorch != "" && library != "" && m.LibTorch != library {
			m.OtherLibTorch = true
		}
	})
}

// library returns the version of the LibTorch that trains the network; empty means unknown.
func (j *job) library() (string, error) {
	if j.program != nil {
		return j.program.Session.Begun.Torch, nil
	}
	library, err := torch.Describe()
	return library.Version, err
}

func (j *job) create(data *dataset.Set) (*results.Run, error) {
	if err := j.o.check(j.Job); err != nil { // the weights are read now
		return nil, err
	}
	kept, err := keptDigest(j.env.FileDigests(), j.Job)
	if err != nil {
		return nil, err
	}
	shared, err := j.SharedWeightsDigest(j.env.FileDigests())
	if err != nil {
		return nil, err
	}
	library, err := j.library()
	if err != nil {
		return nil, err
	}
	return j.env.CreateRun(j.folder, runs.JobKind,
		results.CreateOptions{Force: j.o.Force, Config: j.Text(), Resolved: j.Resolved()},
		results.Manifest{Seed: uint64(j.Run.Seed),
			Device: j.Run.Device, Profile: j.Time.Profile, ConfigSHA256: j.Digest(), DatasetSHA256: data.Digest,
			WeightsSHA256: kept, InitialWeightsSHA256: shared, FilesSHA256: j.FilesDigest(shared), LibTorch: library,
			Network: j.NetworkName()})
}
