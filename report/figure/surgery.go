package figure

import (
	"fmt"
	"strings"
)

// Surgery shows a network before and after surgery, side by side. A layer that surgery keeps is drawn at the same
// height in both pictures.
type Surgery struct {
	Title  string // title, which is also the text alternative
	Note   string // note below the figure; empty means none
	Before Network
	After  Network
}

// Network lists the layers of a network in execution order.
type Network struct {
	Name   string
	Detail string // detail such as the number of parameters
	Layers []Layer
}

// Layer is a layer of a [Network], as drawn in a [Surgery] figure.
type Layer struct {
	Key   string // identifier, the same before and after surgery
	Name  string // kind and size of the layer
	Block string // name of the layer's block; empty means none
	Wider bool   // surgery widened the layer; a layer with a new Key is new
}

const (
	layerHeight = 12.0
	layerGap    = 3.0
	mostLayers  = 36 // rows; above it, consecutive unchanged layers become one row
	longRun     = 4  // length of a run of layers to merge
	bracketRoom = 11.0
)

// pair is a row of the drawing.
type pair struct {
	before, after *Layer
	unchanged     int // number of layers in this row; zero means one
}

// Layout lays the figure out as a picture with the given width.
func (s *Surgery) Layout(width float64) *Picture {
	p := newPicture(width, 0, s.Title)
	rows := s.pairs()
	if len(rows) > mostLayers {
		rows = collapsed(rows)
	}
	half := (width - 2*margin - 12) / 2
	for k, n := range []Network{s.Before, s.After} {
		left := margin + (half+12)*float64(k)
		p.say(fitted(n.Name, sizeWords, half), point{left, margin + 7}, sizeWords, start, text.plain())
		p.say(fitted(n.Detail, sizeSmall, half), point{left, margin + 17}, sizeSmall, start, faint.plain())
		column := make([]*Layer, len(rows))
		for r, row := range rows {
			column[r] = []*Layer{row.before, row.after}[k]
		}
		s.column(p, column, rows, left, half, k == 1)
	}
	top := margin + 24 + float64(len(rows))*(layerHeight+layerGap)
	return p.finish(s.entries(rows), s.Note, top)
}

// pairs puts layers with equal keys next to each other.
func (s *Surgery) pairs() []pair {
	place := map[string]int{}
	for k := range s.Before.Layers {
		place[s.Before.Layers[k].Key] = k
	}
	var rows []pair
	next := 0
	for k := range s.After.Layers {
		after := &s.After.Layers[k]
		at, had := place[after.Key]
		if !had || at < next {
			rows = append(rows, pair{after: after})
			continue
		}
		for ; next < at; next++ {
			rows = append(rows, pair{before: &s.Before.Layers[next]})
		}
		rows = append(rows, pair{before: &s.Before.Layers[at], after: after})
		next = at + 1
	}
	for ; next < len(s.Before.Layers); next++ {
		rows = append(rows, pair{before: &s.Before.Layers[next]})
	}
	return rows
}

// kept reports whether a layer is unchanged.
func (r pair) kept() bool { return r.before != nil && r.after != nil && !r.after.Wider }

// collapsed merges many unchanged layers into one row.
func collapsed(rows []pair) []pair {
	var short []pair
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].kept() {
			to++
		}
		if to-from < longRun {
			to = max(to, from+1)
			short = append(short, rows[from:to]...)
		} else {
			words := &Layer{Name: fmt.Sprintf("%d layers, unchanged", to-from)}
			short = append(short, pair{before: words, after: words, unchanged: to - from})
		}
		from = to
	}
	return short
}

// column draws one of the networks.
func (s *Surgery) column(p *Picture, layers []*Layer, rows []pair, left, width float64, after bool) {
	top := func(r int) float64 { return margin + 22 + float64(r)*(layerHeight+layerGap) }
	x, last := left+bracketRoom, -1
	for r, layer := range layers {
		if layer == nil {
			continue
		}
		centre := x + (width-bracketRoom)/2
		if last >= 0 {
			p.line(faint.plain(), 0.6, point{centre, top(last) + layerHeight}, point{centre, top(r)})
		}
		last = r
		fill, stroke := s.look(rows[r], after)
		m := p.box(fill, x, top(r), width-bracketRoom, layerHeight)
		m.stroke, m.width = stroke, 0.7
		if rows[r].unchanged > 0 || rows[r].after == nil {
			m.dash = []float64{2, 1.5}
		}
		size := sizeSmall
		if widthOf(layer.Name, size) > width-bracketRoom-4 {
			size = sizeTiny
		}
		p.say(fitted(layer.Name, size, width-bracketRoom-4), point{centre, top(r) + 8.5}, size, middle, text.plain())
	}
	s.brackets(p, layers, left, top)
}

// brackets mark the layers of each block.
func (s *Surgery) brackets(p *Picture, layers []*Layer, left float64, top func(int) float64) {
	for from := 0; from < len(layers); {
		to, block := from, ""
		if layers[from] != nil {
			block = layers[from].Block
		}
		last := from
		for ; to < len(layers) && (layers[to] == nil || layers[to].Block == block); to++ {
			if layers[to] != nil {
				last = to
			}
		}
		if block == "" {
			from = max(to, from+1)
			if layers[from-1] != nil && layers[from-1].Block != "" {
				from--
			}
			continue
		}
		low, high := top(from), top(last)+layerHeight
		p.line(faint.plain(), 0.6, point{left + 9, low}, point{left + 8, low}, point{left + 8, high},
			point{left + 9, high})
		words := block
		if widthOf(words, sizeTiny) > high-low { // only its number
			words = fitted(block[strings.LastIndex(block, " ")+1:], sizeTiny, high-low)
		}
		p.say(words, point{left + 6, (low + high) / 2}, sizeTiny, middle, faint.plain()).turned = true
		from = to
	}
}

// look returns the paint of a layer's box.
func (s *Surgery) look(r pair, after bool) (fill, stroke paint) {
	switch {
	case !after || r.kept():
		return grid.thin(0.6), faint.plain()
	case r.before == nil:
		return green.thin(0.35), green.plain()
	default:
		return orange.thin(0.35), orange.plain()
	}
}

func (s *Surgery) entries(rows []pair) []entry {
	all := []entry{{"kept", grid.plain(), filled}}
	grown, wider, gone := false, false, false
	for _, r := range rows {
		grown = grown || r.before == nil
		gone = gone || r.after == nil
		wider = wider || r.before != nil && r.after != nil && r.after.Wider
	}
	if grown {
		all = append(all, entry{"new", green.plain(), filled})
	}
	if wider {
		all = append(all, entry{"wider", orange.plain(), filled})
	}
	if gone {
		all = append(all, entry{"gone", faint.plain(), dashed})
	}
	return all
}
