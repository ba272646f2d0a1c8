package document

import (
	"fmt"
	"io"
	"strings"
)

// Document is a report as its parts, one after the other, whoever shows them. The zero
// value is an empty one.
type Document struct{ Blocks []block }

// block is one part: exactly one of its fields is not zero.
type block struct {
	Heading string
	Lines   []string // a sentence each
	Facts   [][2]string
	Table   *Table
}

func (d *Document) Head(format string, args ...any) {
	d.Blocks = append(d.Blocks, block{Heading: fmt.Sprintf(format, args...)})
}

// Say adds lines; empty ones are left out.
func (d *Document) Say(lines ...string) {
	var b block
	for _, text := range lines {
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				b.Lines = append(b.Lines, line)
			}
		}
	}
	if len(b.Lines) > 0 {
		d.Blocks = append(d.Blocks, b)
	}
}

// Know adds facts, each a name and a text; those without a text are left out.
func (d *Document) Know(pairs ...string) {
	var b block
	for k := 0; k+1 < len(pairs); k += 2 {
		if pairs[k+1] != "" {
			b.Facts = append(b.Facts, [2]string{pairs[k], pairs[k+1]})
		}
	}
	if len(b.Facts) > 0 {
		d.Blocks = append(d.Blocks, b)
	}
}

// Show adds a table, if it has rows.
func (d *Document) Show(t *Table) {
	if t != nil && len(t.Rows) > 1 {
		d.Blocks = append(d.Blocks, block{Table: t})
	}
}

// Print writes the document for a terminal. What was read from folders cannot move the
// cursor.
func (d *Document) Print(w io.Writer) error {
	for k, b := range d.Blocks {
		if k > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := b.print(w); err != nil {
			return err
		}
	}
	return nil
}

func (b block) print(w io.Writer) error {
	var err error
	switch {
	case b.Heading != "":
		_, err = fmt.Fprintln(w, strings.ToUpper(Printable(b.Heading[:1]))+Printable(b.Heading[1:]))
	case b.Lines != nil:
		_, err = fmt.Fprintln(w, PrintableLines(strings.Join(b.Lines, "\n")))
	case b.Facts != nil:
		t := &Table{}
		for _, fact := range b.Facts {
			t.Add(fact[0], fact[1])
		}
		err = t.clean(Printable).Print(w)
	case b.Table != nil:
		err = b.Table.clean(Printable).Print(w)
	}
	return err
}

// Markdown writes the document as GitHub reads it.
func (d *Document) Markdown(w io.Writer) error {
	var text strings.Builder
	for k, b := range d.Blocks {
		if k > 0 {
			text.WriteString("\n")
		}
		text.WriteString(b.markdown())
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (b block) markdown() string {
	var text strings.Builder
	switch {
	case b.Heading != "":
		text.WriteString("## " + markdownText(strings.ToUpper(b.Heading[:1])+b.Heading[1:]) + "\n")
	case b.Lines != nil:
		for _, line := range b.Lines {
			text.WriteString("- " + markdownText(line) + "\n")
		}
	case b.Facts != nil:
		t := NewTable("", "")
		for _, fact := range b.Facts {
			t.Add(fact[0], fact[1])
		}
		text.WriteString(t.markdown())
	case b.Table != nil:
		text.WriteString(b.Table.markdown())
	}
	return text.String()
}

// clean is the table with each cell passed through a function.
func (t *Table) clean(cell func(string) string) *Table {
	rows := make([][]string, len(t.Rows))
	for k, row := range t.Rows {
		rows[k] = make([]string, len(row))
		for c, text := range row {
			rows[k][c] = cell(text)
		}
	}
	return &Table{rows}
}

// markdown is the table with bars between its columns.
func (t *Table) markdown() string {
	var text strings.Builder
	rule := "|"
	for k, row := range t.Rows {
		text.WriteString("|")
		for _, cell := range row {
			name, right := strings.CutPrefix(cell, ">")
			switch {
			case k > 0:
				name = cell
			case right:
				rule += " ---: |"
			default:
				rule += " --- |"
			}
			text.WriteString(" " + markdownText(strings.TrimRight(name, " ")) + " |")
		}
		text.WriteString("\n")
		if k == 0 {
			text.WriteString(rule + "\n")
		}
	}
	return text.String()
}

// markdownSigns are what would be more than itself in Markdown.
var markdownSigns = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`)

// markdownText is text that means nothing but itself.
func markdownText(text string) string { return markdownSigns.Replace(Printable(text)) }
