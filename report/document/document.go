// Package document represents reports as headings, sentences, facts and tables, and writes them for terminals and as
// Markdown. It also formats the numbers and words in them.
package document

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Document holds the parts of a report in order, independent of the output format. The zero value is empty.
type Document struct{ Blocks []block }

// block holds one part: exactly one field is not zero.
type block struct {
	Break   bool // a blank line, in compact form only
	Heading string
	Lines   []string // one sentence each
	Facts   [][2]string
	Table   *Table
}

// Head appends a heading.
func (d *Document) Head(format string, args ...any) {
	d.Blocks = append(d.Blocks, block{Heading: fmt.Sprintf(format, args...)})
}

// Say appends sentences, one per line, and skips empty lines.
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

// Know appends facts, given as pairs of a name and a value. Facts with an empty value are skipped.
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

// Show appends a table unless it has no rows.
func (d *Document) Show(t *Table) {
	if t != nil && len(t.Rows) > 0 {
		d.Blocks = append(d.Blocks, block{Table: t})
	}
}

// Break appends a blank line, which only PrintCompact shows.
func (d *Document) Break() { d.Blocks = append(d.Blocks, block{Break: true}) }

// Print writes the document for a terminal, without control characters, with a blank line
// between blocks.
func (d *Document) Print(w io.Writer) error { return d.write(w, block.text) }

// PrintCompact writes the document for a terminal with blank lines only before headings and at breaks. It does not
// capitalize headings.
func (d *Document) PrintCompact(w io.Writer) error {
	var text strings.Builder
	for k, b := range d.Blocks {
		switch {
		case b.Heading == "":
			text.WriteString(b.text())
			continue
		case k > 0:
			text.WriteString("\n")
		}
		text.WriteString(Printable(b.Heading) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// write writes the blocks except breaks, with a blank line between them.
func (d *Document) write(w io.Writer, form func(block) string) error {
	var texts []string
	for _, b := range d.Blocks {
		if !b.Break {
			texts = append(texts, form(b))
		}
	}
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

// text renders the block for a terminal.
func (b block) text() string {
	switch {
	case b.Heading != "":
		return Capitalized(b.Heading) + "\n"
	case b.Lines != nil:
		return PrintableLines(strings.Join(b.Lines, "\n")) + "\n"
	case b.Facts != nil:
		return aligned(b.facts(), make([]bool, 2))
	case b.Table != nil:
		return aligned(b.Table.terminal())
	}
	return "\n" // a break
}

// facts returns the facts as lines of two texts.
func (b block) facts() (lines [][]string) {
	for _, fact := range b.Facts {
		lines = append(lines, []string{Printable(fact[0]), Printable(fact[1])})
	}
	return lines
}

// Markdown writes the document as GitHub-flavored Markdown.
func (d *Document) Markdown(w io.Writer) error { return d.write(w, block.markdown) }

func (b block) markdown() string {
	switch {
	case b.Heading != "":
		return "## " + markdownText(Capitalized(b.Heading)) + "\n"
	case b.Lines != nil:
		var text strings.Builder
		for _, line := range b.Lines {
			text.WriteString("- " + markdownText(line) + "\n")
		}
		return text.String()
	case b.Facts != nil:
		return markdown(append([][]string{{"", ""}}, b.facts()...), make([]bool, 2))
	}
	return markdown(b.Table.texts())
}

// markdownSigns escapes the characters that Markdown interprets.
var markdownSigns = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">",
	"&gt;", "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`)

// markdownText escapes text so that Markdown shows it literally.
func markdownText(text string) string { return markdownSigns.Replace(Printable(text)) }

// PrintJSON writes one value as one line of JSON.
func PrintJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
