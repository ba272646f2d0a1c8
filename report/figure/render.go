package figure

import (
	"fmt"
	"io"
	"strings"

	"graft/internal/registry"
)

// Widths of figures in a two-column paper in points: 84 mm and 174 mm.
const (
	Column = 84 * 72 / 25.4
	Wide   = 174 * 72 / 25.4
)

// Figure is a figure of any type, such as a [Chart] or a [Gantt].
type Figure interface {
	// Layout lays the figure out as a picture with the given width in points, and chooses the height.
	Layout(width float64) *Picture
}

// Format is a file format for figures.
type Format string

// Formats of files.
const (
	SVG Format = "svg"
	PNG Format = "png" // image with 300 dots per inch
	PDF Format = "pdf" // document with text that can be searched
)

// Formats lists the file formats that Render can write.
func Formats() registry.List[Format] { return registry.List[Format]{SVG, PNG, PDF} }

// Listing returns the name; formats have no description.
func (f Format) Listing() (name, about string) { return string(f), "" }

// Options configures [Render].
type Options struct {
	Format Format  // file format; empty means SVG
	Width  float64 // width in points; zero means Column
	Theme  Theme   // background; zero means Light
}

// EnsureDefaults sets zero fields to their defaults.
func (o *Options) EnsureDefaults() {
	if o.Format == "" {
		o.Format = SVG
	}
	if o.Width == 0 {
		o.Width = Column
	}
}

// Render draws a figure and writes it in the format that the options select.
func Render(w io.Writer, f Figure, o Options) (err error) {
	defer func() {
		if fault := recover(); fault != nil { // gonum reports drawing errors by panics
			err = fmt.Errorf("draw a figure as %s: %v", o.Format, fault)
		}
	}()
	o.EnsureDefaults()
	if o.Width < Column/2 {
		return fmt.Errorf("draw a figure %.0f pt wide: no room for the labels; the width must be at least %.0f pt",
			o.Width, Column/2)
	}
	p := f.Layout(o.Width)
	switch o.Format {
	case SVG:
		return p.writeSVG(w, o.Theme)
	case PNG:
		return p.writePNG(w, o.Theme)
	case PDF:
		return p.writePDF(w, o.Theme)
	}
	return fmt.Errorf("draw a figure: unknown format %q; expected one of: %s", o.Format,
		strings.Join(Formats().Names(), ", "))
}
