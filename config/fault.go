package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fault is something wrong in a file.
type Fault struct {
	File   string
	Line   int // from 1; zero where the fault is of the whole file
	Column int // in characters from 1; zero where only the line is known
	Width  int // of what is wrong, in characters of its line
	Text   string
	Source string // the line
}

// Faults is all that is wrong in a file, in the order in which it stands there. It
// is never empty.
type Faults []Fault

// mostListed is how many faults are written out: what comes after so many is read
// after the next try.
const mostListed = 20

// Error lists the faults with their lines.
func (f Faults) Error() string {
	var b strings.Builder
	if b.WriteString("1 fault\n"); len(f) != 1 {
		b.Reset()
		fmt.Fprintf(&b, "%d faults\n", len(f))
	}
	for _, fault := range f[:min(len(f), mostListed)] {
		b.WriteString("\n" + fault.String())
	}
	if more := len(f) - mostListed; more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String is the fault and, below it, its line with what is wrong underlined.
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
		text += strings.Repeat(" ", len(number)) + " | " + strings.Repeat(" ", column) + strings.Repeat("^", width) + "\n"
	}
	return text
}

// The part of a long line that is shown, in characters.
const (
	mostShown   = 120
	shownBefore = 40
)

// excerpt is the line as a terminal can show it, each character one place wide, and
// the place from zero at which the fault begins.
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
