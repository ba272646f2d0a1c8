package failures

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/trace"
)

// Kinds of listed outages.
const (
	Failure = "failure" // the node fails: its jobs lose work
	Drain   = "drain"   // planned outage: no job starts that would overlap it
	// drain that schedulers do not know before it begins
	UnannouncedDrain = "unannounced-drain"
)

// Listed is an outage of a node of the simulated cluster.
type Listed struct {
	// Virtual cluster of the node. May be empty if there is only one.
	VC string `config:"vc"`
	// Number of the node in its virtual cluster, from 0. Spare nodes follow the other nodes. Required.
	Node int `config:",needed"`
	// Start of the outage, in seconds after time 0 of the job trace. Required.
	From int64 `config:"from_seconds,needed"`
	// End of the outage, in seconds after time 0 of the job trace. Zero means that the node does not recover.
	To int64 `config:"to_seconds"`
	// Kind of the outage: "failure", "drain" (a planned outage, announced in advance) or "unannounced-drain". Default
	// "failure".
	Kind string `config:",one=|failure|drain|unannounced-drain"`
	// Class of the fault, for the table of outages. May be empty.
	Class string
}

// Validate returns an error for an invalid outage.
func (l *Listed) Validate() error {
	switch {
	case l.Node < 0 || l.Node >= trace.MaxNodes:
		return fmt.Errorf("node is %d; must be between 0 and %d", l.Node, trace.MaxNodes-1)
	case l.From < 0 || l.From > maxSecond:
		return fmt.Errorf("from_seconds is %d; must be between 0 and %d", l.From, maxSecond)
	case l.To != 0 && l.To < l.From || l.To > maxSecond:
		return fmt.Errorf("to_seconds is %d; must be 0 or from from_seconds (%d) to %d", l.To, l.From, maxSecond)
	case !slices.Contains([]string{"", Failure, Drain, UnannouncedDrain}, l.Kind):
		return fmt.Errorf("kind is %q; must be %q, %q or %q", l.Kind, Failure, Drain, UnannouncedDrain)
	case len(l.Class) > maxText || len(l.VC) > maxText:
		return fmt.Errorf("a text is longer than the limit of %d bytes; shorten it", maxText)
	}
	return nil
}

// maxSecond is the latest time of a list: about ten thousand years, as in simulations.
const maxSecond = int64(1) << 38

// maxListed is the largest number of outages of a list.
const maxListed = 2_000_000

// Columns are the columns of a list of outages. Columns vc, kind, class and jobs may be missing. The last is the number
// of jobs that an outage stopped in a simulation, and is not read.
var Columns = []string{"vc", "node", "from [s]", "to [s]", "kind", "class", "jobs"}

// entry is a row of a file that lists outages.
type entry struct {
	Listed        // Node is zero if the node has a name
	name   string // name of the node; empty if the row has its number
	line   int    // line of the file
	zero   bool   // the outage ends at second 0, where it begins: zero in To means no end
	moved  bool   // an hour was added to the end, see slurmFile.endAfter
}

// end returns the end of an outage, and open if it has no end.
func (e *entry) end(open int64) int64 {
	if e.zero {
		return 0
	}
	return cmp.Or(e.To, open)
}

// distinct removes rows that repeat an earlier row, as in files that were joined. A node has no two equal outages.
func distinct(list []entry) []entry {
	seen := make(map[entry]bool, len(list))
	return slices.DeleteFunc(list, func(e entry) bool {
		e.line = 0
		repeated := seen[e]
		seen[e] = true
		return repeated
	})
}

