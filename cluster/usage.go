package cluster

import (
	"fmt"
	"io"
	"iter"

	"graft/results"
)

// Usage is a row of a usage table. It describes how a pool is used from the time of the row until the time of the next
// row.
type Usage = results.UsageRow

// mostRows is the maximum number of rows of a usage table.
const mostRows = 100_000_000

// WriteUsage writes the usage of pools as a table, with one row per pool and interval. The argument every is the length
// of an interval in seconds.
func (o *Outcome) WriteUsage(w io.Writer, every int64) error {
	rows := int64(0)
	for _, p := range o.Pools {
		if len(p.Usage) > 0 {
			rows += (p.Ended-p.Usage[0].At)/every + 1
		}
	}
	if rows > mostRows {
		return fmt.Errorf("one row of usage every %d s would exceed the limit of %d rows; choose a longer interval",
			every, mostRows)
	}
	return results.WriteUsage(w, func(yield func(results.UsageRow) bool) {
		for _, p := range o.Pools {
			for u := range Sampled(p.Usage, every, p.Ended) {
				u.Pool = p.Name
				if !yield(u) {
					return
				}
			}
		}
	})
}

func (p *Pool) usage() Usage {
	n := p.nodes
	if p.spots != nil {
		return p.usageWithSpot(p.spots.engine.pool)
	}
	return Usage{At: p.Now(), GPUs: int64(p.GPUs()), Idle: int64(n.free), Running: int64(p.running),
		Waiting: int64(p.waiting), WaitingGPUs: int64(p.waitingGPUs), WaitingFew: int64(p.waitingFew),
		Nodes: int64(len(n.list) - n.out), Single: int64(n.single), Several: int64(n.several)}
}

// usageWithSpot adds the jobs of a pool of spot jobs on the same nodes.
func (p *Pool) usageWithSpot(below *Pool) Usage {
	above := *p
	above.spots = nil
	u, s := above.usage(), below.usage()
	u.GPUs += int64(below.nodes.lasting)
	u.Idle, u.Running, u.Waiting = s.Idle, u.Running+s.Running, u.Waiting+s.Waiting
	u.WaitingGPUs, u.WaitingFew = u.WaitingGPUs+s.WaitingGPUs, u.WaitingFew+s.WaitingFew
	u.Single, u.Several = 0, 0
	for _, nd := range p.nodes.list {
		switch jobs := nd.jobs + below.nodes.find(nd.name).jobs; {
		case jobs == 1:
			u.Single++
		case jobs > 1:
			u.Several++
		}
	}
	return u
}

// Sampled yields a row of usage for each multiple of the interval every, from the time of the first row in a list to
// the time end. Both arguments are in seconds. A row of the list applies until the time of the next row.
func Sampled(list []Usage, every, end int64) iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for k, u := range list {
			to := end + 1
			if k+1 < len(list) {
				to = list[k+1].At
			}
			for u.At = (u.At + every - 1) / every * every; u.At < to; u.At += every {
				if !yield(u) {
					return
				}
			}
		}
	}
}
