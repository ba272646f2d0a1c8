package cluster

import (
	"bufio"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/trace"
)

// jobColumns are the columns of tables of jobs.
var jobColumns = []string{"job", "vc", "arrival [s]", "start [s]", "end [s]", "queue [s]", "jct [s]", "preemptions",
	"nodes"}

// lossColumns are further columns if nodes can fail.
var lossColumns = []string{"failures", "restarts", "lost [s]", "delay [s]"}

func (j *Job) appendLosses(line []byte) []byte {
	l := j.Lost()
	line = strconv.AppendInt(append(line, ','), int64(l.Failures), 10)
	line = strconv.AppendInt(append(line, ','), int64(l.Restarts), 10)
	line = strconv.AppendFloat(append(line, ','), l.Work, 'f', -1, 64)
	return strconv.AppendInt(append(line, ','), l.Delay, 10)
}

// evictionColumns are further columns if spot jobs are evicted.
var evictionColumns = []string{"spot", "evictions", "evicted [s]"}

func (j *Job) appendEvictions(line []byte) []byte {
	spot := byte('0')
	if j.Trace.Spot {
		spot = '1'
	}
	l := j.Lost()
	line = strconv.AppendInt(append(line, ',', spot, ','), int64(l.Evictions), 10)
	return strconv.AppendFloat(append(line, ','), l.Evicted, 'f', -1, 64)
}

// state returns the end state of a job, as in traces.
func (j *Job) state() string {
	if j.TimedOut() {
		return trace.TimedOut.String()
	}
	return trace.Completed.String()
}

// lucidColumns are the columns of Lucid's simulator, whose tools read such tables.
var lucidColumns = []string{"job_id", "vc", "start_time", "end_time", "queue", "ckpt_times", "nodes"}

// WriteJobs writes a table with one row per job, sorted by virtual cluster and by submission. Times are in seconds
// since the trace's time 0. Columns that the policy adds come last.
func (o *Outcome) WriteJobs(w io.Writer) error {
	return o.writeJobs(w, jobColumns, (*Job).appendNumbers)
}

// WriteLucidJobs writes the table of [Outcome.WriteJobs] with the columns of Lucid's simulator.
func (o *Outcome) WriteLucidJobs(w io.Writer) error {
	return o.writeJobs(w, lucidColumns, (*Job).appendLucidNumbers)
}

// writeJobs writes a table of jobs. The function numbers appends the integers of a row.
func (o *Outcome) writeJobs(w io.Writer, columns []string, numbers func(j *Job, list []int64) []int64) error {
	b := bufio.NewWriterSize(w, 1<<16)
	further := o.recordColumns()
	if o.Failing {
		columns = slices.Concat(columns, lossColumns)
	}
	if o.Evicting {
		columns = slices.Concat(columns, evictionColumns)
	}
	if o.Limited {
		columns = slices.Concat(columns, []string{"state"})
	}
	if o.Types != nil {
		columns = slices.Concat(columns, []string{"gpu_type"})
	}
	columns = slices.Concat(columns, o.learnedColumns(), further)
	_, _ = b.WriteString(strings.Join(columns, ",") + "\n")
	var line []byte
	var list []int64
	for _, p := range o.Pools {
		for _, j := range p.submitted() {
			list = numbers(j, list[:0])
			line = j.appendRow(line[:0], list)
			if o.Failing {
				line = j.appendLosses(line)
			}
			if o.Evicting {
				line = j.appendEvictions(line)
			}
			if o.Limited {
				line = append(append(line, ','), j.state()...)
			}
			if o.Types != nil {
				line = trace.AppendCell(append(line, ','), o.TypeOf(j))
			}
			if p.Learner != nil {
				line = p.Learner.Cells(line, j)
			}
			if further != nil {
				line = j.Record.AppendCells(line, j)
			}
			if _, err := b.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// learnedColumns returns the columns of jobs whose networks adapt; nil if no job adapts.
func (o *Outcome) learnedColumns() []string {
	for _, p := range o.Pools {
		if p.Learner != nil {
			return p.Learner.Columns()
		}
	}
	return nil
}

func (j *Job) appendNumbers(list []int64) []int64 {
	return append(list, j.Trace.Submit, j.Start, j.End, j.Queue, j.Completion(), int64(j.Preemptions))
}

func (j *Job) appendLucidNumbers(list []int64) []int64 {
	return append(list, j.Start, j.End, j.Queue, int64(j.Preemptions))
}

// recordColumns returns the additional columns that jobs need; nil if none.
func (o *Outcome) recordColumns() []string {
	for _, j := range o.Jobs {
		if j.Record == nil {
			return nil // a policy records all jobs or none
		}
		if columns := j.Record.Columns(); columns != nil {
			return columns
		}
	}
	return nil
}

// submitted returns the jobs in order of submission, which differs from the order of arrival if jobs are profiled
// first.
func (p *PoolOutcome) submitted() []*Job {
	bySubmission := func(a, b *Job) int { return int(a.Index - b.Index) }
	if slices.IsSortedFunc(p.Jobs, bySubmission) {
		return p.Jobs
	}
	return slices.SortedFunc(slices.Values(p.Jobs), bySubmission)
}

func (j *Job) appendRow(line []byte, numbers []int64) []byte {
	line = trace.AppendCell(line, j.Trace.ID)
	line = append(line, ',')
	line = trace.AppendCell(line, j.Trace.VC)
	for _, x := range numbers {
		line = strconv.AppendInt(append(line, ','), x, 10)
	}
	line = append(line, ',')
	many := len(j.Nodes) > 1 || len(j.Nodes) == 1 && bits.OnesCount64(j.Nodes[0].GPUs) > 1
	if many { // it contains commas
		line = append(line, '"')
	}
	line = j.appendNodes(line)
	if many {
		line = append(line, '"')
	}
	return line
}

// appendNodes writes nodes with their devices in Python syntax: [{0: [0, 1]}].
func (j *Job) appendNodes(line []byte) []byte {
	line = append(line, '[')
	for k, s := range j.Nodes {
		if k > 0 {
			line = append(line, ", "...)
		}
		line = append(strconv.AppendInt(append(line, '{'), int64(s.Node), 10), ": ["...)
		for m := s.GPUs; m != 0; m &= m - 1 {
			if m != s.GPUs {
				line = append(line, ", "...)
			}
			line = strconv.AppendInt(line, int64(bits.TrailingZeros64(m)), 10)
		}
		line = append(line, "]}"...)
	}
	return append(line, ']')
}
