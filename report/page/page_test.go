package page_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/report/document"
	"graft/report/page"
	"graft/report/page/pagetest"
	"graft/results"
)

var update = flag.Bool("update", false, "write the golden files")

// picture is a minimal figure.
const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="90pt" height="45pt" viewBox="0 0 90 45" role="img" ` +
	`aria-label="A line"><style>.graft-line-blue{stroke:#0072b2}</style><path class="graft-line-blue" d="M0 0L90 45" ` +
	`fill="none"/></svg>`

// sample is a page with every part.
func sample() *page.Page {
	table := &page.Table{Caption: "outcomes",
		Table: *document.NewTable("outcome").Numbers("", "", "value").Texts("unit").Numbers("s", "", "took")}
	table.Add("accuracy", document.Cell{Number: new(0.095), Low: new(0.09), High: new(0.1), Unit: "share"}, "%", 1.5)
	table.Add("regret", document.Value(100, "updates"), "updates", 1.5)
	table.Add("best", document.Value(0.415, "share").Then(" ~"), "%", 1.5)
	table.Add("steps", document.Missing(), "", 1.5)
	table.Add("worst", document.Value(-0.03, "share"), "%", 1.5)
	line := &page.Timeline{Title: "Events of a job", Unit: "s", End: 2,
		Events: []page.Event{{At: 0, Name: "start"}, {At: 0.5, Name: "up", Look: results.Up, Detail: "2 devices"},
			{At: 0.51, Name: "decision widen:conv1", Look: results.Choice}, {At: 1.5, Name: "down", Look: results.Down},
			{At: 2, Name: "end"}}}
	return &page.Page{Title: "Report of 2 runs", Lead: "Nothing is ranked.", Version: "v0.1.0",
		Sections: []page.Section{
			{Title: "Job a", Parts: []page.Part{{Facts: []page.Fact{{Name: "state", Text: "ended"},
				{Name: "images", Text: "abcdef", Code: true}}}, {Table: table}, {Heading: "Time line"}, {
				Timeline: line,
			}, {Heading: "Figures"}, {Figures: []page.Figure{{Caption: "A line", Description: "It goes down.",
				SVG: []byte(picture)}, {Caption: "Another", SVG: []byte(picture)}}}}},
			{Title: "Job b", Parts: []page.Part{{Sentences: []string{"One.", "Two."}}, {Table: table}, {Table: table},
				{Code: "graft train job.toml"},
				{Folded: &page.Folded{Title: "Configuration", Text: "[run]\nseed = 1\n"}}}},
		}}
}

// served returns a page as a server renders it: with links, selectable rows, and a tag.
func served(tag string, rows ...string) *page.Page {
	p := sample()
	p.Links = []page.Link{{Text: "All runs", Address: "/"}, {Text: "a b", Address: "/run/a%20b"}}
	p.Live = &page.Live{Tag: tag, Every: 50 * time.Millisecond, Rarely: 100 * time.Millisecond}
	list := &page.Table{Caption: "runs", Table: *document.NewTable("run", "state").Numbers("", "", "value"),
		Pick: &page.Pick{Address: "/compare", Name: "run", Button: "Compare", About: "Choose runs."}}
	for k, name := range rows {
		list.Add(document.Cell{Text: name, Link: "/run/" + name},
			document.Cell{Text: "running", Look: results.Up}, 10-k)
		list.Pick.Values = append(list.Pick.Values, map[bool]string{true: name}[k != 1])
	}
	p.Sections = append(p.Sections, page.Section{Title: strconv.Itoa(len(rows)) + " runs",
		Parts: []page.Part{{Table: list}}})
	return p
}

func rendered(t testing.TB, p *page.Page) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.Render(&b))
	return b.String()
}

// A page equals its golden file, and renders the same twice.
func TestPageIsGolden(t *testing.T) {
	got := rendered(t, sample())
	path := filepath.Join("testdata", "sample.html")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with -update")
	require.Equal(t, string(want), got, "look at %s, then write it again with -update", path)
	require.Equal(t, got, rendered(t, sample()))
	require.True(t, page.IsPage([]byte(got[:1024])))
	require.False(t, page.IsPage([]byte("<!DOCTYPE html><title>graft</title>")))
	require.Equal(t, 1, strings.Count(got, ".graft-line-blue{"), "the figures share their style")
}

