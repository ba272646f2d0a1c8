package drawing

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"graft/model/graph"
)

// graphRow is a box in a graph's drawing: an innermost module, or an operator of any other module.
type graphRow struct {
	path       string // path of the module
	head, text string // kind, and sizes
	shape      []int  // shape of its last result, without the batch
	parameters int
	operators  int
	plus       bool  // adds two values
	from       []int // rows that feed it; -1 means the input
	item       string
}

// graphReader collects rows in running order.
type graphReader struct {
	g      *graph.Graph
	shapes map[graph.Value][]int
	rows   []graphRow
	of     map[graph.Value][]int // rows that a value comes from
	// parameters that reached a value through operators without a box
	moved map[graph.Value][]*graph.Tensor
	inner map[string]bool // paths of modules that contain modules
	seen  map[string]bool // tensors that were counted
}

// readRows reads the boxes. Outside of innermost modules, operators that only move values have no box.
func readRows(g *graph.Graph) (*graphReader, error) {
	shapes, err := g.Shapes()
	if err != nil {
		return nil, err
	}
	r := &graphReader{g: g, shapes: shapes, of: map[graph.Value][]int{g.Input.Value: {-1}},
		moved: map[graph.Value][]*graph.Tensor{}, inner: map[string]bool{"": true}, seen: map[string]bool{}}
	for _, m := range g.Modules {
		if at := strings.LastIndexByte(m.Path, '.'); at >= 0 {
			r.inner[m.Path[:at]] = true
		} else if m.Path != "" {
			r.inner[""] = true
		}
	}
	open := map[string]int{} // rows of innermost modules, while they run
	for k := range g.Nodes {
		n := &g.Nodes[k]
		from := r.sources(n)
		if n.Moves() && (r.inner[n.Module] || len(from) == 0) {
			r.feed(n, from)
			for _, v := range n.Results {
				r.moved[v] = r.parameters(n)
			}
			continue
		}
		row, running := open[n.Module]
		if r.inner[n.Module] || !running {
			row = len(r.rows)
			r.rows = append(r.rows, r.row(n))
		}
		if !r.inner[n.Module] {
			clear(open)
			open[n.Module] = row
		}
		r.extend(row, n, from)
		r.feed(n, []int{row})
	}
	return r, nil
}

// sources returns the rows that a node reads.
func (r *graphReader) sources(n *graph.Node) (from []int) {
	if n.Sizes() {
		return nil
	}
	n.Reads(func(arg any) {
		if v, ok := arg.(graph.Value); ok {
			for _, row := range r.of[v] {
				if !slices.Contains(from, row) {
					from = append(from, row)
				}
			}
		}
	})
	return from
}

func (r *graphReader) feed(n *graph.Node, from []int) {
	for _, v := range n.Results {
		r.of[v] = from
	}
}

// row returns the box that a node begins.
func (r *graphReader) row(n *graph.Node) graphRow {
	op := n.Name()
	row := graphRow{path: n.Module, head: strings.ReplaceAll(op, "_", " "), item: r.itemOf(n.Module)}
	row.plus = op == "add" && len(r.sources(n)) == 2 && len(r.parameters(n)) == 0
	for _, m := range r.g.Modules {
		if m.Path == n.Module && !r.inner[n.Module] {
			row.head, row.text = m.Class, otherArguments(m.Extra)
		}
	}
	return row
}

// extend adds a node to a row.
func (r *graphReader) extend(at int, n *graph.Node, from []int) {
	row := &r.rows[at]
	row.operators++
	row.shape = r.shapes[n.Results[0]][min(1, len(r.shapes[n.Results[0]])):]
	for _, source := range from {
		if source != at && !slices.Contains(row.from, source) {
			row.from = append(row.from, source)
		}
	}
	for _, t := range r.parameters(n) {
		if !r.seen[t.Name] {
			r.seen[t.Name] = true
			row.parameters += t.Count()
		}
	}
}

// parameters lists the parameters that a node reads, including parameters moved by operators without a box.
func (r *graphReader) parameters(n *graph.Node) (list []*graph.Tensor) {
	n.Reads(func(arg any) {
		switch arg := arg.(type) {
		case graph.Weight:
			if t := r.g.Tensor(string(arg)); t != nil && t.Role == graph.Parameter && t.Tied == "" {
				list = append(list, t)
			}
		case graph.Value:
			list = append(list, r.moved[arg]...)
		}
	})
	return list
}

// itemOf is the outermost item of a list of modules that contains a path; empty if there is none.
func (r *graphReader) itemOf(path string) string {
	for at := 0; at < len(path); {
		end := strings.IndexByte(path[at:], '.')
		if end < 0 {
			end = len(path) - at
		}
		part, parent := path[at:at+end], strings.TrimSuffix(path[:at], ".")
		if part != "" && strings.Trim(part, "0123456789") == "" && parent != "" && r.inner[path[:at+end]] {
			return path[:at+end]
		}
		at += end + 1
	}
	return ""
}

