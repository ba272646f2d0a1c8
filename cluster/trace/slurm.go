package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// slurmFormat is the accounting of Slurm, as 'sacct --parsable2' or 'sacct --parsable' prints it: values separated by
// vertical bars, without quotes (sacct's manual page). A requeued job has a row for each start with 'sacct
// --duplicates', and a heterogeneous job has a row for each component; both become one job.
var slurmFormat = format{
	Format: Format{Name: "slurm", About: "Slurm accounting data, from 'sacct --allusers --duplicates --parsable2'"},
	knows:  func(head []byte) bool { return slurmHas(head) && bytes.Contains(firstLine(head), []byte("|")) },
	open: func(source lines, o *Options) (rows, error) {
		t, err := readHeaderOf(cells{lines: source, mark: '|'})
		if err != nil {
			return nil, err
		}
		s := &slurm{table: t, id: columnOf(t.row, "JobID"), title: freeColumn(t.row), spot: o.Spot,
			spotSeen: make([]bool, len(o.Spot))}
		s.header = string(bytes.Join(t.row, []byte("|")))
		columns := slices.Clone(slurmColumns)
		if s.id < 0 {
			columns[0].names, s.id = []string{rawID}, columnOf(t.row, rawID)
		}
		s.table.history = o.History
		return s, t.bind("slurm", columns)
	},
}

// slurmHas reports whether the header has the required columns.
func slurmHas(head []byte) bool {
	line := bytes.ReplaceAll(firstLine(head), []byte("|"), []byte(","))
	return hasColumns(line, "Submit") && hasColumn(line, []string{"JobID", rawID})
}

// rawID is the column of IDs in which each job of an array has a number of its own.
const rawID = "JobIDRaw"

// columnOf returns the index of the cell with a text; -1 if there is none.
func columnOf(row [][]byte, name string) int {
	return slices.IndexFunc(row, func(cell []byte) bool { return string(cell) == name })
}

// freeTexts are the columns with texts of users, in which sacct prints separators and line ends as they are.
var freeTexts = []string{"JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir"}

// freeColumn returns the index of the column with texts of users. It returns -1 if there are none, or several, because
// the separators of a row are ambiguous then.
func freeColumn(row [][]byte) int {
	found := -1
	for k, cell := range row {
		if !slices.Contains(freeTexts, string(cell)) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = k
	}
	return found
}

// The first column is the ID, which has another name if the header has only raw IDs. Columns are matched in the order
// of the header. A column that refines another one, such as ElapsedRaw, wins if it has a value.
var slurmColumns = []column{
	{[]string{"JobID"}, true, setSlurmID},
	{[]string{"Submit"}, true, setSlurmSubmit},
	{[]string{"AllocTRES"}, false, setAllocTRES},
	{[]string{"ReqTRES"}, false, setReqTRES},
	{[]string{"User"}, false, setUser},
	{[]string{"Partition"}, false, setVC},
	{[]string{"QOS"}, false, setSlurmQOS},
	{[]string{"JobName"}, false, setName},
	{[]string{"State"}, false, setSlurmState},
	{[]string{"Start"}, false, setSlurmStart},
	{[]string{"End"}, false, setSlurmEnd},
	{[]string{"ElapsedRaw"}, false, setDuration},
	{[]string{"Elapsed"}, false, setElapsed},
	{[]string{"TimelimitRaw"}, false, setLimitMinutes},
	{[]string{"Timelimit"}, false, setTimelimit},
	{[]string{"NodeList"}, false, setNodeList},
	{[]string{"Restarts"}, false, setSlurmRestarts},
}

// slurmRow is a row of a job: a start of the job, or of a component of a heterogeneous job.
type slurmRow struct {
	job         Job
	component   string // digits after the plus sign of the ID
	line        int
	began, over int64 // missing if unknown
	got, asked  tres  // allocated and requested resources
	qos         string
	nodes       string // nodes of a start that a node failure ended
	restarts    int    // number of earlier starts, if the row has it
	unassigned  bool   // Slurm assigned no nodes
}

// slurmScratch holds what the columns of a row fill in besides the job.
type slurmScratch struct {
	row       slurmRow
	resources map[string]tres // by their text
	nodes     interner
}

