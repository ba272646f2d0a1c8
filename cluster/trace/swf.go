package trace

import (
	"bytes"
	"fmt"
	"strconv"
)

// swfFormat is the Standard Workload Format of the Parallel Workloads Archive, version 2.2: comments about the trace,
// then lines of eighteen numbers, in which -1 means unknown.
var swfFormat = format{
	Format: Format{Name: "swf", About: "Standard Workload Format of the Parallel Workloads Archive"},
	knows:  knowsSWF,
	open: func(source lines, o *Options) (rows, error) {
		return &swf{lines: source, processors: o.Processors, history: o.History}, nil
	},
	write: newSWFWriter,
}

var swfColumns = []string{
	"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "application", "queue",
	"partition", "preceding job", "think time",
}

// Indexes of the fields that are read or written.
const (
	swfNumber     = 0
	swfSubmit     = 1
	swfWait       = 2
	swfRunTime    = 3
	swfAllocated  = 4
	swfRequested  = 7
	swfLimit      = 8
	swfStatus     = 10
	swfUser       = 11
	swfExecutable = 13
	swfQueue      = 14
	swfPartition  = 15
)

// knowsSWF checks for a comment, or for a line with the right number of numbers.
func knowsSWF(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) > 0 && head[0] == ';' {
		return true
	}
	fields := bytes.Fields(firstLine(head))
	for _, f := range fields {
		if _, ok := decimal(f); !ok {
			return false
		}
	}
	return len(fields) == len(swfColumns)
}

// swf reads lines of numbers.
type swf struct {
	lines
	processors Processors
	history    bool // the option History
	fields     [][]byte
	columns    []int // byte at which each field begins, from 1
	start      clock
	nodes, all int // nodes and processors of the cluster from comments; zero if unknown

	users, vcs, titles interner
}

func (s *swf) next(job *Job) error {
	for {
		line, err := s.lines.next()
		if err != nil {
			return err
		}
		s.split(line)
		switch {
		case len(s.fields) == 0:
		case s.fields[0][0] == ';':
			s.comment(line)
		case len(s.fields) != len(swfColumns):
			return s.fault(s.number, 0, "",
				"the line has "+strconv.Itoa(len(s.fields))+" fields, expected 18", mendLine)
		default:
			*job = Job{}
			return s.take(job)
		}
	}
}

// split splits a line at blanks.
func (s *swf) split(line []byte) {
	s.fields, s.columns = s.fields[:0], s.columns[:0]
	for at := 0; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' || line[at] == '\r' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] != ' ' && line[end] != '\t' && line[end] != '\r' {
			end++
		}
		s.fields, s.columns = append(s.fields, line[at:end]), append(s.columns, at+1)
		at = end
	}
}

// comment reads information about the trace from a comment before the first job.
func (s *swf) comment(line []byte) {
	key, text, _ := bytes.Cut(bytes.TrimLeft(line, "; \t"), []byte(":"))
	v, ok := integer(bytes.TrimSpace(text))
	if !ok || v < 0 || v > maxSeconds {
		return
	}
	switch string(bytes.TrimSpace(key)) {
	case "UnixStartTime":
		s.start = clock{unix: v, known: true}
	case "MaxNodes":
		s.nodes = int(min(v, maxCount))
	case "MaxProcs":
		s.all = int(min(v, maxCount))
	}
}

// take converts the numbers of a line.
func (s *swf) take(job *Job) error {
	for _, f := range s.fields {
		if _, ok := decimal(f); !ok {
			return s.wants(f, "a number, or -1 if unknown")
		}
	}
	var ok bool
	if job.Submit, ok = seconds(s.fields[swfSubmit]); !ok {
		return s.wants(s.fields[swfSubmit], wantSeconds)
	}
	run, ok := seconds(s.fields[swfRunTime])
	if !ok {
		return s.wants(s.fields[swfRunTime], wantSeconds)
	}
	job.Duration = max(run, 0) // negative means unknown
	limit, ok := seconds(s.fields[swfLimit])
	if !ok {
		return s.wants(s.fields[swfLimit], wantSeconds)
	}
	job.Limit = max(limit, 0)
	wait, ok := seconds(s.fields[swfWait])
	if !ok {
		return s.wants(s.fields[swfWait], wantSeconds)
	}
	if s.history && wait >= 0 {
		job.history().Wait, job.history().Started = wait, true
	}
	n, err := s.processorsOf()
	if err != nil {
		return err
	}
	if s.processors == AsCPUs {
		job.CPUs = n
	} else {
		job.GPUs = n
	}
	job.ID = string(s.fields[swfNumber])
	job.User, job.Name = known(&s.users, s.fields[swfUser]), known(&s.titles, s.fields[swfExecutable])
	if job.VC = known(&s.vcs, s.fields[swfPartition]); job.VC == "" {
		job.VC = known(&s.vcs, s.fields[swfQueue])
	}
	job.State = swfStates[string(s.fields[swfStatus])]
	return nil
}

