package figure

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"graft/internal/svg"
)

// family is the font stack. Fonts after Liberation Sans have the same widths; in case none is installed, each text
// states its width.
const family = "Liberation Sans, Arimo, Helvetica, Arial, Nimbus Sans, sans-serif"

// writeSVG writes the picture as SVG. For pages, colours are CSS classes that follow the
// reader's preference.
func (p *Picture) writeSVG(w io.Writer, theme Theme) error {
	b := &bytes.Buffer{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" `+
		`role="img" aria-label="%s" font-family="%s">`+"\n", number(p.Width), number(p.Height), number(p.Width),
		number(p.Height), svg.Escape(p.Title), family)
	if p.Description != "" {
		fmt.Fprintf(b, "<desc>%s</desc>\n", svg.Escape(p.Description))
	}
	if theme == Page {
		b.WriteString(pageStyle())
	} else {
		fmt.Fprintf(b, `<rect width="%s" height="%s"%s/>`+"\n", number(p.Width), number(p.Height),
			colour("fill", paper.plain(), theme))
	}
	for k := range p.marks {
		p.marks[k].writeSVG(b, theme)
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// pageStyle returns the inks as classes, for light and dark pages. All pictures of a page share it.
func pageStyle() string {
	var b strings.Builder
	rules := func(theme Theme) {
		for i := paper; i < inks; i++ {
			c := svg.Hex(inksOf(theme)[i])
			fmt.Fprintf(&b, ".graft-fill-%s{fill:%s}.graft-line-%s{stroke:%s}", inkNames[i], c, inkNames[i], c)
		}
	}
	b.WriteString("<style>")
	rules(Light)
	b.WriteString("@media (prefers-color-scheme:dark){")
	rules(Dark)
	b.WriteString("}</style>\n")
	return b.String()
}

func (m *mark) writeSVG(b *bytes.Buffer, theme Theme) {
	switch {
	case m.words != "":
		m.writeWords(b, theme)
		return
	case len(m.points) == 0:
		return
	}
	paints := colour("fill", m.fill, theme)
	if m.stroke.visible() {
		paints = joined(paints, colour("stroke", m.stroke, theme)) +
			fmt.Sprintf(` stroke-width="%s" stroke-linejoin="round"`, number(m.width))
	}
	fmt.Fprintf(b, `<path d="%s"%s`, m.outline(), paints)
	if len(m.dash) > 0 {
		var parts []string
		for _, d := range m.dash {
			parts = append(parts, number(d))
		}
		fmt.Fprintf(b, ` stroke-dasharray="%s"`, strings.Join(parts, " "))
	}
	if m.hint != "" {
		fmt.Fprintf(b, "><title>%s</title></path>\n", svg.Escape(m.hint))
		return
	}
	b.WriteString("/>\n")
}

func (m *mark) writeWords(b *bytes.Buffer, theme Theme) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"`,
		number(m.at.x), number(m.at.y), number(m.size), number(widthOf(m.words, m.size)))
	if m.anchor != start {
		fmt.Fprintf(b, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[m.anchor])
	}
	if m.turned {
		fmt.Fprintf(b, ` transform="rotate(-90 %s %s)"`, number(m.at.x), number(m.at.y))
	}
	fmt.Fprintf(b, "%s>%s</text>\n", colour("fill", m.fill, theme), svg.Escape(m.words))
}

// outline returns the path of a line or an area. Axis-parallel steps are abbreviated, which halves the boxes of a tree.
func (m *mark) outline() string {
	var b strings.Builder
	last := point{}
	for k, at := range m.points {
		x, y := number(at.x), number(at.y)
		switch {
		case k == 0:
			b.WriteString("M" + x + " " + y)
		case x == number(last.x) && y == number(last.y):
			continue
		case y == number(last.y):
			b.WriteString("H" + x)
		case x == number(last.x):
			b.WriteString("V" + y)
		default:
			b.WriteString("L" + x + " " + y)
		}
		last = at
	}
	if m.closed {
		b.WriteString("Z")
	}
	return b.String()
}

// colour returns a paint as an attribute, or as a class if the page defines the colours.
func colour(what string, p paint, theme Theme) string {
	if !p.visible() {
		return fmt.Sprintf(` %s="none"`, what)
	}
	named := fmt.Sprintf(` %s="%s"`, what, svg.Hex(p.on(theme)))
	if theme == Page && p.exact == nil {
		group := map[string]string{"fill": "fill", "stroke": "line"}[what]
		named = fmt.Sprintf(` class="graft-%s-%s"`, group, inkNames[p.ink])
	}
	if p.alpha() < 1 {
		named += fmt.Sprintf(` %s-opacity="%s"`, what, number(p.alpha()))
	}
	return named
}

// joined combines the attributes of an area and of its line, with the classes of both in one.
func joined(area, line string) string {
	const class = ` class="`
	if !strings.HasPrefix(area, class) || !strings.HasPrefix(line, class) {
		return area + line
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(line, class), `"`)
	return class + name + " " + strings.TrimPrefix(area, class) + rest
}

// number formats a length to a hundredth of a point.
func number(v float64) string {
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	text = strings.TrimSuffix(text, ".")
	if slices.Contains([]string{"-0", ""}, text) {
		return "0"
	}
	return text
}
