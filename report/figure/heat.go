package figure

import (
	"strconv"
)

// Heat shows a grid of cells. The colour of a cell shows its kind, and the strength of the colour shows its
// certainty.
type Heat struct {
	Title   string // title, which is also the text alternative
	Note    string // note below the figure; empty means none
	X       Axis
	Columns []float64 // position of each column on X
	Rows    []string
	Cells   [][]Cell // cells of each row, one cell per column
	Kinds   []string
}

// Cell holds the kind and the certainty of one cell in a [Heat].
type Cell struct {
	Kind  int     // index of the kind in Kinds; negative means unknown
	Share float64 // certainty between 0 and 1
}

const (
	leastCell = 10.0 // height of a row with its name
	mostCell  = 18.0
)

// Layout lays the figure out as a picture with the given width.
func (h *Heat) Layout(width float64) *Picture {
	p := newPicture(width, 0, h.Title)
	names := min(widest(sizeWords, h.Rows...), width*0.45)
	left := margin + names + 4
	height := min(max(150/float64(max(len(h.Rows), 1)), leastCell), mostCell)
	cell := (width - margin - left) / float64(max(len(h.Columns), 1))
	for r, name := range h.Rows {
		top := margin + height*float64(r)
		p.say(fitted(name, sizeWords, names), point{left - 4, top + height/2 + 2.6}, sizeWords, end, text.plain())
		for c, v := range h.Cells[r] {
			if v.Kind < 0 {
				continue
			}
			m := p.box(seriesInk(v.Kind).thin(strength(v.Share)), left+cell*float64(c)+0.25, top+0.25, cell-0.5,
				height-0.5)
			m.hint = h.hint(r, c)
		}
	}
	bottom := margin + height*float64(len(h.Rows))
	top := h.numbers(p, left, cell, bottom)
	return p.finish(seriesEntries(h.Kinds, filled), h.Note, top+2)
}

// strength returns the opacity for a share: even the lowest share is visible.
func strength(share float64) float64 { return 0.15 + 0.85*min(max(share, 0), 1) }

func (h *Heat) hint(r, c int) string {
	v := h.Cells[r][c]
	return h.Rows[r] + ", " + columnText(h.Columns[c]) + " " + h.X.Unit + ": " + h.Kinds[v.Kind] + ", " +
		strconv.FormatFloat(100*v.Share, 'f', 0, 64) + "%"
}

func columnText(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// numbers writes as many of the columns' values as fit, and the axis' name.
func (h *Heat) numbers(p *Picture, left, cell, bottom float64) float64 {
	need, every := 0.0, 1
	for _, v := range h.Columns {
		need = max(need, widthOf(columnText(v), sizeSmall)+4)
	}
	for float64(every)*cell < need {
		every++
	}
	for k := 0; k < len(h.Columns); k += every {
		at := left + cell*(float64(k)+0.5)
		words := columnText(h.Columns[k])
		p.line(text.plain(), frameWidth, point{at, bottom}, point{at, bottom + tickLength})
		at = min(at, p.Width-margin-widthOf(words, sizeSmall)/2)
		p.say(words, point{at, bottom + tickLength + 7}, sizeSmall, middle, text.plain())
	}
	x := scale{0, 1, left, p.Width - margin}
	return p.lower(h.X, x, nil, bottom)
}