// parseList reads a list of outages from a CSV table. Rows that repeat an earlier row count once. An empty "to [s]"
// means that the node does not recover. Errors name the file, the line and a remedy. The function isName reports
// whether a cell of the column node is the name of a node; nil means that nodes have no names. With only, all cells are
// names.
func parseList(text []byte, path string, isName func(cell string) bool, only bool) (list []entry, err error) {
	c := csv.NewReader(bytes.NewReader(withoutMark(text)))
	c.ReuseRecord = true
	r := &rows{path: path, csv: c, at: map[string]int{}, isName: isName, only: only}
	if err := r.header(); err != nil {
		return nil, err
	}
	for {
		r.cells, err = c.Read()
		if errors.Is(err, io.EOF) {
			return distinct(list), nil
		}
		if err != nil {
			return nil, r.broken(err)
		}
		if len(list) == maxListed {
			return nil, r.fault("", fmt.Sprintf("the list has more than the limit of %d outages", maxListed),
				"split it")
		}
		e, err := r.entry()
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
}

// rows reads the rows of a list.
type rows struct {
	path  string
	csv   *csv.Reader
	at    map[string]int // columns by name
	cells []string
	// reports whether a node is a name; nil if nodes have no names
	isName func(cell string) bool
	only   bool // nodes are names, because some names are numbers
}

func (r *rows) fault(field, text, remedy string) error {
	return &trace.Error{Path: r.path, Line: r.line(), Field: field, Text: text, Remedy: remedy}
}

// line returns the line of the current row; it is the header before the first row.
func (r *rows) line() int {
	if len(r.cells) == 0 {
		return 1
	}
	line, _ := r.csv.FieldPos(0)
	return line
}

// broken returns an error about text that is not CSV.
func (r *rows) broken(err error) error {
	line := 0
	var at *csv.ParseError
	if errors.As(err, &at) {
		line, err = at.Line, at.Err
	}
	return &trace.Error{Path: r.path, Line: line, Text: "invalid CSV: " + err.Error(), Remedy: "correct the line"}
}

func (r *rows) header() error {
	cells, err := r.csv.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return r.broken(err)
	}
	for k, name := range cells {
		if !slices.Contains(Columns, name) {
			return r.fault("", fmt.Sprintf("unknown column %.40q", name), "use the columns "+strings.Join(Columns,
				", "))
		}
		if _, twice := r.at[name]; twice {
			return r.fault("", fmt.Sprintf("duplicate column %q", name), "remove one")
		}
		r.at[name] = k
	}
	for _, name := range Columns[1:4] {
		if _, has := r.at[name]; !has {
			return r.fault("", fmt.Sprintf("column %q is missing", name), "add it to the header")
		}
	}
	return nil
}

func (r *rows) text(column string) string {
	if k, has := r.at[column]; has {
		return r.cells[k]
	}
	return ""
}

// number reads a whole number.
func (r *rows) number(column string) (int64, error) {
	text := r.text(column)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, r.fault(column, fmt.Sprintf("is %.40q: expected a whole number", text), "correct the line")
	}
	return v, nil
}

// node reads the number or the name of a node.
func (r *rows) node(e *entry) error {
	text := r.text("node")
	if r.isName != nil && r.isName(text) {
		e.name = text
		return nil
	}
	if r.only {
		return r.fault("node", fmt.Sprintf("is %.40q, and failures.nodes has numbers as names: expected one of its "+
			"names", text), "correct the line or failures.nodes")
	}
	n, err := strconv.Atoi(text)
	if e.Node = n; err == nil {
		return nil
	}
	want, remedy := "a whole number", "correct the line, or name the cluster's nodes with failures.nodes"
	if r.isName != nil {
		want, remedy = "a whole number or a known node name", "correct the line or failures.nodes"
	}
	return r.fault("node", fmt.Sprintf("is %.40q: expected %s", text, want), remedy)
}

// end reads the end of an outage, whose beginning is known.
func (r *rows) end(e *entry) (err error) {
	if r.text("to [s]") == "" {
		return nil
	}
	e.To, err = r.number("to [s]")
	if e.zero = err == nil && e.To == 0; e.zero && e.From > 0 {
		err = r.fault("to [s]", "is 0: expected a later second", "leave the cell empty if the node does not recover")
	}
	return err
}

func (r *rows) entry() (e entry, err error) {
	e = entry{Listed: Listed{VC: r.text("vc"), Kind: r.text("kind"), Class: r.text("class")}, line: r.line()}
	if err := r.node(&e); err != nil {
		return e, err
	}
	if e.From, err = r.number("from [s]"); err != nil {
		return e, err
	}
	if err = r.end(&e); err != nil {
		return e, err
	}
	if fault := e.Validate(); fault != nil {
		return e, r.fault("", fault.Error(), "correct the line")
	}
	return e, nil
}