// slurm reads jobs, and skips their steps, whose IDs have a point.
type slurm struct {
	*table
	id     int      // column of IDs
	title  int      // column with texts of users; -1 if unknown
	header string   // first line
	spot   []string // partitions and qualities of service with spot jobs

	spotSeen []bool // whether a row has the partition or quality of service

	group   []slurmRow // rows of a job
	waiting waitingRows
	ahead   slurmRow // the row after them
	has     bool     // ahead is set
	err     error    // found while reading ahead
	at      int      // line of the last job
	left    int      // number of rows without a time

	used     []change // starts and ends of the last job; only with the option History
	unlisted int      // restarts of the last job without a row; only with the option History
}

// next reads the rows of a job and merges them.
func (s *slurm) next(job *Job) error {
	for {
		if !s.has && s.err == nil {
			s.err = s.nextRow()
		}
		if !s.has || len(s.group) > 0 && !s.continues(s.group, &s.ahead) {
			if done := s.close(); done {
				*job = s.merged()
				s.group = s.group[:0]
				return nil
			}
			if !s.has {
				return s.ended()
			}
		}
		if len(s.group) == 0 {
			s.group = s.waiting.take(s.ahead.job.ID, s.group, func(rows []slurmRow) bool {
				return s.continues(rows, &s.ahead)
			})
		}
		s.group, s.has = append(s.group, s.ahead), false
		if len(s.group) > maxStarts {
			s.err = s.fault(s.ahead.line, 0, "", "the job has more rows than the maximum of 10000", mendLine)
			return s.err
		}
	}
}

// close ends the group. It reports whether the group is a job that no later row can continue. Otherwise, the group
// waits for later rows. At the end of the file and if too many groups wait, the oldest waiting group becomes the group.
func (s *slurm) close() (done bool) {
	if len(s.group) > 0 {
		if s.has && restarts(s.group) {
			s.waiting.add(s.group)
			s.group = s.group[:0]
			if s.waiting.rows <= maxWaiting {
				return false
			}
			s.group = s.waiting.oldest(s.group)
		}
	} else if !s.has {
		s.group = s.waiting.oldest(s.group)
	}
	if len(s.group) > 0 {
		s.at = s.group[0].line
	}
	return len(s.group) > 0
}

// maxStarts is the maximum number of rows of a job.
const maxStarts = 10_000

// nextRow reads the next row of a job into ahead.
func (s *slurm) nextRow() error {
	for {
		if err := s.cells.next(); err != nil {
			return err
		}
		if len(s.row) != s.width {
			if err := s.rejoin(); err != nil {
				return err
			}
		}
		if id := s.row[s.id]; bytes.IndexByte(id, '.') >= 0 || s.isHeader() {
			continue
		}
		s.scratch.row = slurmRow{line: s.first}
		s.began, s.over = missing, missing
		row := &s.scratch.row
		if err := s.table.take(&row.job); err != nil {
			return err
		}
		if row.job.Submit == missing {
			s.left++
			continue
		}
		s.complete(row)
		s.ahead, s.has = *row, true
		return nil
	}
}

// isHeader reports whether the row repeats the header, as in files that were concatenated.
func (s *slurm) isHeader() bool {
	return len(s.row[s.id]) > 0 && s.row[s.id][0] == 'J' && string(bytes.Join(s.row, []byte("|"))) == s.header
}

// rejoin repairs a row in which the text of a user contains separators or line ends.
func (s *slurm) rejoin() error {
	switch extra := len(s.row) - s.width; {
	case s.title < 0 || extra < 0 && len(s.row) != s.title+1:
		return s.wrongCount(s.width)
	case extra < 0:
		return s.rejoinLines()
	default:
		name := bytes.Join(s.row[s.title:s.title+extra+1], []byte("|"))
		s.row = append(append(s.row[:s.title:s.title], name), s.row[s.title+extra+1:]...)
	}
	return nil
}

