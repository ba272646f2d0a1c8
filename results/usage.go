package results

import (
	"bufio"
	"io"
	"iter"
	"strconv"
	"strings"
)

// UsageFile is the file name of the table of usage rows (see [UsageRow]) in the folder of a simulated cluster.
const UsageFile = "usage.csv"

// UsageRow describes the usage of one of a cluster's GPU pools during one second.
type UsageRow struct {
	Pool        string
	At          int64 // second of the trace
	GPUs        int64
	Idle        int64 // number of GPUs without a job
	Running     int64 // number of running jobs
	Waiting     int64 // number of waiting jobs
	WaitingGPUs int64 // number of GPUs that waiting jobs request
	WaitingFew  int64 // number of waiting jobs that fit on one node
	Nodes       int64
	Single      int64 // number of nodes with one job
	Several     int64 // number of nodes with several jobs
}

// poolColumn is the first column of a table of usage.
const poolColumn = "vc"

// usageColumns are the other columns, in the order of the file.
var usageColumns = []struct {
	name  string
	field func(r *UsageRow) *int64
}{
	{"time [s]", func(r *UsageRow) *int64 { return &r.At }},
	{"gpus", func(r *UsageRow) *int64 { return &r.GPUs }},
	{"idle_gpus", func(r *UsageRow) *int64 { return &r.Idle }},
	{"running_jobs", func(r *UsageRow) *int64 { return &r.Running }},
	{"waiting_jobs", func(r *UsageRow) *int64 { return &r.Waiting }},
	{"waiting_gpus", func(r *UsageRow) *int64 { return &r.WaitingGPUs }},
	{"waiting_jobs_of_a_node", func(r *UsageRow) *int64 { return &r.WaitingFew }},
	{"nodes", func(r *UsageRow) *int64 { return &r.Nodes }},
	{"nodes_with_a_job", func(r *UsageRow) *int64 { return &r.Single }},
	{"nodes_with_several", func(r *UsageRow) *int64 { return &r.Several }},
}

// WriteUsage writes usage rows as a table.
func WriteUsage(w io.Writer, rows iter.Seq[UsageRow]) error {
	b := bufio.NewWriterSize(w, readBuffer)
	line := []byte(poolColumn)
	for _, c := range usageColumns {
		line = append(append(line, ','), c.name...)
	}
	_, _ = b.Write(append(line, '\n')) // Flush returns the first error
	for row := range rows {
		line = appendPlain(line[:0], row.Pool)
		for _, c := range usageColumns {
			line = strconv.AppendInt(append(line, ','), *c.field(&row), 10)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// appendPlain appends a text, quoted only if necessary.
func appendPlain(line []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return append(line, text...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}
