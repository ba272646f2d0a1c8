package page

import (
	"time"

	"graft/report/document"
	"graft/results"
)

// Page is a report. The zero value is an empty one.
type Page struct {
	Title    string    // title of the page and its window
	Lead     string    // a sentence below the title; empty for none
	Version  string    // of graft; empty is unknown
	Links    []Link    // to other pages; nil for a page that stands alone
	Live     *Live     // for a served page that follows its runs; nil for a finished one
	Sections []Section // in their order
}

// Link leads to another page of the same server.
type Link struct {
	Text    string
	Address string // a path, escaped as addresses are
}

// Live configures a served page that follows its runs: it requests itself again and
// replaces the parts that differ, every Every at first, and less often while nothing
// changes.
type Live struct {
	Tag    string        // version of the content, the answer's ETag without quotes; an equal tag means no change
	Every  time.Duration // shortest interval between requests; zero is a second
	Rarely time.Duration // longest interval, after a long time without changes; below Every it is Every
}

// Section is a part of a page with a heading, which the table of contents lists.
type Section struct {
	Title string
	Parts []Part
}

// Part is an element of a section. It shows the first of its fields that is not empty.
type Part struct {
	Heading   string    // heading of the parts that follow
	Sentences []string  // a line each
	Facts     []Fact    // names and values
	Table     *Table    // sortable table
	Figures   []Figure  // figures, side by side where there is room
	Timeline  *Timeline // events along an axis
	Folded    *Folded   // a text that opens when it is asked for
	Code      string    // text in the typeface of code
}

// Fact is a name and its value.
type Fact struct {
	Name string
	Text string
	Code bool // the text is set as code: a digest, a path
}

// Table is a table that readers can sort. Its first column names the rows if it holds no numbers.
type Table struct {
	document.Table
	Caption string // description for readers who cannot see the heading above
	Pick    *Pick  // lets readers select rows and open a page about them; nil for none
}

// Pick lets readers select rows of a table. A plain form requests the page about them.
type Pick struct {
	Address string   // address of that page
	Name    string   // name of the query parameter, given once for each selected row
	Values  []string // its value for each row; rows with an empty one cannot be selected
	Button  string   // label of the button
	About   string   // a sentence beside the button; empty for none
}

// Figure is a picture.
type Figure struct {
	Caption     string
	Description string // text alternative; empty for none
	SVG         []byte // one svg element without ids, scripts and links
}

// Timeline is events along an axis.
type Timeline struct {
	Title  string  // title of the time line
	Unit   string  // of the axis
	End    float64 // end of the axis, which begins at zero; at least the time of the last event
	Events []Event
}

// Event is an event on a time line.
type Event struct {
	At     float64
	Name   string
	Detail string // further text, one line
	Look   results.Look
}

// Folded is a text that is hidden until the reader opens it.
type Folded struct {
	Title string
	Text  string
}
