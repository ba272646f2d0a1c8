package document

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Latex writes the document for LaTeX with the packages booktabs and graphicx. Each table becomes a table environment,
// whose caption is the document's first heading followed by the heading before the table. All other parts become
// comments. A table that is wider than a column is scaled down to the column's width.
func (d *Document) Latex(w io.Writer) error {
	title, caption, tables := "", "", 0
	return d.write(w, func(b block) string {
		switch {
		case b.Heading != "" && title == "":
			title, caption = b.Heading, b.Heading
		case b.Heading != "":
			caption = title + ": " + b.Heading
		}
		if b.Table != nil {
			tables++
		}
		return b.latex(caption, tables)
	})
}

// latex renders the block for LaTeX. A table has the number in its label.
func (b block) latex(caption string, number int) string {
	switch {
	case b.Heading != "":
		return "% " + Capitalized(Printable(b.Heading)) + "\n"
	case b.Lines != nil:
		var text strings.Builder
		for _, line := range b.Lines {
			text.WriteString("% " + Printable(line) + "\n")
		}
		return text.String()
	case b.Facts != nil: // provenance, which papers do not print
		var text strings.Builder
		for _, fact := range b.facts() {
			text.WriteString("% " + Printable(strings.Join(fact, ": ")) + "\n")
		}
		return text.String()
	}
	lines, right := b.Table.texts()
	for k, c := range b.Table.Columns {
		lines[0][k] = c.Label() + inBrackets(c.ShownUnit()) // capitals are for terminals
	}
	return latexTable(lines, right, caption, number)
}

// mostNarrow is the largest number of columns of a table that fits into one of two columns of a page; others span both.
const mostNarrow = 5

// fits scales a box down to the width of a column.
const fits = "\\resizebox{\\ifdim\\width>\\linewidth \\linewidth\\else \\width\\fi}{!}{%\n"

// latexTable formats lines of texts, the first of which are the heads.
func latexTable(lines [][]string, right []bool, caption string, number int) string {
	var b strings.Builder
	environment := "table"
	if len(right) > mostNarrow {
		environment = "table*"
	}
	fmt.Fprintf(&b, "\\begin{%s}\n\\centering\n", environment)
	if caption != "" {
		b.WriteString("\\caption{" + latexText(Capitalized(caption)) + "}\n")
	}
	fmt.Fprintf(&b, "\\label{tab:%d}\n%s\\begin{tabular}{", number, fits)
	for _, number := range right {
		b.WriteString(map[bool]string{true: "r", false: "l"}[number])
	}
	b.WriteString("}\n\\toprule\n")
	for k, line := range lines {
		for c, text := range line {
			if c > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(minus.ReplaceAllString(latexText(strings.TrimSpace(text)), "$1$$-$$$2"))
		}
		b.WriteString(" \\\\\n")
		if k == 0 {
			b.WriteString("\\midrule\n")
		}
	}
	fmt.Fprintf(&b, "\\bottomrule\n\\end{tabular}}\n\\end{%s}\n", environment)
	return b.String()
}

// minus matches the sign of a negative number, for which LaTeX would print a hyphen.
var minus = regexp.MustCompile(`(^|[ }(])-(\d)`)

// latexSigns escapes the characters that LaTeX interprets. A leading bracket would be an argument of the line before
// it.
var latexSigns = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "[", `{[}`, "]", `{]}`, "±",
	`$\pm$`, "×", `$\times$`,
	"<", `$<$`, ">", `$>$`, "…", `\ldots{}`, "²", `$^2$`, "µ", `$\mu$`)

// latexText escapes text so that LaTeX shows it literally.
func latexText(text string) string { return latexSigns.Replace(Printable(text)) }
