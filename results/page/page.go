package page

import "time"

// Page is a report. The zero value is an empty one.
type Page struct {
	Title    string    // of the page and its window
	Lead     string    // a sentence below the title; empty for none
	Version  string    // of graft; empty is unknown
	Links    []Link    // to other pages; nil for a page that stands alone
	Live     *Live     // of a page that is served, and follows what it shows; nil for one that is whole
	Sections []Section // in their order
}

// Link leads to another page of the same server.
type Link struct {
	Text    string
	Address string // a path, escaped as addresses are
}

// Live is how a page that is served follows what it shows: it asks for itself again
// and exchanges what is different, from Every on, and less often while nothing is.
type Live struct {
	Tag    string        // of what is shown: while it is the same nothing has changed; the answer's ETag without quotes
	Every  time.Duration // between two questions at least; zero is a second
	Rarely time.Duration // between two questions where nothing changes for long; less than Every is Every
}

// Section is a part of a page with a heading, which the list of contents names.
type Section struct {
	Title string
	Parts []Part
}

// Part is one thing of a section: of its fields the first that is not empty is shown.
type Part struct {
	Heading   string    // of the parts behind it
	Sentences []string  // a line each
	Facts     []Fact    // names and what goes with them
	Table     *Table    // which can be sorted
	Figures   []Figure  // beside each other where there is room
	Timeline  *Timeline // events, to be pointed at
	Folded    *Folded   // a text that opens when it is asked for
	Code      string    // a text as a machine reads it
}

// Fact is a name and what goes with it.
type Fact struct {
	Name string
	Text string
	Code bool // it is a text as a machine reads it: a digest, a path
}

// Table is rows of cells. Its first column names the rows if it holds no numbers.
type Table struct {
	Caption string // what the table shows; who sees it has the heading instead
	Columns []Column
	Rows    [][]Cell // as many cells each as there are columns
	Pick    *Pick    // its rows can be chosen, to go to a page of those; nil for none
}

// Pick lets rows of a table be chosen. The page that it leads to is asked for by a form,
// without a script.
type Pick struct {
	Address string   // of the page of those that are chosen
	Name    string   // of the parameter that says which; as often as rows are chosen
	Values  []string // of the parameter, one for each row; a row with an empty one cannot be chosen
	Button  string   // what it says
	About   string   // a sentence beside the button; empty for none
}

// Column is a column of a table.
type Column struct {
	Name   string
	Unit   string // of all its numbers; empty for none, or where cells have their own
	Number bool   // its cells are numbers, and stand below each other
}

// Cell is a cell of a table.
type Cell struct {
	Text  string
	Link  string   // where the text leads, a path; empty is nowhere
	Kind  Kind     // what the text is like; Plain is as others are
	Value *float64 // by which it is sorted; nil is by its text, behind all values
	Unit  string   // of the value where a column has several: values are sorted within their unit
}

// Figure is a picture.
type Figure struct {
	Caption string
	Words   string // what can be read off it, for who cannot see it; empty for none
	SVG     []byte // one element without ids, scripts and links
}

// Timeline is events along an axis.
type Timeline struct {
	Title  string  // what happens on it
	Unit   string  // of the axis
	End    float64 // of the axis, which begins at zero; at least that of the last event
	Events []Event
}

// Event is something that happened.
type Event struct {
	At     float64
	Name   string
	Detail string // what more there is to say, in a line
	Kind   Kind
}

// Kind is what an event is like.
type Kind int

// The kinds of events.
const (
	Plain    Kind = iota // something happened
	Up                   // there is more than before
	Down                 // there is less than before
	Decision             // something was chosen
)

// Folded is a text that opens when it is asked for.
type Folded struct {
	Title string
	Text  string
}
