package cluster

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"graft/cluster/failures"
	"graft/cluster/trace"
)

// Failures describes when the nodes of a study fail, and what jobs lose.
type Failures struct {
	Pools  map[string]failures.Schedule // outages of the nodes, by virtual cluster
	Spares int                          // spare nodes of each virtual cluster, in addition to its nodes
	// work between two checkpoints of a job, in seconds at rate 1; zero means that a job has no checkpoint except its
	// state at its last start or preemption
	Checkpoint int64
	Restart    int64 // seconds from a failure until the job waits again, or continues on fewer devices
	// lets a job that loses some of its devices continue on the others, if its scheduler is a [Shrinker]
	Shrink bool
	// preempts the jobs on a node when a drain of the node begins; false lets them run to their ends
	Preempt bool
}

// Shrinker is a scheduler under which a running job can lose some of its devices and continue.
type Shrinker interface {
	// Shrunk is called after a job lost devices. The job runs on.
	Shrunk(p *Pool, j *Job)
}

// Losses holds the effects of node failures, evictions and time limits on a job.
type Losses struct {
	Failures int     // number of failures of the job's nodes
	Restarts int     // number of failures after which the job waited again
	Work     float64 // repeated work in seconds at rate 1
	Delay    int64   // seconds of restart delays

	Evictions int     // number of evictions of a spot job
	Evicted   float64 // repeated work after evictions in seconds at rate 1
	notice    int64   // second of the coming eviction; zero if none

	began    int64 // if time limits are enforced: second of the last start
	ran      int64 // seconds with devices before the last start
	timedOut bool  // it reached its time limit
}

// Lost returns the losses of a job through failures of its nodes and evictions.
func (j *Job) Lost() Losses {
	if j.losses == nil {
		return Losses{}
	}
	return *j.losses
}

func (j *Job) loses() *Losses {
	if j.losses == nil {
		j.losses = &Losses{}
	}
	return j.losses
}

// NodeOutage is a period in which a node was not available.
type NodeOutage struct {
	Node  int    // name of the node
	From  int64  // second of the beginning
	To    int64  // second of the end, which can be after the end of the simulation; Never if the node stays out
	Kind  string // [failures.Failure], [failures.Drain] or [failures.UnannouncedDrain]
	Class string // class of the fault; may be empty
	Jobs  int    // number of jobs that ran on the node at the beginning of the outage and had to stop or shrink
}

// Outages counts the failures of nodes in an outcome.
type Outages struct {
	Failures     int     // number of failures of nodes
	Drains       int     // number of drains
	Availability float64 // share of the time of all nodes, including spare nodes, without a failure; NaN without time
}

// Outages returns the failures of an outcome's nodes until the last simulated second of each pool: the end of its last
// job, and at least the last submission to any pool.
func (o *Outcome) Outages() Outages {
	var s Outages
	down, all := int64(0), int64(0)
	for _, p := range o.Pools {
		all += int64(p.Nodes+p.Spares) * max(0, p.Ended-o.Begin)
		for _, n := range p.Outages {
			if n.Kind != failures.Failure {
				s.Drains++
				continue
			}
			s.Failures++
			down += max(0, min(n.To, p.Ended)-max(n.From, o.Begin))
		}
	}
	s.Availability = float64(all-down) / float64(all)
	return s
}

// LostGPUSeconds returns the device-seconds of work that an ended job repeated because of failures.
func (j *Job) LostGPUSeconds() float64 { return j.Lost().Work * float64(j.Demand()) / Whole }

// EvictedGPUSeconds returns the device-seconds of work that an ended job repeated because of evictions.
func (j *Job) EvictedGPUSeconds() float64 { return j.Lost().Evicted * float64(j.Demand()) / Whole }

// WriteOutages writes a list of outages that [failures.Options] reads, with one row per outage of a node, sorted by
// virtual cluster and by beginning. Times are in seconds since the trace's time 0. An outage after which the node
// stays out has no end.
func (o *Outcome) WriteOutages(w io.Writer) error {
	b := bufio.NewWriter(w)
	_, _ = b.WriteString(strings.Join(failures.Columns, ",") + "\n") // Flush returns the first error
	var line []byte
	for _, p := range o.Pools {
		for _, n := range p.Outages {
			line = trace.AppendCell(line[:0], p.Name)
			line = strconv.AppendInt(append(line, ','), int64(n.Node), 10)
			line = append(strconv.AppendInt(append(line, ','), n.From, 10), ',')
			if n.To < Never {
				line = strconv.AppendInt(line, n.To, 10)
			}
			line = append(append(append(line, ','), n.Kind...), ',')
			line = strconv.AppendInt(append(trace.AppendCell(line, n.Class), ','), int64(n.Jobs), 10)
			_, _ = b.Write(append(line, '\n'))
		}
	}
	return b.Flush()
}
