package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// generator begins what a page says of who wrote it.
const generator = `<meta name="generator" content="graft`

// IsPage says of the first bytes of a file, a thousand or all, whether Render wrote it.
func IsPage(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<!DOCTYPE html>")) && bytes.Contains(head, []byte(generator))
}

// parsed is the layout, read when a page is first written.
var parsed = sync.OnceValue(func() *template.Template {
	sum := sha256.Sum256([]byte(script))
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.HTML { return template.HTML("<style>" + style + "</style>") },
		"script": func() template.HTML { return template.HTML("<script>" + script + "</script>") },
		"digest": func() string { return base64.StdEncoding.EncodeToString(sum[:]) },
	}).Parse(layout))
})

// Render writes the page. What is written is equal for equal pages.
func (p *Page) Render(w io.Writer) error {
	v, err := p.view()
	if err != nil {
		return fmt.Errorf("write page %q: %w", p.Title, err)
	}
	var b bytes.Buffer // an error in the middle leaves no half a page
	if err := parsed().Execute(&b, v); err != nil {
		return fmt.Errorf("write page %q: %w", p.Title, err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// The views are what the layout shows: the page with its ids, names that are there once,
// and numbers as texts.
type (
	pageView struct {
		Title, Lead, Version string
		Sections             []sectionView
	}
	sectionView struct {
		ID, Title string
		Parts     []partView
	}
	partView struct {
		Part
		Table      *tableView
		Figures    []figureView
		Timeline   *timelineView
		FoldedName string
	}
	tableView struct {
		Name    string
		Columns []Column
		Rows    [][]cellView
	}
	cellView struct {
		Text, Value, Unit string
		Number, Head      bool
		Long              bool // its words wrap
	}
	figureView struct {
		Caption, Words string
		SVG            template.HTML
	}
)

// viewer gives names and ids that are there once in a page.
type viewer struct {
	names  map[string]int
	styles map[string]bool // of figures, which hold for the whole page
}

func (p *Page) view() (*pageView, error) {
	v := &viewer{map[string]int{}, map[string]bool{}}
	view := &pageView{Title: p.Title, Lead: p.Lead, Version: p.Version}
	for k, s := range p.Sections {
		section := sectionView{ID: fmt.Sprint("section-", k+1), Title: s.Title}
		for _, part := range s.Parts {
			shown, err := v.part(s.Title, part)
			if err != nil {
				return nil, fmt.Errorf("section %q: %w", s.Title, err)
			}
			section.Parts = append(section.Parts, shown)
		}
		view.Sections = append(view.Sections, section)
	}
	return view, nil
}

// once makes a name that no other part has.
func (v *viewer) once(name string) string {
	v.names[name]++
	if n := v.names[name]; n > 1 {
		return v.once(fmt.Sprintf("%s (%d)", name, n))
	}
	return name
}

func (v *viewer) part(section string, part Part) (partView, error) {
	shown := partView{Part: part}
	var err error
	if part.Table != nil {
		if shown.Table, err = part.Table.view(); err != nil {
			return shown, err
		}
		shown.Table.Name = v.once(strings.TrimSuffix(section+": "+part.Table.Caption, ": "))
	}
	if part.Timeline != nil {
		shown.Timeline = part.Timeline.view()
		shown.Timeline.Title = v.once(part.Timeline.Title)
	}
	switch {
	case part.Folded != nil:
		shown.FoldedName = v.once(section + ": " + part.Folded.Title)
	case part.Code != "":
		shown.FoldedName = v.once(section + ": text")
	}
	for _, f := range part.Figures {
		svg, err := v.svg(f.SVG)
		if err != nil {
			return shown, fmt.Errorf("figure %q: %w", f.Caption, err)
		}
		shown.Figures = append(shown.Figures, figureView{f.Caption, f.Words, svg})
	}
	return shown, nil
}

// longCell is up to how many bytes a text stands on one line.
const longCell = 32

func (t *Table) view() (*tableView, error) {
	view := &tableView{Columns: t.Columns}
	for k, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return nil, fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Caption, k+1, len(row), len(t.Columns))
		}
		cells := make([]cellView, len(row))
		for c, cell := range row {
			cells[c] = cellView{Text: cell.Text, Unit: cell.Unit, Number: t.Columns[c].Number, Head: c == 0 && !t.Columns[0].Number}
			cells[c].Long = !cells[c].Number && len(cell.Text) > longCell
			if cell.Value != nil {
				cells[c].Value = sortKey(*cell.Value, cell.Text)
			}
		}
		view.Rows = append(view.Rows, cells)
	}
	return view, nil
}

// sortKey is empty where the text is a number that says as much.
func sortKey(value float64, text string) string {
	if v, err := strconv.ParseFloat(text, 64); err == nil && v == value {
		return ""
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}
