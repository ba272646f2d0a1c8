package failures

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/cluster/trace"
	"graft/internal/words"
)

// maxLine is the maximum length of a line of Slurm's events, in bytes.
const maxLine = 1 << 16

// slurmFile holds the events that 'sacctmgr --parsable2 show event' or 'sacctmgr --parsable show event' prints: values
// separated by vertical bars, without quotes (manual page of sacctmgr, and output of Slurm 22.05).
type slurmFile struct {
	path    string
	line    int
	header  string
	columns []string
	cluster string  // first cluster
	rows    []entry // times are in seconds since 1970
	others  int     // number of events of a cluster, which have no node
	shifted int     // number of distinct events that end up to an hour before they start; see endAfter
}

// Columns of Slurm's events. The column StateRaw is numeric, and more precise than the column State.
const (
	columnCluster = "Cluster"
	columnNode    = "NodeName"
	columnStart   = "TimeStart"
	columnEnd     = "TimeEnd"
	columnState   = "State"
	columnRaw     = "StateRaw"
	columnReason  = "Reason"
)

// slurmRemedy is the remedy for a file that is not the output of sacctmgr with the needed options.
const slurmRemedy = "print the events with 'sacctmgr --parsable2 show event'"

// parseSlurm reads Slurm's events of nodes. Events that repeat an earlier event count once. Errors name the file, the
// line and a remedy.
func parseSlurm(text []byte, path string) (*slurmFile, error) {
	r := &slurmFile{path: path}
	for line := range bytes.Lines(withoutMark(text)) {
		r.line++
		if err := r.read(strings.TrimRight(string(line), "\r\n")); err != nil {
			return nil, err
		}
	}
	if len(r.rows) == 0 {
		return nil, &trace.Error{Path: path, Text: "the file has no events of nodes", Remedy: "choose a longer " +
			"period, as in 'sacctmgr --parsable2 show event Start=2025-01-01'"}
	}
	r.rows = distinct(r.rows)
	for _, e := range r.rows {
		if e.moved {
			r.shifted++
		}
	}
	return r, nil
}

func (r *slurmFile) fault(field, text, remedy string) error {
	return &trace.Error{Path: r.path, Line: r.line, Field: field, Text: text, Remedy: remedy}
}

// rowRemedy is the remedy of most faults in a row.
const rowRemedy = "correct or remove the line"

// read reads a line. It skips the header of each file if files were concatenated.
func (r *slurmFile) read(line string) error {
	switch {
	case line == "" || line == r.header:
		return nil
	case len(line) > maxLine:
		return r.fault("", fmt.Sprintf("the line is longer than the limit of %d bytes", maxLine), rowRemedy)
	case r.header == "":
		return r.readHeader(line)
	case len(r.rows) == maxListed:
		return r.fault("", fmt.Sprintf("the file has more than the limit of %d events", maxListed), "split it")
	}
	return r.readRow(line)
}

// readHeader reads the names of the columns.
func (r *slurmFile) readHeader(line string) error {
	r.header = line
	if !strings.Contains(line, "|") {
		return r.fault("", "the columns are not separated by |", slurmRemedy)
	}
	r.columns = strings.Split(line, "|")
	for k, name := range r.columns {
		if name != "" && slices.Contains(r.columns[:k], name) {
			return r.fault("", fmt.Sprintf("duplicate column %.40q", name), "remove one")
		}
	}
	for _, name := range []string{columnNode, columnStart, columnEnd, columnState} {
		if !slices.Contains(r.columns, name) {
			return r.fault("", fmt.Sprintf("column %s is missing", name), slurmRemedy+", with its header")
		}
	}
	return nil
}

// cells splits a row. Only the reason, which users write, can contain a vertical bar.
func (r *slurmFile) cells(line string) ([]string, error) {
	cells := strings.Split(line, "|")
	extra, at := len(cells)-len(r.columns), slices.Index(r.columns, columnReason)
	if extra > 0 && at >= 0 {
		reason := strings.Join(cells[at:at+extra+1], "|")
		return slices.Replace(cells, at, at+extra+1, reason), nil
	}
	if extra != 0 {
		return nil, r.fault("", fmt.Sprintf("the line has %s, expected %d", words.Plural(len(cells), "field"),
			len(r.columns)), rowRemedy)
	}
	return cells, nil
}

// readRow reads an event.
func (r *slurmFile) readRow(line string) error {
	cells, err := r.cells(line)
	if err != nil {
		return err
	}
	cell := func(column string) string {
		if k := slices.Index(r.columns, column); k >= 0 {
			return cells[k]
		}
		return ""
	}
	if err := r.checkCluster(cell(columnCluster)); err != nil {
		return err
	}
	if cell(columnNode) == "" {
		r.others++
		return nil
	}
	e, err := r.event(cell)
	r.rows = append(r.rows, e)
	return err
}

// checkCluster refuses events of several clusters, whose nodes can have equal names.
func (r *slurmFile) checkCluster(name string) error {
	if r.cluster = cmp.Or(r.cluster, name); name == "" || name == r.cluster {
		return nil
	}
	return r.fault(columnCluster, fmt.Sprintf("is %.40q, but the file also has events of %.40q", name, r.cluster),
		"print one cluster with 'sacctmgr --parsable2 show event Clusters=NAME'")
}