// section is a run of rows of one item of a list, or of no item; alike is the number of consecutive items that look the
// same.
type section struct {
	first, last int
	item, until string
	alike       int
}

// sections divides the rows. An item that looks like the one before is folded into it, together with its rows.
func (r *graphReader) sections() (list []section, at []int) {
	at = make([]int, len(r.rows))
	for k := 0; k < len(r.rows); {
		end := k + 1
		for end < len(r.rows) && r.rows[end].item == r.rows[k].item {
			end++
		}
		s := section{k, end - 1, r.rows[k].item, r.rows[k].item, 1}
		into := k
		if len(list) > 0 && s.item != "" {
			if before := &list[len(list)-1]; before.item != "" && listOf(before.item) == listOf(s.item) &&
				r.looks(*before) == r.looks(s) {
				before.alike++
				before.until, into = s.item, before.first
			}
		}
		if into == k {
			list = append(list, s)
		}
		for j := k; j < end; j++ {
			at[j] = into + j - k
		}
		k = end
	}
	return list, at
}

func listOf(item string) string { return item[:strings.LastIndexByte(item, '.')] }

// looks describes the visible content of a section.
func (r *graphReader) looks(s section) string {
	var b strings.Builder
	for k := s.first; k <= s.last; k++ {
		row := r.rows[k]
		fmt.Fprint(&b, strings.TrimPrefix(row.path, s.item), row.head, row.text, row.shape, row.parameters)
		for _, from := range row.from {
			fmt.Fprint(&b, " ", max(from-s.first, -1))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Sizes in pixels for drawings of graphs.
const (
	graphRowGap = 14
	arcStep     = 12
	arcRoom     = 18 // between a box and the first arc
)

// GraphSVG draws a graph of operators, in execution order. Each module without submodules is one box. In other modules,
// each operator is one box, except operators that only move values, such as a reshape. Arcs next to the boxes show
// edges that skip boxes, and frames enclose the items of lists. Consecutive identical items are drawn once.
func GraphSVG(w io.Writer, g *graph.Graph) error {
	r, err := readRows(g)
	if err != nil {
		return fmt.Errorf("draw %s: %w", g.Name, err)
	}
	sections, at := r.sections()
	c := newCanvas(nil)
	operations, err := g.Operations()
	if err != nil {
		return fmt.Errorf("draw %s: %w", g.Name, err)
	}
	var sum int64
	for _, n := range operations {
		sum += n
	}
	digits, prefix := Short(sum)
	summary := fmt.Sprintf("%s, %s %sFLOP forward per example", parametersText(g.Parameters()), digits, prefix)
	c.text(words{x: margin, y: margin + 16, size: 18, room: narrow, head: g.Name})
	c.text(words{x: margin, y: margin + 38, class: "quiet", size: 11, room: narrow, text: summary})
	p := &graphPainter{canvas: c, rows: r.rows, x: margin + framePad + boxWidth/2, y: margin + 38 + ruleroom + 12,
		tops: map[int]int{}, ends: map[int]int{}}
	p.pill(-1, "input", g.Input.Dims()[1:])
	for _, s := range sections {
		p.section(s)
	}
	last := r.of[g.Output]
	p.pill(len(r.rows), "output", r.shapes[g.Output][min(1, len(r.shapes[g.Output])):])
	width := p.edges(at, last)
	c.width, c.height = p.x+boxWidth/2+framePad+width+margin, p.y-graphRowGap+margin
	description := fmt.Sprintf("From an input of %s in %d boxes: %s.", sizesText(g.Input.Dims()[1:]),
		len(p.tops)-2, summary)
	return c.write(w, g.Name+", a neural network", description)
}

// graphPainter paints from top to bottom.
type graphPainter struct {
	*canvas
	rows       []graphRow
	x, y       int
	tops, ends map[int]int // upper and lower edges of drawn boxes
}

func sizesText(shape []int) string {
	var parts []string
	for _, size := range shape {
		parts = append(parts, fmt.Sprint(size))
	}
	return strings.Join(parts, "×")
}

func (p *graphPainter) place(k, height int) int {
	top := p.y
	p.tops[k], p.ends[k] = top, top+height
	p.y += height + graphRowGap
	return top
}

func (p *graphPainter) pill(k int, word string, shape []int) {
	y := p.place(k, slimBox)
	p.begin(word + ": " + sizesText(shape))
	p.rect(p.x-pillWidth/2, y, pillWidth, slimBox, slimBox/2, "end")
	p.text(words{x: p.x - pillWidth/2 + 14, y: y + 18, size: 11, room: pillWidth - 28, head: word,
		text: sizesText(shape)})
	p.canvas.end()
}

// section paints rows, in a frame if they are an item of a list.
func (p *graphPainter) section(s section) {
	top := p.y
	if s.item != "" {
		p.y += frameTitle
	}
	for k := s.first; k <= s.last; k++ {
		p.row(k, s.item)
	}
	if s.item == "" {
		return
	}
	title := s.item
	if s.alike > 1 {
		title = fmt.Sprintf("%s to %s, %d alike", s.item, s.until[strings.LastIndexByte(s.until, '.')+1:], s.alike)
	}
	p.frame(p.x-boxWidth/2-framePad, top, boxWidth+2*framePad, p.y-graphRowGap+framePad-top, "layer")
	p.text(words{x: p.x - boxWidth/2, y: top + 19, size: 11, room: boxWidth/2 - 12, head: title})
	p.y += framePad
}

func (p *graphPainter) row(k int, item string) {
	row := p.rows[k]
	if row.plus {
		p.plus(p.x, p.place(k, 2*radius)+radius)
		return
	}
	y := p.place(k, slimBox)
	left, right := p.x-boxWidth/2, p.x+boxWidth/2
	p.begin(fmt.Sprintf("%s: %s %s, %s, %d operators", row.path, row.head, row.text, sizesText(row.shape),
		row.operators))
	class := "layer"
	if row.parameters > 0 {
		class = "layer opens"
	}
	p.rect(left, y, boxWidth, slimBox, 6, class)
	text := sizesText(row.shape)
	if row.parameters > 0 {
		text += " · " + parametersText(row.parameters)
	}
	first := words{x: left + 12, y: y + 19, size: 12, head: row.head, text: text, room: boxWidth - 24}
	p.text(first)
	path := strings.TrimPrefix(strings.TrimPrefix(row.path, item), ".")
	p.text(words{x: right - 12, y: y + 18, class: "quiet", size: 11, end: true, front: true,
		room: boxWidth - 36 - first.width(), text: path})
	p.canvas.end()
}

// arc is an edge that passes boxes.
type arc struct{ from, to int }

// edges paints the edges between boxes and returns the width of the arcs next to them. Folded rows have the position of
// the rows that represent them; edges that lead back there are left out.
func (p *graphPainter) edges(at, last []int) (width int) {
	place := func(row int) int {
		if row < 0 {
			return row
		}
		return at[row]
	}
	order := slices.Sorted(maps.Keys(p.tops))
	next := map[int]int{} // the box below
	for k, row := range order[:len(order)-1] {
		next[row] = order[k+1]
	}
	arcs, drawn := map[arc]bool{}, map[arc]bool{}
	connect := func(from, to int) {
		switch {
		case from >= to:
		case next[from] == to && !drawn[arc{from, to}]:
			drawn[arc{from, to}] = true
			p.line(from, to)
		case next[from] == to:
		default:
			arcs[arc{from, to}] = true
		}
	}
	for k, row := range p.rows {
		for _, from := range row.from {
			connect(place(from), at[k])
		}
	}
	for _, from := range last {
		connect(place(from), len(p.rows))
	}
	return p.arcs(slices.SortedFunc(maps.Keys(arcs), func(a, b arc) int {
		return (a.to-a.from)*len(p.rows) + a.from - (b.to-b.from)*len(p.rows) - b.from
	}))
}

func (p *graphPainter) line(from, to int) {
	_, _ = fmt.Fprintf(&p.canvas.edges, `<path class="edge" d="%s" marker-end="url(#arrow)"/>`+"\n",
		straight(p.x, p.ends[from], p.tops[to]))
}

// arcs paints the edges, the shortest ones closest to the boxes, each as close as the earlier ones allow.
func (p *graphPainter) arcs(list []arc) (width int) {
	var lanes [][]arc
	for _, a := range list {
		lane := 0
		for lane < len(lanes) && slices.ContainsFunc(lanes[lane], func(b arc) bool {
			return p.ends[a.from] < p.tops[b.to]+slimBox && p.ends[b.from] < p.tops[a.to]+slimBox
		}) {
			lane++
		}
		if lane == len(lanes) {
			lanes = append(lanes, nil)
		}
		lanes[lane] = append(lanes[lane], a)
		x := p.x + boxWidth/2 + framePad + arcRoom + lane*arcStep
		width = max(width, arcRoom+lane*arcStep+arcStep)
		begin, end := p.side(a.from), p.side(a.to)
		fromY, toY := p.ends[a.from]-slimBox/2+4, p.tops[a.to]+slimBox/2-4
		if p.isPlus(a.to) {
			toY = p.tops[a.to] + radius - 3
		}
		if p.isPlus(a.from) {
			begin, fromY = begin-3, p.ends[a.from]-radius+6
		}
		_, _ = fmt.Fprintf(&p.canvas.edges,
			`<path class="edge" d="M%d %dH%da%d %d 0 0 1 %d %dV%da%d %d 0 0 1 -%d %dH%d" marker-end="url(#arrow)"/>`+
				"\n", begin, fromY, x-bend, bend, bend, bend, bend, toY-bend, bend, bend, bend, bend, end)
	}
	return width
}

func (p *graphPainter) isPlus(k int) bool { return k >= 0 && k < len(p.rows) && p.rows[k].plus }

// side is the right edge of a box.
func (p *graphPainter) side(k int) int {
	switch {
	case k < 0 || k >= len(p.rows):
		return p.x + pillWidth/2
	case p.isPlus(k):
		return p.x + radius
	}
	return p.x + boxWidth/2
}
