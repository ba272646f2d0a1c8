package pagetest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Structure holds the parts of a parsed page that tests examine.
type Structure struct {
	IDs    map[string]bool // ids of the page's elements
	Texts  []string        // texts outside of script and style elements
	Faults []string        // violations of the rules of Check

	levels []int // levels of headings, in document order
}

var (
	// ended matches void elements, which Check closes before parsing.
	ended = regexp.MustCompile(`<((?:meta|link)\b[^>]*)>`)
	// raw matches elements whose text is not markup.
	raw = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`)
)

// Check parses a page and lists violations of these rules in the field Faults: elements must be closed in order and
// nested as allowed, attributes and ids must be unique, headings must descend by one level, and only the page's own
// script may run.
func Check(page string) *Structure {
	s := &Structure{IDs: map[string]bool{}}
	page = ended.ReplaceAllString(strings.TrimPrefix(raw.ReplaceAllString(page, ""), "<!DOCTYPE html>"), "<$1/>")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.fault("the page cannot be parsed: %v", err)
			break
		}
		switch e := token.(type) {
		case xml.StartElement:
			s.element(e, open)
			open = append(open, e.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			s.Texts = append(s.Texts, string(e))
		}
	}
	s.headings()
	return s
}

func (s *Structure) fault(format string, args ...any) {
	s.Faults = append(s.Faults, fmt.Sprintf(format, args...))
}

// headings checks that there is one h1, and that headings descend by one level.
func (s *Structure) headings() {
	for k, level := range s.levels {
		if k == 0 && level != 1 || k > 0 && (level == 1 || level > s.levels[k-1]+1) {
			s.fault("invalid order of heading levels: %v", s.levels)
			return
		}
	}
}

// inside lists the permitted parents of elements.
var inside = map[string][]string{"tr": {"thead", "tbody"}, "td": {"tr"}, "th": {"tr"}, "caption": {"table"},
	"li": {"ul"}, "dt": {"div"}, "dd": {"div"}, "figcaption": {"figure"}, "summary": {"details"},
	"h2": {"section"}, "h3": {"section"}, "table": {"div"}, "section": {"main"}, "main": {"body"}, "thead": {"table"},
	"tbody": {"table"}}

func (s *Structure) element(e xml.StartElement, open []string) {
	name, parent := e.Name.Local, ""
	if len(open) > 0 {
		parent = open[len(open)-1]
	}
	if want := inside[name]; want != nil && !slices.Contains(want, parent) {
		s.fault("invalid nesting: <%s> is inside <%s>", name, parent)
	}
	if slices.Contains(open, "p") && slices.Contains([]string{"p", "div", "table", "ul", "section"}, name) {
		s.fault("invalid nesting: <%s> is inside a paragraph", name)
	}
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		s.levels = append(s.levels, int(name[1]-'0'))
	}
	s.attributes(e)
}

func (s *Structure) attributes(e xml.StartElement) {
	names := map[string]bool{}
	for _, a := range e.Attr {
		name := a.Name.Local
		if names[name] {
			s.fault("<%s> has a duplicate attribute %s", e.Name.Local, name)
		}
		names[name] = true
		if strings.HasPrefix(name, "on") || slices.Contains([]string{"href", "src"}, name) &&
			strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Value)), "javascript:") {
			s.fault("<%s> runs a script: %s", e.Name.Local, a.Value)
		}
		if name != "id" {
			continue
		}
		if s.IDs[a.Value] {
			s.fault("duplicate id %s", a.Value)
		}
		s.IDs[a.Value] = true
	}
}
