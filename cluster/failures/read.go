package failures

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"graft/cluster/trace"
	"graft/internal/files"
	"graft/internal/words"
)

// Limits of fault traces and of lists of outages.
const (
	maxBytes = 256 << 20 // size of a file
	maxDays  = 100 * 366 // observed period
	maxText  = 1 << 12   // bytes of a name or description
)

const secondsOfDay = 86_400

// ReadOptions describes what a fault trace does not contain.
type ReadOptions struct {
	// number of observed nodes, including nodes without faults; zero means the nodes of the file
	Nodes int
	// observed days; zero means up to the last event, rounded up to a whole day
	Days float64
	// date at which the observed period of Slurm events begins; the zero time means midnight before the first event
	Start time.Time
}

// Validate returns an error for an invalid option.
func (o ReadOptions) Validate() error {
	if o.Nodes < 0 || o.Nodes > trace.MaxNodes {
		return fmt.Errorf("the number of observed nodes is %d; must be between 0 and %d", o.Nodes, trace.MaxNodes)
	}
	if !(o.Days >= 0 && o.Days <= maxDays) {
		return fmt.Errorf("the number of observed days is %g; must be between 0 and %d", o.Days, maxDays)
	}
	return nil
}

// event is an event of a fault trace in the format of InfiniteHBD (Peking University and StepFun, SIGCOMM 2025).
type event struct {
	Node *string  `json:"node_id"`
	Days *float64 `json:"event_time"`
	What *string  `json:"event_type"`
	Type struct {
		Level string `json:"Level"`
		Class string `json:"Class"`
		Desc  string `json:"Desc"`
	} `json:"fault_type"`

	// Number of observed nodes and days of the trace, which graft writes in the first event; zero if unknown. Other
	// readers ignore them.
	AllNodes int     `json:"observed_nodes"`
	AllDays  float64 `json:"observed_days"`
}

func readAll(fsys files.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read failures: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read failures from %s: %w", path, err)
	}
	if len(text) > maxBytes {
		return nil, &trace.Error{Path: path, Text: fmt.Sprintf("the file is larger than the limit of %d bytes",
			maxBytes),
			Remedy: "split it"}
	}
	return text, nil
}

// Parse reads a fault trace in the JSON format of InfiniteHBD: a list of events in order of time. A fault without an
// end lasts until the end of the observed period. Errors name the file path, the line and a remedy.
func Parse(text []byte, path string, o ReadOptions) (*Trace, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &reader{text: withoutMark(text), path: path, nodes: map[string]int{}, open: map[key][]int{}}
	if err := r.events(); err != nil {
		return nil, err
	}
	return r.finish(o)
}

// reader collects the faults of a trace.
type reader struct {
	text  []byte
	path  string
	at    int64 // offset of the current event
	begun int64 // offset up to which lines were counted
	line  int
	nodes map[string]int // positions in the trace, by ID
	trace Trace
	open  map[key][]int // positions of open faults, the oldest first
	last  int64         // second of the last event
	days  float64       // time of the last event

	observed ReadOptions // observed nodes and days of the first event
}

// key identifies faults that an end can belong to.
type key struct {
	node               int
	level, class, text string
}

func (r *reader) fault(field, text, remedy string) error {
	at := min(r.at, int64(len(r.text)))
	r.line += bytes.Count(r.text[r.begun:at], []byte("\n"))
	return &trace.Error{Path: r.path, Line: r.line + 1, Field: field, Text: text, Remedy: remedy}
}

const mendEvent = "correct or remove the event"

// events reads the list of events.
func (r *reader) events() error {
	d := json.NewDecoder(bytes.NewReader(r.text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return r.fault("", "expected a JSON list of events", "begin the file with [")
	}
	for first := true; d.More(); first = false {
		r.at = skip(r.text, d.InputOffset())
		var e event
		if err := d.Decode(&e); err != nil {
			return r.broken(err)
		}
		if first {
			if err := r.observe(&e); err != nil {
				return err
			}
		}
		if err := r.event(&e); err != nil {
			return err
		}
	}
	r.at = d.InputOffset()
	if _, err := d.Token(); err != nil {
		return r.broken(err)
	}
	if r.at = skip(r.text, d.InputOffset()); r.at < int64(len(r.text)) {
		return r.fault("", "unexpected text after the list of events", "remove the text")
	}
	return nil
}

// observe keeps the observed nodes and days of the first event.
func (r *reader) observe(e *event) error {
	r.observed = ReadOptions{Nodes: e.AllNodes, Days: e.AllDays}
	if err := r.observed.Validate(); err != nil {
		return r.fault("observed_nodes, observed_days", err.Error(), "correct or remove them")
	}
	return nil
}

// skip moves an offset past white space and commas, so that it is in the line of the next value.
func skip(text []byte, at int64) int64 {
	for at < int64(len(text)) && bytes.IndexByte([]byte(" \t\r\n,"), text[at]) >= 0 {
		at++
	}
	return at
}

// broken returns an error about text that is not JSON, or has a value of another type.
func (r *reader) broken(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		r.at = max(r.at, min(syntax.Offset, int64(len(r.text))))
		return r.fault("", "invalid JSON: "+syntax.Error(), "correct the text")
	case errors.As(err, &kind):
		return r.fault(kind.Field, fmt.Sprintf("is a JSON %s; expected %s", kind.Value, jsonName(kind)), mendEvent)
	}
	r.at = int64(len(r.text))
	return r.fault("", "the list of events does not end", "end the file with ]")
}

