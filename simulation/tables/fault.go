package tables

import (
	"fmt"
	"strconv"
	"strings"
)

// FaultKind names a kind of defect in one word.
type FaultKind string

// Kinds of faults.
const (
	Damaged    FaultKind = "damaged"    // bytes changed after they were written
	Torn       FaultKind = "torn"       // file ends in an incomplete line, which was never committed
	Missing    FaultKind = "missing"    // written data is missing
	Doubled    FaultKind = "doubled"    // line occurs twice, or a run has two keys
	Stranger   FaultKind = "stranger"   // record does not match the scenario
	Disagree   FaultKind = "disagree"   // records of the same run differ
	Changed    FaultKind = "changed"    // scenario differs from the scenario for which the records were written
	Future     FaultKind = "future"     // file was written by a later version of graft
	Foreign    FaultKind = "foreign"    // file does not belong to a table
	Unreadable FaultKind = "unreadable" // system could not read the file
)

// remedies describe the remedy for each kind.
var remedies = map[FaultKind]string{
	Damaged:  "the result is not used; simulate it again, or restore the file from a copy",
	Torn:     "no committed result is lost; the next writer of this file removes the torn line",
	Missing:  "restore the file from a copy, or simulate the missing records again",
	Doubled:  "the record counts once; find out which program copied it",
	Stranger: "the record is not used; find out which program wrote it, and use a separate table for each scenario",
	Disagree: "all these records are ignored; find out why the same run has two outcomes, " +
		"then simulate it again into a new table",
	Changed:    "the records are not used; restore the scenario that they were written for, or start a new table",
	Future:     "use the version of graft that wrote it, or a later one",
	Foreign:    "move it elsewhere; a table folder must not contain other files",
	Unreadable: "make the file readable, then try again",
}

// Fault is a defect in the files of a table.
type Fault struct {
	File   string    `json:"file"`           // name of the file in the table's folder; empty means the whole folder
	Line   int       `json:"line,omitempty"` // line of the fault, from 1; zero means the whole file
	Offset int64     `json:"offset"`         // byte offset of the line in the file
	Kind   FaultKind `json:"kind"`           // kind of the fault, one word
	Text   string    `json:"what"`           // description of the fault
	Remedy string    `json:"remedy"`         // suggested remedy

	cause error // error of the system, for Unreadable
}

// NewFault creates a fault of a kind, with the remedy for this kind.
func NewFault(kind FaultKind, format string, args ...any) Fault {
	return Fault{Kind: kind, Text: fmt.Sprintf(format, args...), Remedy: remedies[kind]}
}

// of returns the fault with a file.
func (f Fault) of(file string) Fault {
	f.File = file
	return f
}

// unreadable is the fault of a file that the system could not read.
func unreadable(err error, file string) Fault {
	f := NewFault(Unreadable, "%v", err).of(file)
	f.cause = err
	return f
}

// Unwrap returns the system's error for the kind Unreadable, or nil for other kinds.
func (f Fault) Unwrap() error { return f.cause }

// Place returns the file and the line in the format of editors, FILE:LINE.
func (f Fault) Place() string {
	file := f.File
	if !Printable(file) {
		file = strconv.Quote(file)
	}
	if f.Line > 0 {
		file += ":" + strconv.Itoa(f.Line)
	}
	return file
}

// Error describes the fault in a sentence.
func (f Fault) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", f.Place(), f.Kind, f.Text, f.Remedy)
}

// Faults lists the defects of a table. Faults is never empty when it is returned as an error.
type Faults []Fault

// Unwrap returns the faults, for errors.Is and errors.As.
func (f Faults) Unwrap() []error {
	list := make([]error, len(f))
	for k := range f {
		list[k] = f[k]
	}
	return list
}

// mostListed limits the faults in an error's text.
const mostListed = 20

// Error lists the defects, one per line.
func (f Faults) Error() string {
	lines := []string{"1 fault"}
	if len(f) != 1 {
		lines[0] = fmt.Sprintf("%d faults", len(f))
	}
	for _, fault := range f[:min(len(f), mostListed)] {
		lines = append(lines, fault.Error())
	}
	if more := len(f) - mostListed; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
