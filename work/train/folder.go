package train

import (
	"fmt"

	"graft/config"
	"graft/dataset"
	"graft/results"
	"graft/results/failure"
	"graft/results/runs"
	"graft/trainer"
	"graft/work"
	"graft/work/control"
)

// open makes the run folder, or opens it and finds the last checkpoint.
func (j *job) open(data *dataset.Set) (*trainer.SavedJob, error) {
	var err error
	if j.o.Resume {
		j.stored, err = results.Open(j.env.Files, j.folder)
	} else {
		j.stored, err = j.create(data)
	}
	if err != nil {
		return nil, err
	}
	if err := j.same(); err != nil {
		return nil, err
	}
	folder, err := trainer.OpenFolder(j.stored)
	if err != nil {
		return nil, err
	}
	j.record = &recorder{Folder: folder, fsys: j.env.Files}
	j.runLog.Open(j.stored)
	if !j.o.Resume {
		return nil, nil
	}
	control.RemoveStaleFiles(j.env.Files, j.stored.Path(""))
	return folder.Last()
}

// same checks that a resumed run is of the same job.
func (j *job) same() error {
	if j.stored.Manifest().ConfigSHA256 == j.Digest() {
		return nil
	}
	was, err := config.ReadJob(j.env.Files, j.stored.Path(runs.ResolvedFile), nil)
	what := work.Differences(was, err, j.Differences, "a file that it reads has changed")
	return failure.With(failure.Configuration, fmt.Errorf("resume %s: the job differs from the run's: %s; restore its configuration, or start another run with option folder", j.folder, what))
}

func (j *job) create(data *dataset.Set) (*results.Run, error) {
	given, err := j.env.Text(j.path)
	if err != nil {
		return nil, err
	}
	return j.env.CreateRun(j.folder, results.CreateOptions{Force: j.o.Force, Config: given, Resolved: j.Resolved()}, results.Manifest{Seed: uint64(j.Run.Seed),
		Device: j.Run.Device, Profile: j.Time.Profile, ConfigSHA256: j.Digest(), DatasetSHA256: data.Digest, Network: j.NetworkName()})
}
