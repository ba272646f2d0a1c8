package cluster

import (
	"io"

	"graft/files"
	"graft/results"
)

// Usage is how a pool is used from a second on, until the next one.
type Usage struct {
	At          int64 // second from which on it is so
	GPUs        int   // devices that there are
	Idle        int   // devices without a job
	Running     int   // jobs
	Waiting     int   // jobs
	WaitingGPUs int   // devices that they ask for
	WaitingFew  int   // those of them that a node could hold
	Nodes       int   // that there are
	Single      int   // nodes with one job
	Several     int   // nodes with more than one
}

// WriteUsage writes how pools were used as a table, a row for each of them every so many
// seconds.
func (o *Outcome) WriteUsage(fsys files.FS, path string, every int64) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		return results.WriteUsage(w, func(yield func(results.UsageRow) bool) {
			for _, p := range o.Pools {
				for _, u := range Sampled(p.Usage, every, p.Last) {
					row := results.UsageRow{Pool: p.Name, At: u.At, GPUs: int64(u.GPUs), Idle: int64(u.Idle), Running: int64(u.Running), Waiting: int64(u.Waiting),
						WaitingGPUs: int64(u.WaitingGPUs), WaitingFew: int64(u.WaitingFew), Nodes: int64(u.Nodes), Single: int64(u.Single), Several: int64(u.Several)}
					if !yield(row) {
						return
					}
				}
			}
		})
	})
}

func (p *Pool) usage() Usage {
	u := Usage{At: p.Now(), GPUs: p.GPUs(), Idle: p.nodes.free, Running: p.running, Waiting: p.waiting,
		WaitingGPUs: p.waitingGPUs, WaitingFew: p.waitingFew, Nodes: len(p.nodes.list)}
	for _, nd := range p.nodes.list {
		switch {
		case nd.jobs == 1:
			u.Single++
		case nd.jobs > 1:
			u.Several++
		}
	}
	return u
}

// Sampled is usage at each multiple of a number of seconds, from the first on, up to the
// end. It makes a list of what was kept at each change.
func Sampled(list []Usage, every, end int64) []Usage {
	var samples []Usage
	for k, u := range list {
		to := end + 1
		if k+1 < len(list) {
			to = list[k+1].At
		}
		for at := (u.At + every - 1) / every * every; at < to; at += every {
			u.At = at
			samples = append(samples, u)
		}
	}
	return samples
}
