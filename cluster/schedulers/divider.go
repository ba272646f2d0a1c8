package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster"
	"graft/internal/registry"
)

// Split returns the number of devices of each job of a list, in order of arrival. Nil means that running jobs keep
// their devices and no job starts.
type Split func(p *cluster.Pool, jobs []*cluster.Job) []int

// NewDivider returns a scheduler that divides the devices of a pool when the scheduler offers does. The split gets all
// jobs that have not ended; jobs without devices wait. A job that cannot be resized has all its devices or none, and
// must keep them until it ends.
func NewDivider(split Split) cluster.Scheduler {
	return &fair{split: split, every: divideEvery, fewer: true, all: true}
}

// Teacher is a way to divide devices that learned schedulers can imitate.
type Teacher struct {
	Name, About string
	Split       Split // for NewDivider
}

// Listing returns the name and a one-line description.
func (t Teacher) Listing() (name, about string) { return t.Name, t.About }

// Teachers returns the ways to divide devices that learned schedulers can imitate.
func Teachers() registry.List[Teacher] {
	return registry.List[Teacher]{
		{"fair", "max-min fair shares", amongAdmitted(byFairness)},
		{"offers", "most progress of all jobs by their offers", amongAdmitted(byOffers)},
		{"srsf", "least remaining device-time first (oracle)", byService},
	}
}

// byFairness returns the max-min fair shares of the jobs.
func byFairness(p *cluster.Pool, jobs []*cluster.Job) []int { return divide(jobs, p.GPUs()) }

// amongAdmitted divides the devices among the jobs for whose least numbers of devices the pool has room.
func amongAdmitted(split Split) Split {
	return func(p *cluster.Pool, jobs []*cluster.Job) []int {
		in := admitted(p, jobs)
		given := split(p, in)
		if given == nil {
			return nil
		}
		shares := make([]int, len(jobs))
		for k, at := 0, 0; at < len(in); k++ {
			if jobs[k] == in[at] {
				shares[k], at = given[at], at+1
			}
		}
		return shares
	}
}

// byService gives jobs their requested devices in the order of their remaining device-time: the SRSF baseline of Gu et
// al., Tiresias, NSDI 2019, for jobs that can be resized. Running jobs that cannot be resized come first.
func byService(p *cluster.Pool, jobs []*cluster.Job) []int {
	order, shares, free := make([]int, len(jobs)), make([]int, len(jobs)), p.GPUs()
	service := make([]float64, len(jobs))
	for k, j := range jobs {
		order[k], service[k] = k, p.Left(j)*float64(j.Trace.GPUs)
		if !j.Resizable() && j.Running() {
			service[k] = -1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(service[a], service[b]) })
	for _, k := range order {
		if j := jobs[k]; j.Resizable() || free >= j.Trace.GPUs || j.Running() {
			shares[k] = max(0, min(j.Trace.GPUs, free))
			free -= shares[k]
			if !j.Resizable() {
				shares[k] = j.Trace.GPUs
			}
		}
	}
	return shares
}
