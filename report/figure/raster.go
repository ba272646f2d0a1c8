package figure

import (
	"bytes"
	"image/color"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// dotsPerInch is the resolution of PNGs, as journals ask.
const dotsPerInch = 300

// writePNG writes the picture as an image.
func (p *Picture) writePNG(w io.Writer, theme Theme) error {
	ground := color.Color(inksOf(theme)[paper])
	if theme == Page {
		ground = color.Transparent
	}
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(p.Width), vg.Length(p.Height)), vgimg.UseDPI(dotsPerInch),
		vgimg.UseBackgroundColor(ground))
	p.draw(canvas, theme, func(s string) string { return s })
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// writePDF writes the picture as a page of its size. It blanks the dates, so that equal figures give equal files.
func (p *Picture) writePDF(w io.Writer, theme Theme) error {
	canvas := vgpdf.New(vg.Length(p.Width), vg.Length(p.Height))
	if theme == Dark {
		canvas.SetColor(darkInks[paper])
		canvas.Fill(p.path(&mark{points: []point{{0, 0}, {p.Width, 0}, {p.Width, p.Height}, {0, p.Height}},
			closed: true}))
	}
	p.draw(canvas, theme, codePage)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(undated(b.Bytes()))
	return err
}

// dates match the creation and modification dates of a PDF.
var dates = regexp.MustCompile(`/(CreationDate|ModDate) \(D:[0-9]*\)`)

// undated replaces dates by blanks of the same length.
func undated(pdf []byte) []byte {
	return dates.ReplaceAllFunc(pdf, func(date []byte) []byte { return bytes.Repeat([]byte{' '}, len(date)) })
}

// codePage maps words to Windows' code page 1252, the letters of a PDF, with close substitutes.
func codePage(words string) string {
	var b strings.Builder
	for _, r := range words {
		switch {
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			b.WriteByte(byte(r))
		case r == '…':
			b.WriteByte(0x85)
		case r == '–':
			b.WriteByte(0x96)
		case r == '—':
			b.WriteByte(0x97)
		default:
			b.WriteString(instead(r))
		}
	}
	return b.String()
}

// instead returns the substitute of a letter that a PDF lacks.
func instead(r rune) string {
	for _, pair := range []struct{ letter, is string }{
		{"−", "-"}, {"≥", ">="}, {"≤", "<="}, {"→", ">"}, {"≈", "~"}, {"‘’", "'"}, {"“”", `"`}, {"•", "\x95"},
	} {
		if strings.ContainsRune(pair.letter, r) {
			return pair.is
		}
	}
	return "?"
}

// draw draws all marks; letters maps words for the canvas.
func (p *Picture) draw(canvas vg.Canvas, theme Theme, letters func(string) string) {
	for k := range p.marks {
		m := &p.marks[k]
		if m.words != "" {
			p.drawWords(canvas, m, theme, letters)
			continue
		}
		if m.fill.visible() {
			canvas.SetColor(seen(m.fill, theme))
			canvas.Fill(p.path(m))
		}
		if m.stroke.visible() {
			canvas.SetColor(seen(m.stroke, theme))
			canvas.SetLineWidth(vg.Length(m.width))
			dash := make([]vg.Length, len(m.dash))
			for k, d := range m.dash {
				dash[k] = vg.Length(d)
			}
			canvas.SetLineDash(dash, 0)
			canvas.Stroke(p.path(m))
		}
	}
}

// seen returns a paint's colour with its opacity.
func seen(p paint, theme Theme) color.Color {
	c := p.on(theme)
	return color.NRGBA{c.R, c.G, c.B, uint8(255*p.alpha() + 0.5)}
}

func (p *Picture) drawWords(canvas vg.Canvas, m *mark, theme Theme, letters func(string) string) {
	canvas.SetColor(seen(m.fill, theme))
	canvas.Push()
	canvas.Translate(p.place(m.at))
	if m.turned {
		canvas.Rotate(quarter)
	}
	back := -widthOf(m.words, m.size) * float64(m.anchor) / 2
	canvas.FillString(face(m.size), vg.Point{X: vg.Length(back)}, letters(m.words))
	canvas.Pop()
}

// quarter is a quarter of a turn.
const quarter = 1.5707963267948966

// path returns a mark's outline, with the vertical axis upwards as in gonum.
func (p *Picture) path(m *mark) vg.Path {
	var path vg.Path
	for k, at := range m.points {
		if k == 0 {
			path.Move(p.place(at))
		} else {
			path.Line(p.place(at))
		}
	}
	if m.closed {
		path.Close()
	}
	return path
}

func (p *Picture) place(at point) vg.Point {
	return vg.Point{X: vg.Length(at.x), Y: vg.Length(p.Height - at.y)}
}
