package train

import (
	"errors"
	"fmt"
	"strings"

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/results"
	"graft/results/failure"
	"graft/results/runs"
	"graft/trainer"
	"graft/work/control"
)

// mostConfig limits the size of a configuration file, in bytes.
const mostConfig = 1 << 20

// open makes the run folder, or opens it and finds the last checkpoint.
func (j *job) open(data *dataset.Set) (*trainer.SavedJob, error) {
	var err error
	if j.o.Resume {
		j.stored, err = results.Open(j.env.Files, j.folder)
	} else {
		j.stored, err = j.create(data)
	}
	if err != nil {
		if errors.Is(err, results.ErrExists) {
			err = failure.With(failure.Usage, err)
		}
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
	what := "a file that it reads is another"
	if was, err := config.ReadJob(j.env.Files, j.stored.Path(runs.ResolvedFile), nil); err == nil {
		if list := j.Differences(was); len(list) > 0 {
			what = strings.Join(list, ", ")
		}
	}
	return failure.With(failure.Configuration, fmt.Errorf("resume %s: the job is not the one that began there: %s; give it what it had, or begin another run with option folder", j.folder, what))
}

func (j *job) create(data *dataset.Set) (*results.Run, error) {
	given := ""
	if j.path != "" {
		text, err := files.ReadAll(j.env.Files, j.path, mostConfig)
		if err != nil {
			return nil, err
		}
		given = string(text)
	}
	return results.Create(j.env.Files, j.folder, results.CreateOptions{Force: j.o.Force, Config: given, Resolved: j.Resolved()},
		j.env.Manifest(results.Manifest{Seed: uint64(j.Run.Seed), Device: j.Run.Device, Profile: j.Time.Profile,
			ConfigSHA256: j.Digest(), DatasetSHA256: data.Digest, Network: j.Network.Name}))
}
