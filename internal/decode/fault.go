package decode

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fault is an error at one position in a file.
type Fault struct {
	File   string
	Line   int // line of the error, from 1; zero means the whole file
	Column int // column of the error, in characters from 1; zero means the whole line
	Width  int // number of wrong characters, from Column
	Text   string
	Source string // text of the line with the error
	More   int    // number of further faults that are counted but not listed; zero means none
}

// Faults is an error that lists the errors in a file, in the order of the lines. The list is never empty.
type Faults []Fault

// Limits on the number and length of faults.
const (
	mostListed   = 20   // faults that Error prints
	mostKept     = 100  // faults with their lines; the last counts the others
	mostGathered = 1000 // faults with their text; further ones are only counted
)

// Error formats the first 20 faults with their lines, and the number of omitted faults.
func (f Faults) Error() string {
	total := len(f)
	for _, fault := range f {
		total += fault.More
	}
	var b strings.Builder
	if b.WriteString("1 fault\n"); total != 1 {
		b.Reset()
		fmt.Fprintf(&b, "%d faults\n", total)
	}
	shown := f[:min(len(f), mostListed)]
	for _, fault := range shown {
		b.WriteString("\n" + fault.String())
	}
	if more := total - len(shown); more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String formats the fault and, below it, its line with the wrong part underlined.
func (f Fault) String() string {
	place := f.File
	for _, n := range []int{f.Line, f.Column} {
		if n > 0 {
			place += fmt.Sprintf(":%d", n)
		}
	}
	text := place + ": " + f.Text + "\n"
	if f.Line == 0 {
		return text
	}
	number := fmt.Sprintf("%5d", f.Line)
	source, column := f.excerpt()
	text += number + " | " + strings.TrimRight(source, " ") + "\n"
	if f.Column > 0 {
		width := max(min(f.Width, utf8.RuneCountInString(source)-column), 1)
		text += strings.Repeat(" ", len(number)) + " | " + strings.Repeat(" ", column) + strings.Repeat("^",
			width) + "\n"
	}
	return text
}

// Limits, in characters, on the part of a long line that is shown.
const (
	mostShown   = 120
	shownBefore = 40
)

// excerpt returns the line as a terminal shows it, each character one column wide, and the column, from zero, of the
// start of the fault.
func (f Fault) excerpt() (string, int) {
	line := []rune(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, f.Source))
	column := max(f.Column-1, 0)
	if len(line) <= mostShown {
		return string(line), column
	}
	from := max(min(column-shownBefore, len(line)-mostShown), 0)
	to := min(from+mostShown, len(line))
	shown := slices.Clone(line[from:to])
	if from > 0 {
		shown[0] = '…'
	}
	if to < len(line) {
		shown[len(shown)-1] = '…'
	}
	return string(shown), column - from
}
