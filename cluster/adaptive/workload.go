package adaptive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/cluster"
	"graft/internal/files"
)

// ReadWorkload reads jobs from a table with the columns name, time (seconds), application, num_replicas and batch_size,
// and sorts them by time. The columns num_replicas and batch_size hold the number of devices and the batch size that
// the user requests.
func ReadWorkload(fsys files.FS, path string, apps map[string]*Application) (jobs []Spec, err error) {
	err = cluster.ReadRows(fsys, path, func(r *cluster.Row) error {
		j := Spec{Name: r.Text("name"), Submitted: r.Number("time"), App: apps[r.Text("application")],
			Devices: r.Whole("num_replicas"), Batch: r.Whole("batch_size")}
		r.Expect(j.App != nil, "application", "one of the applications: "+names(apps))
		jobs = append(jobs, j)
		if len(jobs) > mostJobs {
			return fmt.Errorf("read %s: the file has more than %d jobs; remove jobs", path, mostJobs)
		}
		return nil
	})
	slices.SortStableFunc(jobs, func(a, b Spec) int { return cmp.Compare(a.Submitted, b.Submitted) })
	return jobs, err
}

func names(apps map[string]*Application) string {
	return strings.Join(slices.Sorted(maps.Keys(apps)), ", ")
}
