package main

import (
	"fmt"
	"io"
	"strings"
)

// document is a report as its parts, one after the other, whoever shows them. The zero
// value is an empty one.
type document struct{ blocks []block }

// block is one part: exactly one of its fields is not zero.
type block struct {
	heading string
	lines   []string // a sentence each
	facts   [][2]string
	table   *table
}

func (d *document) head(format string, args ...any) {
	d.blocks = append(d.blocks, block{heading: fmt.Sprintf(format, args...)})
}

// say adds lines; empty ones are left out.
func (d *document) say(lines ...string) {
	var b block
	for _, text := range lines {
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				b.lines = append(b.lines, line)
			}
		}
	}
	if len(b.lines) > 0 {
		d.blocks = append(d.blocks, b)
	}
}

// know adds facts, each a name and a text; those without a text are left out.
func (d *document) know(pairs ...string) {
	var b block
	for k := 0; k+1 < len(pairs); k += 2 {
		if pairs[k+1] != "" {
			b.facts = append(b.facts, [2]string{pairs[k], pairs[k+1]})
		}
	}
	if len(b.facts) > 0 {
		d.blocks = append(d.blocks, b)
	}
}

// show adds a table, if it has rows.
func (d *document) show(t *table) {
	if t != nil && len(t.rows) > 1 {
		d.blocks = append(d.blocks, block{table: t})
	}
}

// print writes the document for a terminal. What was read from folders cannot move the
// cursor.
func (d *document) print(w io.Writer) error {
	for k, b := range d.blocks {
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
	case b.heading != "":
		_, err = fmt.Fprintln(w, strings.ToUpper(printable(b.heading[:1]))+printable(b.heading[1:]))
	case b.lines != nil:
		_, err = fmt.Fprintln(w, printableLines(strings.Join(b.lines, "\n")))
	case b.facts != nil:
		t := &table{}
		for _, fact := range b.facts {
			t.add(fact[0], fact[1])
		}
		err = t.clean(printable).print(w)
	case b.table != nil:
		err = b.table.clean(printable).print(w)
	}
	return err
}

// markdown writes the document as GitHub reads it.
func (d *document) markdown(w io.Writer) error {
	var text strings.Builder
	for k, b := range d.blocks {
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
	case b.heading != "":
		text.WriteString("## " + markdownText(strings.ToUpper(b.heading[:1])+b.heading[1:]) + "\n")
	case b.lines != nil:
		for _, line := range b.lines {
			text.WriteString("- " + markdownText(line) + "\n")
		}
	case b.facts != nil:
		t := newTable("", "")
		for _, fact := range b.facts {
			t.add(fact[0], fact[1])
		}
		text.WriteString(t.markdown())
	case b.table != nil:
		text.WriteString(b.table.markdown())
	}
	return text.String()
}

// clean is the table with each cell passed through a function.
func (t *table) clean(cell func(string) string) *table {
	rows := make([][]string, len(t.rows))
	for k, row := range t.rows {
		rows[k] = make([]string, len(row))
		for c, text := range row {
			rows[k][c] = cell(text)
		}
	}
	return &table{rows}
}

// markdown is the table with bars between its columns.
func (t *table) markdown() string {
	var text strings.Builder
	rule := "|"
	for k, row := range t.rows {
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
func markdownText(text string) string { return markdownSigns.Replace(printable(text)) }
