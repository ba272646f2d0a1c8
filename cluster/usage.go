package cluster

import (
	"bufio"
	"io"
	"strconv"

	"graft/files"
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
		b := bufio.NewWriterSize(w, 1<<16)
		_, _ = b.WriteString("vc,time [s],gpus,idle_gpus,running_jobs,waiting_jobs,waiting_gpus,waiting_jobs_of_a_node,nodes,nodes_with_a_job,nodes_with_several\n")
		var line []byte
		for _, p := range o.Pools {
			for _, u := range Sampled(p.Usage, every, p.Last) {
				line = appendText(line[:0], p.Name)
				for _, x := range [...]int64{u.At, int64(u.GPUs), int64(u.Idle), int64(u.Running), int64(u.Waiting), int64(u.WaitingGPUs), int64(u.WaitingFew), int64(u.Nodes), int64(u.Single), int64(u.Several)} {
					line = strconv.AppendInt(append(line, ','), x, 10)
				}
				if _, err := b.Write(append(line, '\n')); err != nil {
					return err
				}
			}
		}
		return b.Flush()
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