func jsonName(e *json.UnmarshalTypeError) string {
	switch e.Type.String() {
	case "string":
		return "a text"
	case "float64":
		return "a number"
	case "int":
		return "a whole number"
	}
	return "an object"
}

// event adds the beginning or the end of a fault.
func (r *reader) event(e *event) error {
	at, err := r.time(e)
	if err != nil {
		return err
	}
	switch {
	case e.Node == nil || *e.Node == "":
		return r.fault("node_id", "is missing", "add the ID of the node")
	case max(len(*e.Node), len(e.Type.Level), len(e.Type.Class), len(e.Type.Desc)) > maxText:
		return r.fault("", fmt.Sprintf("a text is longer than the limit of %d bytes", maxText), "shorten it")
	case e.What == nil || *e.What != "fault_start" && *e.What != "fault_end":
		return r.fault("event_type", "is missing or unknown", "write fault_start or fault_end")
	}
	node, known := r.nodes[*e.Node]
	if !known {
		node = len(r.trace.Nodes)
		r.nodes[*e.Node] = node
		r.trace.Nodes = append(r.trace.Nodes, Node{ID: *e.Node})
	}
	k := key{node, e.Type.Level, e.Type.Class, e.Type.Desc}
	faults := &r.trace.Nodes[node].Faults
	if *e.What == "fault_start" {
		r.open[k] = append(r.open[k], len(*faults))
		*faults = append(*faults, Fault{From: at, Level: k.level, Class: k.class, Text: k.text, Open: true})
		return nil
	}
	if len(r.open[k]) == 0 {
		return r.fault("event_type", "fault_end has no earlier fault_start of this node and fault type",
			"add the event fault_start, at time 0 if the fault began before the trace")
	}
	f := &(*faults)[r.open[k][0]]
	f.To, f.Open = at, false
	if r.open[k] = r.open[k][1:]; len(r.open[k]) == 0 {
		delete(r.open, k)
	}
	return nil
}

// time returns the second of an event.
func (r *reader) time(e *event) (int64, error) {
	if e.Days == nil {
		return 0, r.fault("event_time", "is missing", "add the time in days")
	}
	days := *e.Days
	if !(days >= 0 && days <= maxDays) {
		return 0, r.fault("event_time", fmt.Sprintf("is %g: expected days from 0 to %d", days, maxDays), mendEvent)
	}
	if days < r.days {
		return 0, r.fault("event_time", fmt.Sprintf("is %g, before the time %g of the previous event", days, r.days),
			"sort the events by time")
	}
	r.days, r.last = days, seconds(days)
	return r.last, nil
}

// seconds converts days to the nearest second.
func seconds(days float64) int64 { return int64(math.Round(days * secondsOfDay)) }

// finish checks the trace against the options, and ends open faults with the observed period.
func (r *reader) finish(o ReadOptions) (*Trace, error) {
	t := &r.trace
	o.Nodes, o.Days = cmp.Or(o.Nodes, r.observed.Nodes), cmp.Or(o.Days, r.observed.Days)
	t.Total, t.Period = max(o.Nodes, len(t.Nodes)), seconds(o.Days)
	if o.Nodes > 0 && o.Nodes < len(t.Nodes) {
		return nil, &trace.Error{Path: r.path, Text: fmt.Sprintf("the trace has %s, but the number of observed "+
			"nodes is %d", words.Plural(len(t.Nodes), "faulty node"), o.Nodes),
			Remedy: "correct the number of observed nodes"}
	}
	if o.Days == 0 {
		t.Period = wholeDays(r.last)
	}
	if len(t.Nodes) == 0 {
		return nil, &trace.Error{Path: r.path, Text: "the trace has no events", Remedy: "name another file"}
	}
	if t.Period < r.last || t.Period == 0 {
		return nil, lateError(r.path, r.days, t.Period)
	}
	for n := range t.Nodes {
		for k := range t.Nodes[n].Faults {
			if f := &t.Nodes[n].Faults[k]; f.Open {
				f.To = t.Period
			}
		}
	}
	return t, nil
}

// wholeDays rounds seconds up to a whole day.
func wholeDays(last int64) int64 { return (last + secondsOfDay - 1) / secondsOfDay * secondsOfDay }

// lateError returns the error for an event after the observed period.
func lateError(path string, days float64, period int64) error {
	return &trace.Error{Path: path, Text: fmt.Sprintf("the last event is on day %g, but %g days were observed", days,
		float64(period)/secondsOfDay), Remedy: "correct the number of observed days"}
}
