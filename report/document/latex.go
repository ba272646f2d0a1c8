package document

import (
	"io"
	"strings"
)

// Latex writes the document for LaTeX with the package booktabs: a table environment for each table, with the first
// heading and the heading before it as its caption, and comments for all other parts.
func (d *Document) Latex(w io.Writer) error {
	title, caption := "", ""
	return d.write(w, func(b block) string {
		switch {
		case b.Heading != "" && title == "":
			title, caption = b.Heading, b.Heading
		case b.Heading != "":
			caption = title + ": " + b.Heading
		}
		return b.latex(caption)
	})
}

// latex renders the block for LaTeX.
func (b block) latex(caption string) string {
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
	return latexTable(lines, right, caption)
}

// latexTable formats lines of texts, the first of which are the heads.
func latexTable(lines [][]string, right []bool, caption string) string {
	var b strings.Builder
	b.WriteString("\\begin{table}\n\\centering\n")
	if caption != "" {
		b.WriteString("\\caption{" + latexText(Capitalized(caption)) + "}\n")
	}
	b.WriteString("\\begin{tabular}{")
	for _, number := range right {
		b.WriteString(map[bool]string{true: "r", false: "l"}[number])
	}
	b.WriteString("}\n\\toprule\n")
	for k, line := range lines {
		for c, text := range line {
			if c > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(latexText(strings.TrimSpace(text)))
		}
		b.WriteString(" \\\\\n")
		if k == 0 {
			b.WriteString("\\midrule\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	return b.String()
}

// latexSigns escapes the characters that LaTeX interprets. A leading bracket would be an argument of the line before
// it.
var latexSigns = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "[", `{[}`, "]", `{]}`, "±",
	`$\pm$`, "×", `$\times$`,
	"<", `$<$`, ">", `$>$`, "…", `\ldots{}`, "²", `$^2$`, "µ", `$\mu$`)

// latexText escapes text so that LaTeX shows it literally.
func latexText(text string) string { return latexSigns.Replace(Printable(text)) }
