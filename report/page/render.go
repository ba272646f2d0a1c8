package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"

	"graft/report/document"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
	//go:embed list.js
	listScript string // of served pages with a filtered table, after script
	//go:embed live.js
	liveScript string // of pages that are served, after the others
)

// generator is the start of the meta element that names graft.
const generator = `<meta name="generator" content="graft`

// IsPage reports whether Render wrote a file, given the file's first 1,000 bytes.
func IsPage(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<!DOCTYPE html>")) && bytes.Contains(head, []byte(generator))
}

// parsed is the layout, parsed when a page is first written.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.HTML { return template.HTML("<style>" + style + "</style>") },
		"script": func() template.HTML { return template.HTML("<script>" + script + "</script>") },
		"list":   func() template.HTML { return template.HTML("<script>" + listScript + "</script>") },
		"live":   func() template.HTML { return template.HTML("<script>" + liveScript + "</script>") },
	}).Parse(layout))
})

// Policy returns the page's Content-Security-Policy. The policy allows the page to run its own script and, if the page
// is served, to send requests and forms to its server. The page contains this policy in a meta element; a server may
// also send the policy as an HTTP header.
func (p *Page) Policy() string {
	digest := func(script string) string {
		sum := sha256.Sum256([]byte(script))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	scripts, own := digest(script), "'none'"
	if p.Live != nil {
		scripts, own = scripts+" "+digest(liveScript), "'self'"
	}
	if p.filters() {
		scripts += " " + digest(listScript)
	}
	return "default-src 'none'; style-src 'unsafe-inline'; script-src " + scripts + "; img-src data:; connect-src " +
		own + "; base-uri 'none'; form-action " + own
}

// filters reports whether the page has a filtered table, which needs its own script.
func (p *Page) filters() bool {
	for _, s := range p.Sections {
		for _, part := range s.Parts {
			if part.Table != nil && part.Table.Filter != nil && p.Live != nil {
				return true
			}
		}
	}
	return false
}

// Render writes the page as an HTML document. Equal pages give identical bytes.
func (p *Page) Render(w io.Writer) error {
	v, err := p.view()
	if err != nil {
		return fmt.Errorf("write page %q: %w", p.Title, err)
	}
	var b bytes.Buffer // an error leaves no partial page
	if err := parsed().Execute(&b, v); err != nil {
		return fmt.Errorf("write page %q: %w", p.Title, err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// Views are the page for its template: with unique ids and names, and numbers as texts.
type (
	pageView struct {
		Title, Lead, Version string
		Policy               template.HTMLAttr
		Links                []Link
		Live                 *liveView
		Filters              bool
		Sections             []sectionView
	}
	liveView struct {
		Tag           string
		Every, Rarely int64 // milliseconds
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
		Columns []columnView
		Rows    []rowView
		Pick    *Pick
		Filter  *Filter
	}
	columnView struct {
		document.Column
		Fixed bool   // readers cannot sort by it
		Class string // CSS classes after the class of numbers
	}
	rowView struct {
		Chosen  string // value of the row's checkbox
		Label   string // label of the checkbox
		Key, In string // keys of the row and of the row that contains it
		Inside  int    // number of rows inside
		Cells   []cellView
	}
	cellView struct {
		Text, Link, Value, Unit string
		Head                    bool
		Class                   string
		Picture                 template.HTML
	}
	figureView struct {
		Caption, Description string
		SVG                  template.HTML
	}
)

// viewer makes names and ids that are unique in a page.
type viewer struct {
	names  map[string]int
	styles map[string]bool // styles of figures, which apply to the whole page
}

func (p *Page) view() (*pageView, error) {
	v := &viewer{map[string]int{}, map[string]bool{}}
	view := &pageView{Title: p.Title, Lead: p.Lead, Version: p.Version, Links: p.Links, Live: p.Live.view(),
		Filters: p.filters(),
		Policy:  template.HTMLAttr(`content="` + p.Policy() + `"`)}
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

func (l *Live) view() *liveView {
	if l == nil {
		return nil
	}
	every := cmp.Or(l.Every, time.Second)
	return &liveView{l.Tag, every.Milliseconds(), max(every, l.Rarely).Milliseconds()}
}

// once returns a unique name.
func (v *viewer) once(name string) string {
	v.names[name]++
	if n := v.names[name]; n > 1 {
		return v.once(fmt.Sprintf("%s (%d)", name, n))
	}
	return name
}

// name returns a name of the table for readers who cannot see the page, with the heading of its section.
func (t *Table) name(section string) string {
	if t.Caption == "" || t.Caption == section {
		return section
	}
	return section + ": " + t.Caption
}

func (v *viewer) part(section string, part Part) (partView, error) {
	shown := partView{Part: part}
	var err error
	if part.Table != nil {
		if shown.Table, err = part.Table.view(); err != nil {
			return shown, err
		}
		shown.Table.Name = v.once(part.Table.name(section))
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
		shown.Figures = append(shown.Figures, figureView{f.Caption, f.Description, svg})
	}
	return shown, nil
}
