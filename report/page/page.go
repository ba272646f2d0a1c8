package page

import (
	"time"

	"graft/report/document"
	"graft/results"
)

// Page is a report. The zero value is empty.
type Page struct {
	Title    string    // title of the page and its window
	Lead     string    // sentence below the title; empty for none
	Version  string    // version of graft; empty means unknown
	Links    []Link    // links to other pages; nil for a standalone page
	Live     *Live     // for a served page that follows its runs; nil for a static one
	Sections []Section // in their order
}

// Link points to another page of the same server.
type Link struct {
	Text    string
	Address string // path, escaped for a URL
}

// Live configures a served page that follows its runs: the page requests itself again and replaces the parts that
// differ, at first at the interval Every, and less often while nothing changes.
type Live struct {
	Tag    string        // version of the content, the response's ETag without quotes; an equal tag means no change
	Every  time.Duration // shortest interval between requests; zero means one second
	Rarely time.Duration // longest interval, after a long time without changes; at least Every
}

// Section is a part of a page with a heading, which the table of contents lists.
type Section struct {
	Title string
	Parts []Part
}

// Part is an element of a section. It shows the first of its fields that is not empty.
type Part struct {
	Heading   string    // heading of the parts that follow
	Sentences []string  // one per line
	Facts     []Fact    // names and values
	Table     *Table    // sortable table
	Figures   []Figure  // figures, side by side if they fit
	Timeline  *Timeline // events along an axis
	Folded    *Folded   // text that opens on request
	Code      string    // text in a monospace font
}

// Fact is a name and its value.
type Fact struct {
	Name string
	Text string
	Code bool // shown as code: a digest, a path
}

// Table is a table that readers can sort. Its first column names the rows if it holds no numbers.
type Table struct {
	document.Table
	Caption string // description for readers who cannot see the heading
	Pick    *Pick  // lets readers select rows and open a page about them; nil for none
}

// Pick lets readers select rows of a table. A plain form requests the page about them.
type Pick struct {
	Address string   // address of that page
	Name    string   // name of the query parameter, given once for each selected row
	Values  []string // its value for each row; rows with an empty one cannot be selected
	Button  string   // label of the button
	About   string   // sentence next to the button; empty for none
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
	Unit   string  // unit of the axis
	End    float64 // end of the axis, which starts at zero; at least the time of the last event
	Events []Event
}

// Event is an event on a time line.
type Event struct {
	At     float64
	Name   string
	Detail string // more text, one line
	Look   results.Look
}

// Folded is a text that is hidden until the reader opens it.
type Folded struct {
	Title string
	Text  string
}