// rejoinLines repairs a row that ends within the text of a user. The next lines must complete it exactly, because
// otherwise the rest of the row is missing.
func (s *slurm) rejoinLines() error {
	const most = 64 // lines of a text
	cut, first := s.wrongCount(s.width), s.first
	for range most {
		s.whole = append(append(s.whole[:0], bytes.Join(s.row, []byte("|"))...), '\n')
		err := s.cells.next()
		if errors.Is(err, io.EOF) || len(s.whole) > maxLine {
			return cut
		}
		if err != nil {
			return err
		}
		s.whole = append(s.whole, bytes.Join(s.row, []byte("|"))...)
		s.row, s.first = append(s.row[:0], bytes.Split(s.whole, []byte("|"))...), first
		if len(s.row) != s.title+1 {
			break
		}
	}
	if len(s.row) != s.width {
		return cut
	}
	return nil
}

// complete derives the remaining values of a row.
func (s *slurm) complete(row *slurmRow) {
	job := &row.job
	row.began, row.over = s.began, s.over
	if job.Duration == 0 && row.began != missing && row.over != missing {
		job.Duration, _ = between(row.began, row.over)
	}
	if row.neverStarted() { // such rows can have the time of the cancellation, or the expected start
		job.Duration, row.began = 0, missing
	}
	row.setResources()
	job.Spot = job.State == Preempted
	for k, name := range s.spot {
		if name == job.VC || name == row.qos {
			job.Spot, s.spotSeen[k] = true, true
		}
	}
	if job.State != NodeFailed {
		row.nodes = ""
	}
}

// ended returns the error after the last row: io.EOF, or a name of spot jobs that no row has.
func (s *slurm) ended() error {
	if k := slices.Index(s.spotSeen, false); k >= 0 && errors.Is(s.err, io.EOF) {
		return s.lines.fault(0, 0, "", fmt.Sprintf("no job has the partition or quality of service %.40q", s.spot[k]),
			"correct or remove it in the list of spot jobs")
	}
	return s.err
}

// neverStarted reports whether the row is not a start of its job.
func (r *slurmRow) neverStarted() bool {
	return r.unassigned || r.job.State == Pending || r.job.State == Cancelled && r.job.Duration == 0
}

// setSlurmID reads an ID such as 123, 123_4, 123_[5-9%2] or 123+1. It removes the component of a heterogeneous job.
func setSlurmID(t *table, job *Job, cell []byte) string {
	id, component, several := bytes.Cut(cell, []byte("+"))
	number, task, _ := bytes.Cut(id, []byte("_"))
	for _, part := range [][]byte{number, component} {
		if digits(part) < 0 || len(part) > 18 {
			return wantSlurmID
		}
	}
	if len(number) == 0 || several && len(component) == 0 ||
		bytes.ContainsFunc(task, func(r rune) bool { return !bytes.ContainsRune([]byte("0123456789[]-,%:."), r) }) {
		return wantSlurmID
	}
	job.ID, t.scratch.row.component = t.ids.of(id), ""
	if several {
		t.scratch.row.component = t.classes.of(component)
	}
	return ""
}

const wantSlurmID = "a job ID such as 123, 123_4 or 123+0"

// setSlurmState reads a state without what follows it, as in "CANCELLED by 1001".
func setSlurmState(t *table, job *Job, cell []byte) string {
	first, _, _ := bytes.Cut(cell, []byte(" "))
	return setState(t, job, bytes.TrimSuffix(first, []byte("+"))) // a column cut short ends in a plus sign
}

func setSlurmQOS(t *table, _ *Job, cell []byte) string {
	t.scratch.row.qos = t.classes.of(cell)
	return ""
}

func setNodeList(t *table, _ *Job, cell []byte) string {
	row := &t.scratch.row
	row.nodes, row.unassigned = "", string(cell) == "None assigned"
	if !row.unassigned {
		row.nodes = t.scratch.nodes.of(cell)
	}
	return ""
}

func setSlurmRestarts(t *table, _ *Job, cell []byte) string {
	return setCount(&t.scratch.row.restarts, cell)
}

// earliest returns the first submission of the waiting rows, or an earlier one. Waiting jobs follow later.
func (s *slurm) earliest(submit int64) int64 {
	for _, rows := range s.waiting.of {
		for k := range rows {
			submit = min(submit, rows[k].job.Submit)
		}
	}
	return submit
}

func (s *slurm) line() int { return s.at }

func (s *slurm) skipped() int { return s.left }
