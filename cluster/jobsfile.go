package cluster

import (
	"bufio"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"graft/files"
)

// Columns of a table of jobs: those of the first simulator's, so that its tools read it.
var (
	jobColumns     = []string{"job_id", "vc", "start_time", "end_time", "queue", "ckpt_times", "nodes"}
	profileColumns = []string{"profiled", "profqueue", "toskip", "exclusive", "rate", "Tcolocate", "Tdelocate"}
)

// WriteJobs writes what came of each job as a table, virtual cluster by virtual cluster and in
// each in the order of submission. Times are seconds since the trace's zero; the last columns
// are there where a profiler was.
func (o *Outcome) WriteJobs(fsys files.FS, path string) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		columns, profiled := jobColumns, false
		for _, j := range o.Jobs {
			profiled = profiled || j.Profiled
		}
		if profiled {
			columns = append(append([]string{}, jobColumns...), profileColumns...)
		}
		_, _ = b.WriteString(strings.Join(columns, ",") + "\n")
		var line []byte
		for _, p := range o.Pools {
			for _, j := range p.submitted() {
				line = j.appendRow(line[:0])
				if profiled {
					line = j.appendProfile(line)
				}
				if _, err := b.Write(append(line, '\n')); err != nil {
					return err
				}
			}
		}
		return b.Flush()
	})
}

// submitted are the jobs in the order of submission, from which that of arrival differs where
// jobs are profiled first.
func (p *PoolOutcome) submitted() []*Job {
	bySubmission := func(a, b *Job) int { return a.Index - b.Index }
	if slices.IsSortedFunc(p.Jobs, bySubmission) {
		return p.Jobs
	}
	return slices.SortedFunc(slices.Values(p.Jobs), bySubmission)
}

func (j *Job) appendRow(line []byte) []byte {
	line = appendText(line, j.Trace.ID)
	line = append(line, ',')
	line = appendText(line, j.Trace.VC)
	for _, x := range [...]int64{j.Start, j.End, j.Queue, int64(j.Preemptions)} {
		line = strconv.AppendInt(append(line, ','), x, 10)
	}
	line = append(line, ',')
	many := len(j.Nodes) > 1 || len(j.Nodes) == 1 && bits.OnesCount64(j.Nodes[0].GPUs) > 1
	if many { // there are commas in it
		line = append(line, '"')
	}
	line = j.appendNodes(line)
	if many {
		line = append(line, '"')
	}
	return line
}

// appendText adds a text to a row, in quotes where it needs them.
func appendText(line []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return append(line, text...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// appendNodes writes nodes with their devices as Python writes them: [{0: [0, 1]}].
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

func (j *Job) appendProfile(line []byte) []byte {
	for _, x := range [...]int64{int64(one(j.Profiled)), j.ProfileQueue, int64(one(j.Skipped)), int64(one(!j.Shared))} {
		line = strconv.AppendInt(append(line, ','), x, 10)
	}
	line = append(line, ',')
	from := len(line)
	line = strconv.AppendFloat(line, j.rate, 'f', -1, 64)
	if !strings.Contains(string(line[from:]), ".") {
		line = append(line, ".0"...)
	}
	for _, x := range [...]int64{j.PackedAt, j.UnpackedAt} {
		line = strconv.AppendInt(append(line, ','), x, 10)
	}
	return line
}