// processorsOf returns the allocated processors of a job or, if unknown, the requested ones.
func (s *swf) processorsOf() (int, error) {
	for _, k := range []int{swfAllocated, swfRequested} {
		field := s.fields[k]
		if field[0] == '-' {
			continue
		}
		n, ok := count(field)
		if !ok {
			return 0, s.wants(field, wantCount+", or -1")
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

// known returns the name for a number; empty for a negative number.
func known(names *interner, field []byte) string {
	if field[0] == '-' {
		return ""
	}
	return names.of(field)
}

// swfStates maps state numbers. A preempted job has a line with state 2 for each of its parts.
var swfStates = map[string]State{"0": Failed, "1": Completed, "3": Completed, "4": Failed, "5": Cancelled}

// wants returns the error about a field of the line.
func (s *swf) wants(field []byte, want string) error {
	for k := range s.fields {
		if &s.fields[k][0] == &field[0] {
			return s.fault(s.number, s.columns[k], swfColumns[k], isButWants(field, want), mendLine)
		}
	}
	return s.fault(s.number, 0, "", isButWants(field, want), mendLine)
}

// clock returns the date of second zero, if a comment has it.
func (s *swf) clock() clock { return s.start }

func (s *swf) line() int { return s.number }

func (s *swf) size() (nodes, processors int) { return s.nodes, s.all }

// swfWriter writes lines of numbers. Names are numbered in order of occurrence. Jobs are numbered too if their names
// are not numbers.
type swfWriter struct {
	o                *WriterOptions
	users, vcs, apps map[string]int
	jobs             int
	counts           bool // jobs are numbered instead of keeping their names
}

func newSWFWriter(o *WriterOptions) jobWriter {
	return &swfWriter{o: o, users: map[string]int{}, vcs: map[string]int{}, apps: map[string]int{}}
}

func (w *swfWriter) header(line []byte) []byte {
	line = append(line, "; Version: 2.2\n"...)
	if !w.o.Start.IsZero() {
		line = append(strconv.AppendInt(append(line, "; UnixStartTime: "...), w.o.Start.Unix(), 10), '\n')
	}
	for _, c := range []struct {
		key string
		n   int
	}{{"MaxNodes", w.o.Nodes}, {"MaxProcs", w.o.Processors}} {
		if c.n > 0 {
			line = append(strconv.AppendInt(append(line, "; "+c.key+": "...), int64(c.n), 10), '\n')
		}
	}
	return append(line, "; Note: a processor is a GPU\n"...)
}

func (w *swfWriter) job(line []byte, job *Job) ([]byte, error) {
	w.jobs++
	_, isNumber := integer([]byte(job.ID))
	isNumber = isNumber && job.ID[0] != '-'
	if w.jobs == 1 {
		w.counts = !isNumber
	}
	if !w.counts && !isNumber {
		return nil, fmt.Errorf("job %.40q: the ID is not a number, but earlier IDs are numbers; choose another format",
			job.ID)
	}
	number := job.ID
	if w.counts {
		number = strconv.Itoa(w.jobs)
	}
	line = append(line, number...)
	for _, v := range [...]int64{
		job.Submit, -1, job.Duration, int64(job.GPUs), -1, -1, int64(job.GPUs), swfLimitOf(job), -1,
		swfStatusOf(job.State),
		numberOf(w.users, job.User), -1, numberOf(w.apps, job.Name), -1, numberOf(w.vcs, job.VC), -1, -1,
	} {
		line = strconv.AppendInt(append(line, ' '), v, 10)
	}
	return append(line, '\n'), nil
}

// numberOf numbers names from 1; the empty name is -1.
func numberOf(numbers map[string]int, name string) int64 {
	if name == "" {
		return -1
	}
	n, known := numbers[name]
	if !known {
		n = len(numbers) + 1
		numbers[name] = n
	}
	return int64(n)
}

// swfLimitOf returns the time limit; -1 if there is none.
func swfLimitOf(job *Job) int64 {
	if job.Limit == 0 {
		return -1
	}
	return job.Limit
}

// swfStatusOf returns the number of a state. The format does not distinguish kinds of failures.
func swfStatusOf(s State) int64 {
	switch s {
	case Completed:
		return 1
	case Cancelled:
		return 5
	case Failed, TimedOut, NodeFailed, OutOfMemory:
		return 0
	}
	return -1
}
