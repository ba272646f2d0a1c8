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

// readApplications reads a folder of applications in place of a table of speeds. The applications become the types of
// jobs, ordered by name. Their workers exchange gradients directly, without parameter servers.
func (w *Inputs) readApplications(fsys files.FS, r *decode.Reading, o *Options) bool {
	if o.Types != "" {
		r.Blame("elastic.types", fmt.Sprintf("types is %s, but speeds is a folder of applications, "+
			"which defines the types; remove types", decode.Quote(o.Types)))
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

// elasticType converts an application to a type of elastic jobs. The examples per epoch do not depend on the number of
// workers. A worker takes the smallest batch at once, or as much of it as fits on a device.
func elasticType(a *adaptive.Application) (elastic.JobType, elastic.Trained) {
	device := min(a.Limits.Least, a.Limits.DeviceMost)
	epoch := a.Progress(1) * float64(a.Limits.Least) / float64(device)
	return elastic.JobType{Name: a.Name, Worker: elastic.Resources{elastic.CPU: 1, elastic.GPU: 1}, EpochSize: epoch,
		Length: 1}, elastic.Trained{Times: a.Times(), Device: device}
}
