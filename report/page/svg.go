package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// shapes are the elements that a figure may have. None loads or runs anything.
var shapes = []string{"svg", "g", "title", "desc", "style", "path", "rect", "circle", "ellipse", "line", "polyline",
	"polygon", "text", "tspan"}

// svg returns a figure for the page. A style that an earlier figure has is omitted, because it applies to the whole
// page.
func (v *viewer) svg(text []byte) (template.HTML, error) {
	if err := checkSVG(text); err != nil {
		return "", err
	}
	whole := string(text)
	if at := strings.Index(whole, "<svg"); at > 0 {
		whole = whole[at:]
	}
	before, rest, found := strings.Cut(whole, "<style>")
	rules, after, closed := strings.Cut(rest, "</style>")
	if found && closed {
		if v.styles[rules] {
			whole = before + strings.TrimPrefix(after, "\n")
		}
		v.styles[rules] = true
	}
	return template.HTML(whole), nil
}

// checkSVG returns an error if a figure contains anything that a page must not have.
func checkSVG(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	seen := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if seen == 0 {
				return errors.New("the figure is not an SVG: it has no elements")
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("the figure is not an SVG: %w", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if seen++; seen == 1 && e.Name.Local != "svg" {
				return fmt.Errorf("the figure is not an SVG: its first element is <%s>", e.Name.Local)
			}
			if err := checkElement(e); err != nil {
				return err
			}
		}
	}
}

func checkElement(e xml.StartElement) error {
	if !slices.Contains(shapes, e.Name.Local) {
		return fmt.Errorf("element <%s> is not allowed; expected one of: %s", e.Name.Local, strings.Join(shapes, ", "))
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		if name == "id" || name == "href" || name == "style" || strings.HasPrefix(name, "on") ||
			strings.Contains(a.Value, "url(") {
			return fmt.Errorf("<%s> has the attribute %s; a figure in a page must not have ids, links, "+
				"styles or scripts", e.Name.Local, a.Name.Local)
		}
	}
	return nil
}
