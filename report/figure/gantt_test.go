package figure_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/figure"
)

// The size of a figure is bounded for any number of spans, rows and lanes. The figure states what it leaves out.
func TestGanttsAreBounded(t *testing.T) {
	g := gantt(40_000, 70)
	for k := range g.Spans {
		if k%4 == 0 {
			g.Spans[k].Lane += 500
		}
	}
	drawn := string(render(t, g, figure.Options{Width: figure.Wide}))
	require.Less(t, len(drawn), 400_000)
	text := words(g)
	require.Contains(t, text, "are merged into one")
	require.Contains(t, text, "Only the first 64 of 70 rows")
	require.Contains(t, text, "Not drawn:")
	require.Less(t, g.Layout(figure.Wide).Height, 900.0)
	require.NotContains(t, words(gantt(24, 3)), "one box")
}

// Stopped and failed spans are marked, and the legend explains only the marks in use.
func TestEndsOfSpans(t *testing.T) {
	g := gantt(0, 1)
	g.Spans = []figure.Span{{Name: "a", To: 5}}
	require.NotContains(t, words(g), "stopped")
	require.NotContains(t, words(g), "failed")
	g.Spans[0].End = figure.Stopped
	require.Contains(t, words(g), "stopped")
	g.Spans[0].End = figure.Failed
	require.Contains(t, words(g), "failed")
	require.Contains(t, string(render(t, g, figure.Options{})), "<title>a, 0 to 5 s, failed</title>")
	empty := &figure.Gantt{X: figure.Axis{Name: "time", Unit: "s"}}
	require.Empty(t, empty.Layout(figure.Column).Faults())
}

// A name that does not fit its box is shortened to its number, or left out.
func TestNamesFitTheirSpans(t *testing.T) {
	g := &figure.Gantt{X: figure.Axis{Name: "time", Unit: "s"}, Rows: []string{"GPU 0"},
		Spans: []figure.Span{{Name: "task-11", To: 50}, {Name: "task-12", From: 50, To: 55},
			{Name: "task-13", From: 55, To: 56}, {Name: "long", From: 56, To: 57}, {Name: "last", From: 57, To: 100}}}
	text := words(g)
	require.Contains(t, text, "|task-11|12|last|")
	require.NotContains(t, text, "13")
}

// words returns all words of a figure.
func words(f figure.Figure) string {
	var all []string
	for _, l := range f.Layout(figure.Wide / 2).Labels() {
		all = append(all, l.Words)
	}
	return strings.Join(all, "|")
}