// walk parses a page and checks that it has no faults.
func walk(t testing.TB, text string) *pagetest.Structure {
	t.Helper()
	s := pagetest.Check(text)
	require.Empty(t, s.Faults)
	return s
}

// Elements are nested as allowed, ids are unique, headings descend by one level, and internal links have targets.
func TestPageIsWellBuilt(t *testing.T) {
	text := rendered(t, sample())
	s := walk(t, text)
	walk(t, rendered(t, served("1", "a", "b")))
	for _, link := range regexp.MustCompile(`(?:href="#|labelledby=")([^"]+)"`).FindAllStringSubmatch(text, -1) {
		require.True(t, s.IDs[link[1]], link[0])
	}
	names := regexp.MustCompile(`role="region"[^>]*aria-label="([^"]*)"`).FindAllStringSubmatch(text, -1)
	slices.SortFunc(names, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	require.Len(t, slices.CompactFunc(slices.Clone(names), func(a, b []string) bool { return a[1] == b[1] }),
		len(names), "regions have names of their own")
	require.Len(t, names, 5)
}

// hostile holds texts that could become markup.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'; alert(1)//`, `</style><b>`,
	`</script>`, `</title></svg>`, `<!--`, `]]>`, `{{.}}`, `&lt;b&gt;`, "javascript:alert(1)", "a\u2028b"}

// Hostile texts are escaped and create no elements.
func TestPageEscapes(t *testing.T) {
	plain := walk(t, rendered(t, sampleOf("x")))
	for _, text := range hostile {
		page := rendered(t, sampleOf(text))
		s := walk(t, page)
		require.Equal(t, len(plain.Texts), len(s.Texts), text)
		require.Equal(t, plain.IDs, s.IDs, text)
		found := strings.Join(s.Texts, "\n")
		require.Equal(t, strings.Count(strings.Join(plain.Texts, "\n"), "x0x"),
			strings.Count(found, text+"0"+text), text)
		for _, tag := range []string{"<script", "</script", "<style", "</style", "<img", "<b>"} {
			require.Equal(t, strings.Count(rendered(t, sampleOf("x")), tag), strings.Count(page, tag), "%s in %s",
				tag, text)
		}
	}
}

// sampleOf returns a page with a text in every place.
func sampleOf(text string) *page.Page {
	text = text + "0" + text
	return &page.Page{Title: text, Lead: text, Version: text, Links: []page.Link{{Text: text, Address: text}},
		Live: &page.Live{Tag: text}, Sections: []page.Section{{Title: text, Parts: []page.Part{
			{Heading: text}, {Sentences: []string{text}},
			{Facts: []page.Fact{{Name: text, Text: text}, {Name: text, Text: text, Code: true}}},
			{Table: &page.Table{Caption: text, Table: document.Table{Columns: []document.Column{
				{Name: text, Unit: text, Given: true}, {Name: text, Number: true, Given: true},
			}, Rows: [][]document.Cell{{{Text: text, Link: text}, {Number: new(2.0), Unit: text, After: text}}}},
				Pick: &page.Pick{Address: text, Name: text, Values: []string{text}, Button: text, About: text}}},
			{Figures: []page.Figure{{Caption: text, Description: text, SVG: []byte(picture)}}},
			{Timeline: &page.Timeline{Title: text, Unit: text, Events: []page.Event{{Name: text, Detail: text}}}},
			{Folded: &page.Folded{Title: text, Text: text}}, {Code: text},
		}}, {Title: "x"}}}
}