// event returns the event of a row with a node.
func (r *slurmFile) event(cell func(column string) string) (e entry, err error) {
	e.name, e.line = cell(columnNode), r.line
	if len(e.name) > maxName || strings.ContainsFunc(e.name, invalidInName) {
		return e, r.fault(columnNode, fmt.Sprintf("is %.40q: expected the name of a node", e.name), rowRemedy)
	}
	if e.Kind, err = r.kind(cell(columnState), cell(columnRaw)); err != nil {
		return e, err
	}
	if e.Class = cmp.Or(cell(columnReason), cell(columnState)); len(e.Class) > maxText {
		return e, r.fault(columnReason, fmt.Sprintf("is longer than the limit of %d bytes", maxText), "shorten it")
	}
	if e.From, err = r.date(columnStart, cell(columnStart)); err != nil || isOpen(cell(columnEnd)) {
		return e, err
	}
	if e.To, err = r.date(columnEnd, cell(columnEnd)); err == nil && e.To < e.From {
		err = r.endAfter(&e, cell(columnStart), cell(columnEnd))
	}
	return e, err
}

// localLayout is the layout of a local time.
const localLayout = "2006-01-02T15:04:05"

// endAfter moves the end of an event that ends before it starts, or returns an error. sacctmgr prints local times. At
// the end of daylight saving time, clocks go back by an hour, so that an event can seem to end up to an hour too early.
// Its end moves by this hour, as in traces of jobs.
func (r *slurmFile) endAfter(e *entry, start, end string) error {
	isLocal := func(text string) bool { return len(text) == len(localLayout) }
	if isLocal(start) && isLocal(end) && e.To+secondsOfHour >= e.From {
		e.To, e.moved = e.To+secondsOfHour, true
		return nil
	}
	return r.fault(columnEnd, fmt.Sprintf("is %s, before TimeStart %s", end, start), rowRemedy)
}

// ShiftedText states how many ends of Slurm events moved; it is empty for zero events.
func ShiftedText(events int) string {
	if events == 0 {
		return ""
	}
	return fmt.Sprintf("%s with an end up to an hour before the start, as at the end of daylight saving time; "+
		"an hour was added to the end", words.Plural(events, "event"))
}

// isOpen reports whether the end of an event is unknown because the event has not ended.
func isOpen(date string) bool { return date == "Unknown" || date == "None" }

// date reads a date, or seconds since 1970, which the environment variable SLURM_TIME_FORMAT=%s selects. Local dates
// count as UTC, as in traces of jobs.
func (r *slurmFile) date(column, text string) (int64, error) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil && 0 < v && v <= maxSecond {
		return v, nil
	}
	for _, layout := range []string{localLayout, "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, text); err == nil && t.Unix() > 0 {
			return t.Unix(), nil
		}
	}
	want := "a date such as 2026-05-01T00:03:37"
	if column == columnEnd {
		want += " or Unknown"
	}
	return 0, r.fault(column, fmt.Sprintf("is %.40q: expected %s", text, want), rowRemedy)
}

// States of nodes in events, without the suffixes of a state. Slurm combines states with plus signs.
var (
	failureStates = []string{"DOWN", "FAIL", "FAILING", "ERROR", "INVAL", "INVALID_REG", "NOT_RESPONDING", "REBOOT",
		"REBOOT_ISSUED"}
	drainStates = []string{"DRAIN", "DRAINED", "DRAINING", "MAINT", "MAINTENANCE"}
)

// kind returns the kind of an event from its state, such as DOWN* or IDLE+DRAIN, and from its numeric state, which may
// be empty. Slurm 22.05 prints the state DRAIN for a drained node that is down; only the number tells the difference.
func (r *slurmFile) kind(state, raw string) (string, error) {
	const baseMask, baseDown = 0xf, 1 // NODE_STATE_BASE and NODE_STATE_DOWN in slurm.h
	number, err := strconv.ParseUint(raw, 10, 32)
	if err != nil && raw != "" {
		return "", r.fault(columnRaw, fmt.Sprintf("is %.40q: expected a whole number", raw), rowRemedy)
	}
	if hasState(state, failureStates) || number&baseMask == baseDown {
		return Failure, nil
	}
	if hasState(state, drainStates) {
		return UnannouncedDrain, nil
	}
	return "", r.fault(columnState, fmt.Sprintf("is %.40q: expected DOWN, FAIL, DRAIN or a combination with them",
		state), rowRemedy)
}

// hasState reports whether one of some states is part of a state.
func hasState(state string, some []string) bool {
	for part := range strings.SplitSeq(strings.ToUpper(state), "+") {
		if slices.Contains(some, strings.TrimRight(part, "*~#!%$@^-")) {
			return true
		}
	}
	return false
}

// nodes lists the names of nodes in natural order, such as n2 before n10.
func (r *slurmFile) nodes() (names []string) {
	for _, e := range r.rows {
		names = append(names, e.name)
	}
	slices.SortFunc(names, words.Natural)
	return slices.Compact(names)
}

// since returns the events relative to a second since 1970, without events that ended before it.
func since(rows []entry, start int64) (kept []entry) {
	for _, e := range rows {
		if e.To != 0 && e.To <= start {
			continue
		}
		e.From = max(0, e.From-start)
		if e.To != 0 {
			e.To -= start
		}
		kept = append(kept, e)
	}
	return kept
}
