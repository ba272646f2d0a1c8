package world

import (
	"fmt"
	"maps"
	"slices"

	"graft/cluster/adaptive"
	"graft/cluster/elastic"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
)

// readApplications reads a folder of applications in place of a table of speeds: they are the types of jobs, in the
// order of their names, and their workers exchange gradients among themselves, without parameter servers.
func (w *Inputs) readApplications(fsys files.FS, r *decode.Reading, o *Options) bool {
	if o.Types != "" {
		r.Blame("elastic.types", fmt.Sprintf("types is %s, and speeds is a folder of applications, "+
			"which are types of their own; leave types out", decode.Quote(o.Types)))
		return false
	}
	noted := &study.Noted{FS: fsys}
	apps, err := adaptive.ReadApplications(noted, o.Speeds, adaptive.KnownApplications())
	if err == nil {
		w.contents, err = noted.Digest()
	}
	if err != nil {
		r.Blame("elastic.speeds", err.Error())
		return false
	}
	w.steps, w.types = elastic.Steps{}, nil
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		t, trained := elasticType(apps[name])
		w.types, w.steps[name] = append(w.types, t), trained
	}
	return true
}

// elasticType is an application as a type of elastic jobs: an epoch has the same examples however many workers there
// are, and a worker takes the smallest batch at once, or as much of it as a device holds.
func elasticType(a *adaptive.Application) (elastic.JobType, elastic.Trained) {
	device := min(a.Limits.Least, a.Limits.DeviceMost)
	epoch := a.Progress(1) * float64(a.Limits.Least) / float64(device)
	return elastic.JobType{Name: a.Name, Worker: elastic.Resources{elastic.CPU: 1, elastic.GPU: 1}, EpochSize: epoch,
		Length: 1}, elastic.Trained{Times: a.Times(), Device: device}
}