// A page refuses figures with elements or attributes that could run code, load files or clash with the page.
func TestFiguresAreLookedAt(t *testing.T) {
	for inner, says := range map[string]string{
		`<script>1</script>`: "<script>", `<path onclick="1"/>`: "onclick", `<path id="a"/>`: "id",
		`<a href="x"/>`: "<a>", `<path fill="url(#a)"/>`: "fill",
		`<foreignObject/>`: "foreignObject", `<image/>`: "image", `<path`: "not an SVG", `<path style="x"/>`: "style",
		`<use/>`: "use",
	} {
		p := &page.Page{Sections: []page.Section{
			{Parts: []page.Part{{Figures: []page.Figure{{SVG: []byte("<svg>" + inner + "</svg>")}}}}},
		}}
		var b bytes.Buffer
		require.ErrorContains(t, p.Render(&b), says, inner)
		require.Zero(t, b.Len(), "nothing is written of a page that cannot be")
	}
	for _, text := range []string{"", "<p></p>", "hello"} {
		p := &page.Page{Sections: []page.Section{{Parts: []page.Part{{Figures: []page.Figure{{SVG: []byte(text)}}}}}}}
		require.ErrorContains(t, p.Render(io.Discard), "not an SVG", text)
	}
	require.ErrorContains(t, (&page.Page{Sections: []page.Section{{Parts: []page.Part{{Table: &page.Table{
		Table: document.Table{Columns: make([]document.Column, 2), Rows: make([][]document.Cell, 1)},
	}}}}}}).Render(io.Discard), "row 1 has 0 cells, expected 2")
}

// Empty pages and unusual timelines render as valid pages.
func TestOddPages(t *testing.T) {
	for name, p := range map[string]*page.Page{
		"empty":     {},
		"no events": {Sections: []page.Section{{Parts: []page.Part{{Timeline: &page.Timeline{}}}}}},
		"all at once": {Sections: []page.Section{
			{Parts: []page.Part{{Timeline: &page.Timeline{Events: make([]page.Event, 40)}}}},
		}},
		"an unknown kind": {Sections: []page.Section{
			{Parts: []page.Part{{Timeline: &page.Timeline{Events: []page.Event{{At: 3, Look: 99}}}}}},
		}},
		"an endless axis": {Sections: []page.Section{{Parts: []page.Part{{Timeline: &page.Timeline{End: math.Inf(1),
			Events: make([]page.Event, 1)}}}}}},
		"a very long axis": {Sections: []page.Section{{Parts: []page.Part{{Timeline: &page.Timeline{End: 1e12}}}}}},
	} {
		text := rendered(t, p)
		walk(t, text)
		require.NotContains(t, strings.ReplaceAll(text, "isNaN", ""), "NaN\"", name)
		require.NotContains(t, text, "Inf", name)
		require.LessOrEqual(t, strings.Count(text, `class="tick"`), 11, name)
	}
}

// A page's content security policy equals its server's, and only served pages may send requests.
func TestPolicy(t *testing.T) {
	for _, p := range []*page.Page{sample(), served("1")} {
		require.Contains(t, rendered(t, p), `"Content-Security-Policy" content="`+p.Policy()+`"`)
		require.Equal(t, p.Live != nil, strings.Contains(p.Policy(), "connect-src 'self'"))
		require.Equal(t, p.Live != nil, strings.Contains(rendered(t, p), "fetch("))
	}
	broken := served("1", "a")
	list := broken.Sections[len(broken.Sections)-1].Parts[0].Table
	list.Pick.Values = nil
	require.ErrorContains(t, broken.Render(io.Discard), "0 selection values for 1 rows")
}

// fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Rendering to a full disk is an error.
func TestRenderToAFullDisk(t *testing.T) {
	require.ErrorContains(t, sample().Render(fullDisk{}), "no space left")
}

// Text has a contrast of at least 4.5 to its background, on light and dark pages (WCAG 2.2, 1.4.3).
func TestContrast(t *testing.T) {
	style, err := os.ReadFile("page.css")
	require.NoError(t, err)
	blocks := regexp.MustCompile(`:root\{([^}]*--paper[^}]*)\}`).FindAllStringSubmatch(string(style), -1)
	require.Len(t, blocks, 3, "light, dark, print")
	for _, block := range blocks {
		colours := map[string]float64{}
		for _, c := range regexp.MustCompile(`--(\w+):#(\w+)`).FindAllStringSubmatch(block[1], -1) {
			colours[c[1]] = luminance(t, c[2])
		}
		for _, words := range []string{"ink", "faint", "link", "up", "down", "pick"} {
			for _, ground := range []string{"paper", "soft"} {
				a, b := max(colours[words], colours[ground]), min(colours[words], colours[ground])
				require.GreaterOrEqual(t, (a+0.05)/(b+0.05), 4.5, "%s on %s: %s", words, ground, block[1])
			}
		}
	}
}

// luminance returns the relative luminance as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for k, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[2*k:2*k+2], 16, 8)
		require.NoError(t, err)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
