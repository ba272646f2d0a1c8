package page

import (
	"time"

	"graft/report/document"
	"graft/results"
)

// Page is a report as a web page. The zero value is empty.
type Page struct {
	Title   string // title of the page and of its window
	Lead    string // sentence below the title; empty means none
	Version string // version of graft; empty means unknown
	Links   []Link // links to other pages; nil for a page that is not served
	// options for a served page that is updated while runs continue; nil for a page that does not change
	Live     *Live
	Sections []Section // sections in order
}

// Link points to another page on the same server.
type Link struct {
	Text    string
	Address string // path of the page, escaped for a URL
}

// Live configures a served page that is updated while runs continue. The page polls the server for a new version of
// itself and replaces the parts that changed. The polling interval grows from Every to Rarely while nothing changes.
type Live struct {
	// version of the content, which is the response's ETag without quotes; an equal tag means no change
	Tag   string
	Every time.Duration // minimum time between two requests; zero means one second
	// maximum time between two requests, reached when nothing changes for a long time; must not be less than Every
	Rarely time.Duration
}

// Section is a part of a page with a heading. The table of contents lists it.
type Section struct {
	Title string
	Parts []Part
}

// Part is an element of a section. It shows the first of its fields that is not empty.
type Part struct {
	Heading   string    // heading of the parts that follow
	Sentences []string  // sentences, one per line
	Facts     []Fact    // facts with names and values
	Table     *Table    // table that readers can sort
	Figures   []Figure  // figures, next to each other if they fit
	Timeline  *Timeline // events along an axis
	Folded    *Folded   // text that is hidden until the reader opens it
	Code      string    // text in a monospace font
}

// Fact is a value with its name.
type Fact struct {
	Name string
	Text string
	Code bool // shows the value, such as a digest or a path, as code
}

// Table is a table that readers can sort. If the first column contains no numbers, its cells are the row headers.
type Table struct {
	document.Table
	Caption string // description for readers who cannot see the heading
	Pick    *Pick  // lets readers select rows and open a page about them; nil means no selection
	// names and nesting of the rows; nil means that the first cell of each row identifies the row, and that no row is
	// inside another
	Nest   *Nest
	Filter *Filter // lets readers of a served page show some of the rows; nil means none
	// names of columns by which readers cannot sort, such as columns of pictures
	Fixed []string
}

// Nest puts rows of a table inside other rows. The page hides inner rows until the reader opens the outer row.
type Nest struct {
	Keys []string // unique name of each row, which identifies the row when the page is updated
	// for each row, key of the outer row that contains it; empty for an outer row. Inner rows cannot contain other
	// rows.
	Parents []string
}

// Filter lets readers select the rows that contain a search text, or that have a given value in some columns. The
// address of the page stores the selection and the order of the rows.
type Filter struct {
	Columns []FilterColumn
	Unit    string   // name of a row in the plural, such as runs
	Minor   []string // names of columns that narrow windows leave out
}

// FilterColumn is a column with few distinct values, by which a reader can filter the rows.
type FilterColumn struct {
	Name   string   // name of a column
	Values []string // values to select from, in order
}

// Pick configures the selection of rows in a table. A button opens the page that shows the selected rows.
type Pick struct {
	Address string // address of the page that shows the selected rows
	Name    string // name of the query parameter, which occurs once for each selected row
	// value of the query parameter for each row; a row with an empty value cannot be selected
	Values []string
	Button string // label of the button
	About  string // sentence next to the button; empty means none
}

// Figure is a picture on a page.
type Figure struct {
	Caption     string
	Description string // text alternative; empty means none
	SVG         []byte // svg element without ids, scripts and links
}

// Timeline shows events along an axis.
type Timeline struct {
	Title  string  // title of the timeline
	Unit   string  // unit of the axis
	End    float64 // end of the axis, which starts at zero; at least the time of the last event
	Events []Event
}

// Event is an event on a timeline.
type Event struct {
	At     float64
	Name   string
	Detail string // additional text, one line
	Look   results.Look
}

// Folded is text that is hidden until the reader opens it.
type Folded struct {
	Title string
	Text  string
}
