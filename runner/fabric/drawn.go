package fabric

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/fabric"
	"graft/report/figure"
)

// Limits of a step's figure.
const (
	mostRows  = 40 // rows for servers and ways; further servers are not drawn
	mostNamed = 60 // operations of a server that are drawn separately
)

// Colours of a step's figure, by activity.
const (
	goesForward = iota
	goesBackward
	isSent
)

// formatOf returns the format of a figure's file.
func formatOf(path string) (figure.Format, error) {
	format := figure.Format(strings.TrimPrefix(filepath.Ext(path), "."))
	if !slices.Contains(figure.Formats(), format) {
		return "", fmt.Errorf("option \"figure\" is %q; expected a file name that ends in .svg, .png or .pdf", path)
	}
	return format, nil
}

// draw writes the figure of a step: a row per server, and one per pair of servers with transfers, the busiest pairs.
func (n *names) draw(w io.Writer, format figure.Format) error {
	placed := n.line.Placed
	g := &figure.Gantt{Title: fmt.Sprintf("A step of %s at degree %d", n.profile.Model, placed.Parted.Degree),
		X:     figure.Axis{Name: "time", Unit: "ms", High: 1e3 * n.line.Step.Time},
		Kinds: []string{"forward", "backward", "transfer"}}
	ways, hidden := n.ways(mostRows - len(placed.Servers))
	rows := make([][]figure.Span, len(placed.Servers)+len(ways))
	for _, server := range placed.Servers {
		g.Rows = append(g.Rows, "server "+n.network.Name(server))
	}
	for _, way := range ways {
		g.Rows = append(g.Rows, n.network.Name(way[0])+" to "+n.network.Name(way[1]))
	}
	for _, s := range n.line.Spans {
		span := figure.Span{From: 1e3 * s.From, To: 1e3 * s.To, Kind: isSent}
		at := len(placed.Servers) + slices.Index(ways, n.way(s))
		switch {
		case s.Op >= 0:
			at, span.Name, span.Kind = slices.Index(placed.Servers, placed.Server[s.Op]), n.node(s.Op).Kind, goesForward
			if g := n.graph(); g.Backward(&g.Ops[s.Op]) {
				span.Kind = goesBackward
			}
		case at < len(placed.Servers):
			continue // a hidden way
		}
		span.Row = at
		rows[at] = append(rows[at], span)
	}
	for at, row := range rows {
		if at >= len(placed.Servers) || len(row) > mostNamed {
			row = joined(row)
		}
		g.Spans = append(g.Spans, row...)
	}
	if g.Note = "Rows are servers, and links between servers."; hidden > 0 {
		g.Note += fmt.Sprintf(" Shown are the %d busiest of %d links.", len(ways), len(ways)+hidden)
	}
	return figure.Render(w, g, figure.Options{Format: format, Width: figure.Wide})
}

// way returns the pair of servers of a transfer.
func (n *names) way(s fabric.Span) (way [2]int) {
	if s.Dep < 0 {
		return [2]int{-1, -1}
	}
	d := &n.graph().Deps[s.Dep]
	return [2]int{n.line.Placed.Server[d.From], n.line.Placed.Server[d.To]}
}

// joined merges spans of one kind that overlap or touch, up to rounding.
func joined(row []figure.Span) (all []figure.Span) {
	slices.SortStableFunc(row, func(a, b figure.Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range row {
		if last := len(all) - 1; last >= 0 && all[last].Kind == s.Kind && s.From <= all[last].To*(1+1e-9) {
			all[last].To, all[last].Name = max(all[last].To, s.To), ""
			continue
		}
		all = append(all, s)
	}
	return all
}

// ways lists at most `most` pairs of servers with the longest transfers, in the order of the servers, and counts the
// others.
func (n *names) ways(most int) (ways [][2]int, hidden int) {
	times := map[[2]int]float64{}
	for _, s := range n.line.Spans {
		if s.Dep >= 0 {
			times[n.way(s)] += s.To - s.From
		}
	}
	for pair := range times {
		ways = append(ways, pair)
	}
	before := func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	slices.SortFunc(ways, func(a, b [2]int) int { return cmp.Or(cmp.Compare(times[b], times[a]), before(a, b)) })
	hidden = max(0, len(ways)-max(most, 8))
	ways = ways[:len(ways)-hidden]
	slices.SortFunc(ways, before)
	return ways, hidden
}
